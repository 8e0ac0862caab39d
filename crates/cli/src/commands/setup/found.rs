//! `toolsmith setup` without a client: finds the installed clients, shows what would change, and changes all files
//! after one question.

use std::path::Path;

use clap::ValueEnum as _;
use clients::file::report_backup;
use clients::place::is_installed;
use clients::{Client, ClientFile, ClientScope, Entry, Place, State};
use gateway::failure::Failure;
use serde_json::Value as Json;
use terminal::{say, say_note};

use super::check::{command, command_of};
use super::consent::{ask_to_change, report_approval};
use crate::arguments::SetupArguments;

/// A change of a client's file.
struct Planned {
    client: Client,
    entry: Entry,
    file: ClientFile,
    /// Whether the client has an entry that lacks keys.
    is_completed: bool,
}

/// The clients that have the entry now.
#[derive(Default)]
pub(super) struct Written {
    /// Clients whose files were changed.
    pub(super) changed: Vec<Client>,
    /// Clients that already had the whole entry.
    pub(super) unchanged: Vec<Client>,
}

/// The state of a client's file before the change.
enum Plan {
    Change(Box<Planned>),
    /// The client has the whole entry.
    Same,
    /// The file is not for this entry, and stays.
    Other,
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

/// Adds the entry to all installed clients that lack it.
pub(super) async fn write(arguments: &SetupArguments, config: Option<&Path>) -> Result<Written, Failure> {
    let mut written = Written::default();
    let mut planned = Vec::new();
    for client in installed()? {
        // A client with an unreadable file must not prevent the others from being set up.
        match plan(arguments, client, config).await {
            Ok(Plan::Change(plan)) => planned.push(*plan),
            Ok(Plan::Same) => written.unchanged.push(client),
            Ok(Plan::Other) => {}
            Err(failure) => say(format_args!(
                "toolsmith: {} is left out: {}\n",
                client.word(),
                failure.report.for_terminal()
            )),
        }
    }
    if planned.is_empty() {
        say(format_args!("toolsmith: nothing to change\n"));
        return Ok(written);
    }
    let files = if planned.len() == 1 { "this file" } else { "these files" };
    ask_to_change(arguments.yes, &format!("Change {files}?"), "toolsmith setup").await?;
    for Planned { client, entry, file, is_completed } in &planned {
        let backup = file.save()?;
        let (done, to) = if *is_completed { ("completed", "in") } else { ("added", "to") };
        say(format_args!("toolsmith: {done} {} {to} {}\n", arguments.name, file.path.display()));
        report_left_out(arguments, *client, file, entry)?;
        report_backup(backup.as_deref());
        report_approval(arguments, *client, entry);
    }
    say(format_args!(
        "toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove\n"
    ));
    written.changed = planned.iter().map(|planned| planned.client).collect();
    Ok(written)
}

/// Reports the keys that a client does not get, because its version may refuse them.
pub(super) fn report_left_out(
    arguments: &SetupArguments,
    client: Client,
    file: &ClientFile,
    entry: &Entry,
) -> Result<(), Failure> {
    let command = command_of(arguments, client);
    let reasons = file.left_out(&arguments.name, entry, &command)?;
    reasons.iter().for_each(|reason| say_note(format_args!("toolsmith: {reason}\n")));
    Ok(())
}

/// Prepares the change of a client's file and shows it.
async fn plan(arguments: &SetupArguments, client: Client, config: Option<&Path>) -> Result<Plan, Failure> {
    if arguments.scope == ClientScope::Project && client.profile().project.is_empty() {
        return Ok(Plan::Other);
    }
    let entry = Entry::new(client, &arguments.name, config).await?;
    let mut entry = entry.in_container(arguments.container().as_ref(), config)?;
    entry.is_approved = arguments.approve && entry.is_approvable();
    entry.is_required = arguments.required && entry.is_requirable();
    let mut file = ClientFile::open(client, &Place::of(client, arguments.scope)?)?;
    let (name, shown, word) = (&arguments.name, file.path.display().to_string(), client.word());
    let state = file.state(name, &entry)?;
    let is_completed = matches!(state, State::Incomplete(_));
    // The members that are added to the file's entry.
    let added = match state {
        State::Same => {
            say(format_args!("{word}: {shown} already has {name}\n"));
            report_left_out(arguments, client, &file, &entry)?;
            return Ok(Plan::Same);
        }
        State::Other(other) if !arguments.force => {
            let command = command(client, name, arguments.scope);
            say(format_args!(
                "{word}: {shown} has a different {name}, which stays: {other}\n  to replace it: {command} --force\n"
            ));
            return Ok(Plan::Other);
        }
        State::Incomplete(_) => {
            let added =
                file.entries()?.get(name).map(|other| file.missing(&entry, other)).unwrap_or_default();
            file.complete(name, &entry)?;
            added.into_iter().collect()
        }
        State::Other(_) | State::Missing => {
            file.put(name, &entry)?;
            file.value(&entry)
        }
    };
    let is_new = if file.before.is_none() { " (new file)" } else { "" };
    let mut lines = if added.is_empty() { Vec::new() } else { file.lines('+', name, &Json::Object(added)) };
    lines.extend(file.namespace_lines()?);
    let lines = lines.join("\n");
    say(format_args!("{word}: {shown}{is_new}, in {}\n{lines}\n", file.section()));
    Ok(Plan::Change(Box::new(Planned { client, entry, file, is_completed })))
}
