//! `toolsmith setup`: the entry for `toolsmith serve` in the configurations of MCP clients.
//!
//! What the entry looks like is `entry`'s job, where it belongs `place`'s, how a file is changed
//! safely `file`'s.

mod entry;
mod file;
mod place;

use std::path::Path;

use config::{ConfigLayer, layers};
use gateway::exit_code;
use gateway::failure::Failure;
use serde_json::{Map, Value as Json};
use terminal::{Terminal, say};

use crate::arguments::{Client, ClientScope, SetupArguments};
use crate::commands::mcp::edit::trusting::{self, asks};
use crate::terminal_prompter;
use entry::Entry;
use file::{ClientFile, State};
use place::Place;

/// Writes or prints the entry; gives the exit code.
pub(crate) async fn setup(arguments: &SetupArguments) -> Result<u8, Failure> {
    let named = arguments.config.as_deref().map(configuration).transpose()?;
    let config = named.as_ref().and_then(|layer| layer.file());
    let mut entry = Entry::new(arguments.client, config).map_err(Failure::configuration)?;
    if arguments.approve && entry.approvable().is_none() {
        let client = place::word(arguments.client);
        return Err(Failure::configuration(format!(
            "the entry for {client} can't say that it calls without asking\nhelp: leave out --approve; docs/clients.md says \
             how to configure {client}"
        )));
    }
    entry.is_approved = arguments.approve;
    if arguments.print {
        let terminal = Terminal::new(false, false);
        terminal.print(entry.text(&arguments.name).trim_end());
        terminal.flush().await.map_err(Failure::host)?;
        tell(&format!("it belongs into {}", place::described(arguments.client, arguments.scope)));
        return Ok(exit_code::OK);
    }
    let place = Place::of(arguments.client, arguments.scope).map_err(Failure::configuration)?;
    let changed = write(arguments, &mut entry, &place).await?;
    if !arguments.trust.is_empty() {
        trust(&arguments.trust)?;
    } else if changed {
        ask_for_trust(arguments).await?;
    }
    if changed && let Some(layer) = &named {
        tell_of_others(layer)?;
    }
    Ok(exit_code::OK)
}

/// The configuration that is recorded, once it is known that it can be read.
fn configuration(file: &Path) -> Result<ConfigLayer, Failure> {
    let layer = std::path::absolute(file).map(ConfigLayer::Named).map_err(Failure::configuration)?;
    for problem in layers::alone(&layer).map_err(Failure::configuration)?.problems() {
        tell(&format!("warning: {problem}"));
    }
    Ok(layer)
}

/// Writes the entry where it is not there yet. Gives whether it was not.
async fn write(arguments: &SetupArguments, entry: &mut Entry, place: &Place) -> Result<bool, Failure> {
    let mut file = ClientFile::open(place).map_err(Failure::configuration)?;
    let (name, shown) = (&arguments.name, place.file.display());
    match file.state(name, entry).map_err(Failure::configuration)? {
        State::Same => {
            tell(&format!("{shown} has {name} already, and is as it was"));
            return Ok(false);
        }
        State::Unapproved => {
            file.approve(name, entry).map_err(Failure::configuration)?;
            let backup = file.save().map_err(Failure::configuration)?;
            tell(&format!("{name} in {shown} is called without asking from now on"));
            tell_of_backup(backup.as_deref());
            return Ok(false);
        }
        State::Other(other) if !arguments.force => {
            return Err(Failure::configuration(format!(
                "{shown} has another {name} already, and is as it was\n  it says: {other}\n  \
                 it would say: {}\nhelp: replace it: --force\nhelp: use another name: --name NAME",
                entry.line()
            )));
        }
        State::Other(_) | State::Missing => {}
    }
    ask_for_approval(arguments, entry).await;
    file.put(name, entry).map_err(Failure::configuration)?;
    let backup = file.save().map_err(Failure::configuration)?;
    tell(&format!("added {name} to {shown}: {}", entry.line()));
    tell_of_backup(backup.as_deref());
    if arguments.scope == ClientScope::Project {
        tell("the paths in it are those of this machine: mind that before you share it");
    }
    Ok(true)
}

fn tell_of_backup(backup: Option<&Path>) {
    if let Some(backup) = backup {
        tell(&format!("what it said before is in {}", backup.display()));
    }
}

/// Asks whether the client may call without asking, of clients whose entry can say so.
async fn ask_for_approval(arguments: &SetupArguments, entry: &mut Entry) {
    let refuses = match arguments.client {
        Client::Codex => "codex asks before each call of a tool, and `codex exec` refuses it",
        Client::Gemini => {
            "gemini asks before each call of a tool, and does not offer it where it can't ask (`gemini -p`)"
        }
        _ => return,
    };
    if entry.is_approved {
        return;
    }
    let client = place::word(arguments.client);
    if let Some(person) = terminal_prompter::of_command() {
        tell(&format!("{refuses}; what snippets may call, toolsmith decides by itself"));
        let asked = format!("May {client} call the tools of {} without asking each time?", arguments.name);
        entry.is_approved = person.confirm(&asked).await;
    } else {
        tell(&format!("{refuses}\nhelp: to let it call without asking: toolsmith setup {client} --approve"));
    }
}

/// Asks which servers of the user's own configuration may be called without asking each time.
async fn ask_for_trust(arguments: &SetupArguments) -> Result<(), Failure> {
    let servers = trusting::untrusted()?;
    if servers.is_empty() {
        return Ok(());
    }
    let Some(person) = terminal_prompter::of_command() else {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let again = if arguments.scope == ClientScope::Project { " --scope project" } else { "" };
        let client = place::word(arguments.client);
        tell(&format!(
            "there is no terminal to ask which servers to trust: you are asked before tools of {} are called\n\
             help: to trust one: toolsmith setup {client}{again} --trust {}",
            names.join(", "),
            names.first().copied().unwrap_or_default()
        ));
        return Ok(());
    };
    let mut names = Vec::new();
    for server in servers {
        tell(&server.does);
        if person.confirm("May its tools be called without asking each time?").await {
            names.push(server.name);
        }
    }
    if names.is_empty() { Ok(()) } else { trust(&names) }
}

fn trust(names: &[String]) -> Result<(), Failure> {
    let file = trusting::trust(names)?;
    tell(&format!("tools of {} may be called without asking, says {}", names.join(", "), file.display()));
    Ok(())
}

/// Tells of servers that are asked about and stand in a file that is not the user's own, which is not changed.
fn tell_of_others(layer: &ConfigLayer) -> Result<(), Failure> {
    let layers = layers::alone(layer).map_err(Failure::configuration)?;
    let trees = layers.documents.iter().map(|document| document.tree.to_json());
    let servers: Map<String, Json> =
        trees.filter_map(|tree| tree.get("mcpServers")?.as_object().cloned()).flatten().collect();
    let asked = servers.iter().filter(|(_, entry)| entry.as_object().is_some_and(asks));
    let mut names: Vec<_> = asked.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let (false, Some(file)) = (names.is_empty(), layer.file()) {
        tell(&format!(
            "you are asked before tools of {} are called: to trust a server, write `trust: true` into its entry in {}",
            names.join(", "),
            file.display()
        ));
    }
    Ok(())
}

fn tell(text: &str) {
    say(format_args!("toolsmith: {text}\n"));
}
