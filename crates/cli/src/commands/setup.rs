//! `toolsmith setup`: adds `toolsmith serve` to the configurations of MCP clients, and removes it again.
//!
//! `found` changes all clients at once. `servers` reports which servers the entry has. `check` starts an entry and
//! reports what the client's model sees. The crate `clients` knows the clients and changes their files.

mod check;
mod consent;
mod found;
mod removal;
mod servers;

use std::path::Path;

use clients::file::report_backup;
use clients::{Client, ClientFile, ClientScope, Entry, Place, State, place};
use config::{ConfigLayer, layers};
use gateway::exit_code;
use gateway::failure::Failure;
use report::problems;
use terminal::{Terminal, say_note};

pub(crate) use check::{Checked, check_installed};
pub(crate) use consent::ask_to_change;
use found::{Written, report_left_out};

use crate::arguments::SetupArguments;

/// Writes, prints or removes the entry and returns the exit code.
pub(crate) async fn setup(arguments: &SetupArguments) -> Result<u8, Failure> {
    if arguments.remove {
        return removal::remove(arguments).await;
    }
    if arguments.check {
        return check::check(arguments).await;
    }
    if arguments.move_servers {
        servers::check_movable(arguments)?;
    }
    let named = arguments.config.as_deref().map(configuration).transpose()?;
    let config = named.as_ref().and_then(ConfigLayer::file);
    if arguments.print {
        return print(arguments, config).await;
    }
    let Written { changed, unchanged } = if arguments.clients.is_empty() {
        found::write(arguments, config).await?
    } else {
        let mut written = Written::default();
        for client in &arguments.clients {
            let is_changed = write_named(arguments, *client, config).await?;
            if is_changed { &mut written.changed } else { &mut written.unchanged }.push(*client);
        }
        written
    };
    servers::offer_to_move(arguments, !changed.is_empty()).await?;
    if !arguments.trust.is_empty() {
        consent::trust(&arguments.trust)?;
    } else if !changed.is_empty() {
        consent::ask_for_trust(arguments).await?;
    }
    if let (false, Some(layer)) = (changed.is_empty(), &named) {
        consent::report_untrusted(layer)?;
    }
    let clients = [changed, unchanged].concat();
    servers::report_servers(arguments, &clients);
    check::report(arguments, &clients).await;
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

/// The entry for a client that the user has named.
async fn named_entry(
    arguments: &SetupArguments,
    client: Client,
    config: Option<&Path>,
) -> Result<Entry, Failure> {
    let entry = Entry::new(client, &arguments.name, config).await?;
    let mut entry = entry.in_container(arguments.container().as_ref(), config)?;
    let word = client.word();
    let refused = |option: &str, what: &str| {
        Err(Failure::command_line(format!("the entry for {word} has no setting to {what}"))
            .hint(format!("leave out {option}; docs/clients.md describes how to configure {word}")))
    };
    if arguments.approve && !entry.is_approvable() {
        return refused("--approve", "call tools without asking");
    }
    if arguments.required && !entry.is_requirable() {
        return refused("--required", "require the server");
    }
    entry.is_approved = arguments.approve;
    entry.is_required = arguments.required;
    Ok(entry)
}

async fn print(arguments: &SetupArguments, config: Option<&Path>) -> Result<u8, Failure> {
    let found = if arguments.clients.is_empty() { found::installed()? } else { arguments.clients.clone() };
    for client in found {
        let entry = named_entry(arguments, client, config).await?;
        let terminal = Terminal::new(false, false);
        terminal.print(entry.text()?.trim_end());
        terminal.flush().await.map_err(Failure::output)?;
        report(&format!("add it to {}", place::described(client, arguments.scope)));
    }
    Ok(exit_code::OK)
}

/// Writes the entry of one client, or what it lacks. Returns whether the file was changed.
async fn write_named(
    arguments: &SetupArguments,
    client: Client,
    config: Option<&Path>,
) -> Result<bool, Failure> {
    let mut entry = named_entry(arguments, client, config).await?;
    let place = Place::of(client, arguments.scope)?;
    let mut file = ClientFile::open(client, &place)?;
    let (name, shown) = (&arguments.name, place.file.display());
    match file.state(name, &entry)? {
        State::Same => {
            report(&format!("{shown} already has {name}, and is unchanged"));
            report_left_out(arguments, client, &file, &entry)?;
            return Ok(false);
        }
        State::Incomplete(keys) => {
            file.complete(name, &entry)?;
            let backup = file.save()?;
            report(&format!("added {} to {name} in {shown}", keys.join(", ")));
            if entry.is_approved {
                report(&format!("{name} in {shown} is now called without asking"));
            }
            report_left_out(arguments, client, &file, &entry)?;
            report_backup(backup.as_deref());
            return Ok(true);
        }
        State::Other(other) if !arguments.force => {
            return Err(different(name, &shown.to_string(), &other, &entry));
        }
        State::Other(_) | State::Missing => {}
    }
    consent::ask_for_approval(arguments, client, &mut entry).await;
    file.put(name, &entry)?;
    let backup = file.save()?;
    report(&format!("added {name} to {shown}: {}", entry.line()));
    report_left_out(arguments, client, &file, &entry)?;
    report_backup(backup.as_deref());
    if arguments.scope == ClientScope::Project {
        report("its paths are valid only on this machine: check them before you share the file");
    }
    Ok(true)
}

/// The refusal to replace a different entry.
fn different(name: &str, file: &str, other: &str, entry: &Entry) -> Failure {
    let message = format!(
        "{file} already has a different {name}, and is unchanged\n  current entry: {other}\n  new entry: {}",
        entry.line()
    );
    Failure::command_line(message).hint("replace it: --force").hint("use another name: --name NAME")
}

fn report(text: &str) {
    say_note(format_args!("toolsmith: {text}\n"));
}
