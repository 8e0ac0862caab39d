//! `toolsmith adopt`: moves the servers of a client into Toolsmith's configuration, and puts Toolsmith in their place.
//!
//! `selection` decides which servers are moved, `hiding` where their secrets go, `clients::adopted` keeps what is needed
//! to put everything back, and `undo` does that.

mod hiding;
mod selection;
mod undo;

use clients::adopted::{Adoption, Changed, Moved, Record};
use clients::edit::{Change, Editable, Entry as ServerEntry, Scope};
use clients::file::report_backup;
use clients::import::{self, is_toolsmith};
use clients::{ClientFile, ClientScope, Entry, Place, State, plain_secrets};
use config::Error;
use gateway::exit_code;
use gateway::failure::Failure;
use serde_json::Value as Json;
use terminal::say;

use super::mcp::edit::{access, confinement, describe, is_foreign_program, of_rights, save};
use super::setup::ask_to_change;
use crate::arguments::AdoptArguments;
use selection::Chosen;

/// Maximum size of a client's file, in bytes (4 MiB): it is read and written again for each server.
const FILE_LIMIT: usize = 4 << 20;

/// Moves the servers, or puts them back, and returns the exit code.
pub(crate) async fn adopt(arguments: &AdoptArguments) -> Result<u8, Failure> {
    let place = Place::of(arguments.client, client_scope(arguments.scope))?;
    let client = arguments.client.word();
    let mut record = Record::open(&client, &place.file)?;
    let file = ClientFile::open(arguments.client, &place)?;
    check_size(&file)?;
    if arguments.undo {
        undo::undo(arguments, &command(arguments, "--undo"), &mut record, file).await
    } else {
        take_over(arguments, &mut record, file).await
    }
}

/// Refuses a file whose changes would take very long.
fn check_size(file: &ClientFile) -> Result<(), Failure> {
    let bytes = file.before.as_ref().map_or(0, String::len);
    if bytes <= FILE_LIMIT {
        return Ok(());
    }
    let path = file.path.display();
    let message = format!("{path} has {bytes} bytes; adopt changes files of up to {FILE_LIMIT} bytes");
    Err(Failure::command_line(message)
        .hint("add its servers with `toolsmith mcp add`, and remove them from the file in an editor"))
}

/// The client's scope that belongs to a scope of Toolsmith's configuration.
fn client_scope(scope: Scope) -> ClientScope {
    match scope {
        Scope::User => ClientScope::User,
        Scope::Project => ClientScope::Project,
    }
}

async fn take_over(
    arguments: &AdoptArguments,
    record: &mut Record,
    mut file: ClientFile,
) -> Result<u8, Failure> {
    let word = arguments.client.word();
    if record.adoptions.last().is_some_and(|last| last.client.is_as_before(file.before.as_deref())) {
        let message = format!("an earlier adopt of {word} was interrupted; nothing is changed");
        return Err(
            Failure::command_line(message).hint(format!("undo it first: {}", command(arguments, "--undo")))
        );
    }
    file.must_exist()?;
    let entries = file.entries()?;
    let imported = import::of_client(arguments.client, &file.path, &file.content()?, &entries)?;
    let mut config = Editable::open(arguments.scope)?;
    imported.notes.iter().for_each(|note| report(&printable::prose(note)));
    let given = imported.given;
    let mut chosen = selection::choose(arguments, imported.servers, &config).await?;
    let hidden = hiding::hide(arguments, &mut chosen).await?;
    add_access(arguments, &mut chosen).await;
    let moved = put_into(&mut config, chosen, &given, &entries)?;
    if moved.is_empty() {
        return Err(Failure::command_line(format!("{word} has no server to adopt; nothing is changed")));
    }
    moved.iter().try_for_each(|moved| file.set(&moved.given, None))?;
    let added = put_toolsmith(arguments, &mut file).await?;
    show(&file, &config, &moved, added.as_ref())?;
    ask_to_change(arguments.yes, "Change these files?", &command(arguments, "")).await?;
    hidden.store().await?;
    let programs: Vec<String> =
        moved.iter().filter(|moved| !moved.is_there).filter_map(foreign_program).collect();
    write(record, &file, &config, moved, added.map(|(name, _)| name))?;
    hidden.report();
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    of_rights(&programs, arguments.access.sandbox).iter().for_each(|note| report(note));
    report(&format!("to put everything back: {}", command(arguments, "--undo")));
    Ok(exit_code::OK)
}

/// Adds the permission to the entries that are new.
async fn add_access(arguments: &AdoptArguments, chosen: &mut [Chosen]) {
    let new = chosen.iter().filter(|chosen| !chosen.is_there);
    // Arguments and addresses may still have secrets.
    let shown: Vec<(String, ServerEntry)> = new
        .map(|chosen| {
            let mut entry = chosen.entry.clone();
            plain_secrets::replace(&chosen.name, &mut entry, &mut |_| Some("…".to_owned()));
            (chosen.name.clone(), entry)
        })
        .collect();
    if shown.is_empty() {
        return;
    }
    let access = access(&arguments.access, &shown).await;
    for chosen in chosen.iter_mut().filter(|chosen| !chosen.is_there) {
        chosen.entry.extend(access.clone());
        let confinement = confinement(&arguments.access, &chosen.entry);
        chosen.entry.extend(confinement);
    }
}

