//! `toolsmith setup --remove`: removes Toolsmith's entry from clients, and nothing else.

use clap::ValueEnum as _;
use clients::file::report_backup;
use clients::import::is_toolsmith;
use clients::{Client, ClientFile, Place};
use gateway::exit_code;
use gateway::failure::Failure;
use terminal::say;

use super::consent::ask_to_change;
use crate::arguments::SetupArguments;

/// Removes the entry from the named clients, or from all that have it, and returns the exit code.
pub(super) async fn remove(arguments: &SetupArguments) -> Result<u8, Failure> {
    let mut changed = Vec::new();
    if arguments.clients.is_empty() {
        for client in Client::value_variants() {
            match without_entry(arguments, *client) {
                Ok(file) => changed.extend(file),
                Err(failure) => say(format_args!(
                    "toolsmith: {} is left out: {}\n",
                    client.word(),
                    failure.report.for_terminal()
                )),
            }
        }
    } else {
        for client in &arguments.clients {
            let file = without_entry(arguments, *client)?.ok_or_else(|| {
                Failure::command_line(format!("{} has no entry {}", client.word(), arguments.name))
                    .hint("to name another entry: --name NAME")
            })?;
            changed.push(file);
        }
    }
    if changed.is_empty() {
        say(format_args!("toolsmith: no client has an entry {}; nothing is changed\n", arguments.name));
        return Ok(exit_code::OK);
    }
    let yes = arguments.yes || !arguments.clients.is_empty();
    ask_to_change(yes, "Remove it?", "toolsmith setup --remove").await?;
    for file in &changed {
        let backup = file.save()?;
        let how = if file.is_undone() { ", which is as it was before, byte by byte" } else { "" };
        say(format_args!("toolsmith: removed {} from {}{how}\n", arguments.name, file.path.display()));
        report_backup(backup.as_deref());
    }
    Ok(exit_code::OK)
}

/// The client's file without the entry, after showing the change. `None` if it has no such entry.
fn without_entry(arguments: &SetupArguments, client: Client) -> Result<Option<ClientFile>, Failure> {
    let is_known = arguments.clients.contains(&client);
    let place = match Place::of(client, arguments.scope) {
        Ok(place) => place,
        // The client has no file of this scope.
        Err(_) if !is_known => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut file = ClientFile::open(client, &place)?;
    let Some(entry) = file.entries()?.remove(&arguments.name) else { return Ok(None) };
    if !is_toolsmith(&entry) {
        let (name, path) = (&arguments.name, file.path.display());
        return Err(Failure::command_line(format!(
            "{path} is unchanged: its {name} does not start `toolsmith serve`"
        ))
        .hint("to name another entry: --name NAME"));
    }
    file.undo(&arguments.name)?;
    let mut lines = file.lines('-', &arguments.name, &entry);
    lines.extend(file.namespace_lines()?);
    let lines = lines.join("\n");
    say(format_args!("{}: {}, in {}\n{lines}\n", client.word(), file.path.display(), file.section()));
    Ok(Some(file))
}
