//! `toolsmith setup`: adds `toolsmith serve` to the configurations of MCP clients.
//!
//! `entry` builds the entry, `place` finds the file, and `file` changes it safely.

mod entry;
mod file;
mod place;

use std::path::Path;

use config::{ConfigLayer, layers};
use gateway::exit_code;
use gateway::failure::Failure;
use report::{Kind, Report, problems};
use serde_json::{Map, Value as Json};
use terminal::{Terminal, say_note};

use crate::arguments::{Client, ClientScope, SetupArguments};
use crate::commands::mcp::edit::trusting::{self, asks};
use crate::terminal_prompter;
use entry::Entry;
use file::{ClientFile, State};
use place::Place;

/// Writes or prints the entry and returns the exit code.
pub(crate) async fn setup(arguments: &SetupArguments) -> Result<u8, Failure> {
    let named = arguments.config.as_deref().map(configuration).transpose()?;
    let config = named.as_ref().and_then(|layer| layer.file());
    let mut entry = Entry::new(arguments.client, config)?;
    if arguments.approve && entry.approvable().is_none() {
        let client = place::word(arguments.client);
        let message = format!("the entry for {client} has no setting to call tools without asking");
        let hint = format!("leave out --approve; docs/clients.md describes how to configure {client}");
        return Err(Failure::command_line(message).hint(hint));
    }
    entry.is_approved = arguments.approve;
    if arguments.print {
        let terminal = Terminal::new(false, false);
        terminal.print(entry.text(&arguments.name).trim_end());
        terminal.flush().await.map_err(Failure::output)?;
        report(&format!("add it to {}", place::described(arguments.client, arguments.scope)));
        return Ok(exit_code::OK);
    }
    let place = Place::of(arguments.client, arguments.scope)?;
    let changed = write(arguments, &mut entry, &place).await?;
    if !arguments.trust.is_empty() {
        trust(&arguments.trust)?;
    } else if changed {
        ask_for_trust(arguments).await?;
    }
    if changed && let Some(layer) = &named {
        report_untrusted(layer)?;
    }
    Ok(exit_code::OK)
}

/// Checks that the configuration can be read, and prints its problems as warnings.
fn configuration(file: &Path) -> Result<ConfigLayer, Failure> {
    let layer = std::path::absolute(file)
        .map(ConfigLayer::Named)
        .map_err(|error| Failure::command_line(error.to_string()).caused_by(error))?;
    for problem in layers::alone(&layer)?.problems() {
        report(&format!("warning: {}", problems(&[problem])));
    }
    Ok(layer)
}

/// Writes the entry if it is missing. Returns whether it was added or replaced.
async fn write(arguments: &SetupArguments, entry: &mut Entry, place: &Place) -> Result<bool, Failure> {
    let mut file = ClientFile::open(place)?;
    let (name, shown) = (&arguments.name, place.file.display());
    match file.state(name, entry)? {
        State::Same => {
            report(&format!("{shown} already has {name}, and is unchanged"));
            return Ok(false);
        }
        State::Unapproved => {
            file.approve(name, entry)?;
            let backup = file.save()?;
            report(&format!("{name} in {shown} is now called without asking"));
            report_backup(backup.as_deref());
            return Ok(false);
        }
        State::Other(other) if !arguments.force => {
            return Err(Failure::command_line(format!(
                "{shown} already has a different {name}, and is unchanged\n  current entry: {other}\n  \
                 new entry: {}",
                entry.line()
            ))
            .hint("replace it: --force")
            .hint("use another name: --name NAME"));
        }
        State::Other(_) | State::Missing => {}
    }
    ask_for_approval(arguments, entry).await;
    file.put(name, entry)?;
    let backup = file.save()?;
    report(&format!("added {name} to {shown}: {}", entry.line()));
    report_backup(backup.as_deref());
    if arguments.scope == ClientScope::Project {
        report("its paths are valid only on this machine: check them before you share the file");
    }
    Ok(true)
}

fn report_backup(backup: Option<&Path>) {
    if let Some(backup) = backup {
        report(&format!("the previous text is in {}", backup.display()));
    }
}

/// Asks whether the client may call tools without asking, if its entry has a setting for that.
async fn ask_for_approval(arguments: &SetupArguments, entry: &mut Entry) {
    let default = match arguments.client {
        Client::Codex => "codex asks before each tool call, and `codex exec` denies it",
        Client::Gemini => {
            "gemini asks before each tool call, and leaves tools out if it can't ask (`gemini -p`)"
        }
        _ => return,
    };
    if entry.is_approved {
        return;
    }
    let client = place::word(arguments.client);
    if let Some(user) = terminal_prompter::of_command() {
        report(&format!("{default}; Toolsmith's own permissions still apply to the calls of snippets"));
        let question = format!("Allow {client} to call the tools of {} without asking?", arguments.name);
        entry.is_approved = user.confirm(&question).await;
    } else {
        let note = Report::new(Kind::Denied, default)
            .hint(format!("to allow its calls without asking: toolsmith setup {client} --approve"));
        report(&note.for_terminal());
    }
}

/// Asks which servers of the user's own configuration to trust.
async fn ask_for_trust(arguments: &SetupArguments) -> Result<(), Failure> {
    let servers = trusting::untrusted()?;
    if servers.is_empty() {
        return Ok(());
    }
    let Some(user) = terminal_prompter::of_command() else {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let again = if arguments.scope == ClientScope::Project { " --scope project" } else { "" };
        let client = place::word(arguments.client);
        let message = format!(
            "there is no terminal to ask which servers to trust, so calls to tools of {} need your permission",
            names.join(", ")
        );
        let first = names.first().copied().unwrap_or_default();
        let note = Report::new(Kind::Trust, message)
            .hint(format!("to trust one: toolsmith setup {client}{again} --trust {first}"));
        report(&note.for_terminal());
        return Ok(());
    };
    let mut names = Vec::new();
    for server in servers {
        report(&server.description);
        if user.confirm("Allow calls to its tools without asking?").await {
            names.push(server.name);
        }
    }
    if names.is_empty() { Ok(()) } else { trust(&names) }
}

fn trust(names: &[String]) -> Result<(), Failure> {
    let file = trusting::trust(names)?;
    report(&format!(
        "calls to tools of {} are now allowed without asking, in {}",
        names.join(", "),
        file.display()
    ));
    Ok(())
}

/// Reports the servers of the named configuration whose calls need permission. That file is not changed.
fn report_untrusted(layer: &ConfigLayer) -> Result<(), Failure> {
    let layers = layers::alone(layer)?;
    let trees = layers.documents.iter().map(|document| document.tree.to_json());
    let servers: Map<String, Json> =
        trees.filter_map(|tree| tree.get("mcpServers")?.as_object().cloned()).flatten().collect();
    let untrusted = servers.iter().filter(|(_, entry)| entry.as_object().is_some_and(asks));
    let mut names: Vec<_> = untrusted.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let (false, Some(file)) = (names.is_empty(), layer.file()) {
        report(&format!(
            "calls to tools of {} need your permission: to trust a server, add `trust: true` to its entry in {}",
            names.join(", "),
            file.display()
        ));
    }
    Ok(())
}

fn report(text: &str) {
    say_note(format_args!("toolsmith: {text}\n"));
}