/// Adds the servers to the text of Toolsmith's configuration. Those whose entries would be invalid are left out.
fn put_into(
    config: &mut Editable,
    chosen: Vec<Chosen>,
    given: &std::collections::BTreeMap<String, String>,
    entries: &serde_json::Map<String, Json>,
) -> Result<Vec<Moved>, Failure> {
    let mut moved = Vec::new();
    for Chosen { name, entry, replaced, is_there } in chosen {
        if !is_there {
            let before = config.text.clone();
            config.change(&name, &Change::Set(entry.clone()))?;
            if let Some(wrong) = config.wrong(&name)? {
                let wrong = report::problems(&wrong);
                report(&format!("{name}: left out, because its entry would be invalid:\n{wrong}"));
                config.text = before;
                continue;
            }
        }
        let given = given.get(&name).cloned().unwrap_or_else(|| name.clone());
        let was = entries.get(&given).cloned().unwrap_or_default();
        let entry = if is_there { config.entry(&name)?.unwrap_or_default() } else { entry_of(&entry) };
        moved.push(Moved { given, was, name, entry, replaced, is_there });
    }
    Ok(moved)
}

/// The name of a moved server that is a program other than this one.
fn foreign_program(moved: &Moved) -> Option<String> {
    let entry: ServerEntry = moved.entry.as_object()?.clone().into_iter().collect();
    is_foreign_program(&entry).then(|| moved.name.clone())
}

fn entry_of(entry: &ServerEntry) -> Json {
    Json::Object(entry.iter().cloned().collect())
}

/// Adds Toolsmith's own entry to the client's text. Returns its name and the entry, or `None` if it was there.
async fn put_toolsmith(
    arguments: &AdoptArguments,
    file: &mut ClientFile,
) -> Result<Option<(String, Json)>, Failure> {
    let name = &arguments.name;
    let entry = Entry::new(arguments.client, name, None).await?;
    match file.state(name, &entry)? {
        State::Same | State::Incomplete(_) => Ok(None),
        State::Other(_) if file.entries()?.get(name).is_some_and(is_toolsmith) => Ok(None),
        State::Other(_) => {
            let path = file.path.display();
            let message = format!("{path} keeps a server {name}, which can't be adopted; nothing is changed");
            Err(Failure::command_line(message).hint("call Toolsmith by another name: --name NAME"))
        }
        State::Missing => {
            file.put(name, &entry)?;
            Ok(Some((name.clone(), Json::Object(entry.value()))))
        }
    }
}

/// Shows what changes in both files, without secrets.
fn show(
    file: &ClientFile,
    config: &Editable,
    moved: &[Moved],
    added: Option<&(String, Json)>,
) -> Result<(), Error> {
    let mut lines = vec![format!("{}, in {}", file.path.display(), file.section())];
    lines.extend(moved.iter().flat_map(|moved| file.lines('-', &moved.given, &moved.was)));
    lines.extend(added.iter().flat_map(|(name, entry)| file.lines('+', name, entry)));
    lines.extend(file.namespace_lines()?);
    let is_new = if config.before.is_none() { " (new file)" } else { "" };
    lines.push(format!("{}{is_new}, in mcpServers", config.path.display()));
    for moved in moved {
        let name = &moved.name;
        if moved.is_there {
            lines.push(format!("  {name} is already there"));
            continue;
        }
        let mut entry: ServerEntry = moved
            .entry
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        plain_secrets::replace(name, &mut entry, &mut |_| Some("…".to_owned()));
        let is_off = moved.entry.get("enabled") == Some(&Json::Bool(false));
        let state = if is_off { ", disabled" } else { "" };
        let instead = if moved.replaced.is_some() { ", replaces the present entry" } else { "" };
        lines.push(format!("+ {}{state}{instead}", printable::exact(&describe(name, &entry))));
    }
    say(format_args!("{}\n", lines.join("\n")));
    Ok(())
}

/// Writes the record, Toolsmith's configuration and the client's file, in this order.
fn write(
    record: &mut Record,
    file: &ClientFile,
    config: &Editable,
    servers: Vec<Moved>,
    added: Option<String>,
) -> Result<(), Failure> {
    let names: Vec<String> = servers.iter().map(|moved| moved.name.clone()).collect();
    record.adoptions.push(Adoption {
        client: Changed::new(&file.path, file.before.as_deref(), &file.text),
        config: Changed::new(&config.path, config.before.as_deref(), &config.text),
        servers,
        added,
    });
    record.save()?;
    if config.before.as_deref() != Some(config.text.as_str())
        && let Err(failure) = save(config)
    {
        // Nothing else has changed.
        record.adoptions.pop();
        record.save()?;
        return Err(failure);
    }
    let backup = file.save().map_err(interrupted)?;
    report(&format!("moved {} from {} to {}", names.join(", "), file.path.display(), config.path.display()));
    report_backup(backup.as_deref());
    Ok(())
}

fn interrupted(error: Error) -> Error {
    error.hint("the servers are already in Toolsmith's configuration; to take them out again: --undo")
}

/// The command for the same client and scope, with another option.
fn command(arguments: &AdoptArguments, option: &str) -> String {
    let scope = if arguments.scope == Scope::Project { " --scope project" } else { "" };
    let name = &arguments.name;
    let name = if name == "toolsmith" { String::new() } else { format!(" --name {name}") };
    format!("toolsmith adopt {}{scope}{name} {option}", arguments.client.word()).trim_end().to_owned()
}

fn report(text: &str) {
    say(format_args!("toolsmith: {text}\n"));
}
