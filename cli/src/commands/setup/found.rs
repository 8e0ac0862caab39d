//! `toolsmith setup` without a client: finds the installed clients, shows what would change, and changes all files after
//! one question.

use std::path::Path;

use clap::ValueEnum as _;
use gateway::failure::Failure;
use serde_json::Value as Json;
use terminal::say;

use super::consent::{ask_to_change, report_approval};
use super::entry::Entry;
use super::file::{ClientFile, State, report_backup};
use super::place::{Place, is_installed};
use crate::arguments::{Client, ClientScope, SetupArguments};

/// What happens to the file of a client.
struct Planned {
    client: Client,
    entry: Entry,
    file: ClientFile,
}

/// The clients that are installed on this machine.
///
/// # Errors
/// If there are none.
pub(super) fn installed() -> Result<Vec<Client>, Failure> {
    let all = Client::value_variants();
    let found: Vec<_> = all.iter().copied().filter(|client| is_installed(*client)).collect();
    if found.is_empty() {
        let names: Vec<_> = all.iter().map(|client| client.word()).collect();
        return Err(Failure::command_line(format!(
            "no MCP client is found on this machine; Toolsmith knows {}",
            names.join(", ")
        ))
        .hint("to set up one before it is installed: toolsmith setup CLIENT")
        .hint("for another client, adapt an entry: toolsmith setup claude-desktop --print"));
    }
    Ok(found)
}

/// Adds the entry to all installed clients that lack it. Returns the clients whose files were changed.
pub(super) async fn write(arguments: &SetupArguments, config: Option<&Path>) -> Result<Vec<Client>, Failure> {
    let mut planned = Vec::new();
    for client in installed()? {
        // A client with an unreadable file must not prevent the others from being set up.
        match plan(arguments, client, config).await {
            Ok(plan) => planned.extend(plan),
            Err(failure) => say(format_args!(
                "toolsmith: {} is left out: {}\n",
                client.word(),
                failure.report.for_terminal()
            )),
        }
    }
    if planned.is_empty() {
        say(format_args!("toolsmith: nothing to change\n"));
        return Ok(Vec::new());
    }
    let files = if planned.len() == 1 { "this file" } else { "these files" };
    ask_to_change(arguments.yes, &format!("Change {files}?"), "toolsmith setup").await?;
    for Planned { client, entry, file } in &planned {
        let backup = file.save()?;
        say(format_args!("toolsmith: added {} to {}\n", arguments.name, file.path.display()));
        entry.left_out().iter().for_each(|reason| say(format_args!("toolsmith: {reason}\n")));
        report_backup(backup.as_deref());
        report_approval(*client, entry);
    }
    say(format_args!(
        "toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove\n"
    ));
    Ok(planned.iter().map(|planned| planned.client).collect())
}

/// Prepares the change of a client's file and shows it. `None` if there is nothing to change.
async fn plan(
    arguments: &SetupArguments,
    client: Client,
    config: Option<&Path>,
) -> Result<Option<Planned>, Failure> {
    if arguments.scope == ClientScope::Project && client.profile().project.is_empty() {
        return Ok(None);
    }
    let mut entry = Entry::wanted(arguments, client, config).await?;
    entry.is_approved = arguments.approve && entry.is_approvable();
    entry.is_required = arguments.required && entry.is_requirable();
    let mut file = ClientFile::open(client, &Place::of(client, arguments.scope)?)?;
    let (name, shown, word) = (&arguments.name, file.path.display().to_string(), client.word());
    match file.state(name, &entry)? {
        State::Same => {
            say(format_args!("{word}: {shown} already has {name}\n"));
            return Ok(None);
        }
        State::Other(other) if !arguments.force => {
            say(format_args!(
                "{word}: {shown} has a different {name}, which stays: {other}\n  to replace it: toolsmith setup \
                 {word} --force\n"
            ));
            return Ok(None);
        }
        State::Incomplete(_) => file.complete(name, &entry)?,
        State::Other(_) | State::Missing => file.put(name, &entry)?,
    }
    let is_new = if file.before.is_none() { " (new file)" } else { "" };
    let mut lines = file.lines('+', name, &Json::Object(entry.value()));
    lines.extend(file.namespace_lines()?);
    let lines = lines.join("\n");
    say(format_args!("{word}: {shown}{is_new}, in {}\n{lines}\n", file.section()));
    Ok(Some(Planned { client, entry, file }))
}
