//! `toolsmith adopt CLIENT --undo`: puts a client's servers back, and takes them out of Toolsmith's configuration.
//!
//! A file that nobody has changed since gets its earlier bytes. In other files, single entries are put back.

use clients::ClientFile;
use clients::adopted::{Adoption, Record};
use clients::edit::{Change, Editable, Scope};
use clients::file::report_backup;
use clients::file_lock::hold;
use clients::import::is_toolsmith;
use config::trust;
use gateway::exit_code;
use gateway::failure::Failure;
use serde_json::Value as Json;
use terminal::say;

use crate::arguments::AdoptArguments;
use crate::commands::mcp::edit::save;
use crate::commands::setup::ask_to_change;

/// Undoes the last adoption and returns the exit code. `command` is what the user has typed.
pub(super) async fn undo(
    arguments: &AdoptArguments,
    command: &str,
    record: &mut Record,
    mut file: ClientFile,
) -> Result<u8, Failure> {
    let Some(last) = record.adoptions.last().cloned() else {
        let message = format!("there is no adopt of {} to undo", arguments.client.word());
        let hint = match arguments.scope {
            Scope::User => "for the project in this folder: --scope project",
            Scope::Project => "for the client's own file: leave out --scope project",
        };
        return Err(Failure::command_line(message).hint(hint));
    };
    let mut config = Editable::open(arguments.scope)?;
    if config.path != last.config.path {
        let (now, then) = (config.path.display(), last.config.path.display());
        let message = format!("the servers were moved to {then}, but the configuration is now {now}");
        return Err(Failure::command_line(message).hint(format!("move the configuration back to {then}")));
    }
    let is_client_changed = restore_client(&mut file, &last)?;
    let is_config_changed = restore_config(&mut config, &last)?;
    let yes = arguments.yes || !(is_client_changed || is_config_changed);
    ask_to_change(yes, "Put this back?", command).await?;
    if is_client_changed {
        let backup = file.save()?;
        report(&format!("put back the servers of {}", file.path.display()));
        report_backup(backup.as_deref());
    }
    if is_config_changed {
        save_config(&config, &last)?;
    }
    record.adoptions.pop();
    record.save()?;
    if !is_client_changed && !is_config_changed {
        report("nothing to put back");
    }
    Ok(exit_code::OK)
}

/// Puts the client's servers back into its text, and reports how. Returns whether the text changes.
fn restore_client(file: &mut ClientFile, last: &Adoption) -> Result<bool, Failure> {
    let shown = file.path.display().to_string();
    let now = file.before.clone();
    if last.client.is_as_before(now.as_deref()) {
        return Ok(false);
    }
    if last.client.is_as_written(now.as_deref())
        && let Some(before) = &last.client.before
    {
        report(&format!("{shown}: as it was before, byte by byte"));
        file.put_back(before);
        return Ok(true);
    }
    report(&format!("{shown} has changed since: entries are put back one by one"));
    let mut entries = file.entries()?;
    if let Some(name) = last.added.as_ref().filter(|name| entries.get(*name).is_some_and(is_toolsmith)) {
        file.remove(name)?;
        entries.remove(name);
        say(format_args!("- {name}\n"));
    }
    for moved in &last.servers {
        match entries.get(&moved.given) {
            None => {
                file.set(&moved.given, Some(&moved.was))?;
                say(format_args!("+ {}\n", printable::name(&moved.given)));
            }
            Some(present) if *present == moved.was => {}
            Some(_) => {
                let name = printable::name(&moved.given);
                say(format_args!("  {name} stays: there is a new entry of this name\n"));
            }
        }
    }
    Ok(file.before.as_deref() != Some(file.text.as_str()))
}

/// Takes the servers out of the text of Toolsmith's configuration, and reports how. Returns whether the text changes.
fn restore_config(config: &mut Editable, last: &Adoption) -> Result<bool, Failure> {
    let shown = config.path.display().to_string();
    let now = config.before.clone();
    if last.config.is_as_before(now.as_deref()) {
        return Ok(false);
    }
    if last.config.is_as_written(now.as_deref()) {
        let how = if last.config.before.is_none() { "removed" } else { "as it was before, byte by byte" };
        report(&format!("{shown}: {how}"));
        config.text = last.config.before.clone().unwrap_or_default();
        return Ok(true);
    }
    report(&format!("{shown} has changed since: entries are taken out one by one"));
    for moved in last.servers.iter().filter(|moved| !moved.is_there) {
        let name = &moved.name;
        match (config.entry(name)?, &moved.replaced) {
            (Some(present), _) if present != moved.entry => {
                say(format_args!("  {name} stays: its entry has changed\n"));
            }
            (Some(_), Some(Json::Object(replaced))) => {
                let entry = replaced.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
                config.change(name, &Change::Set(entry))?;
                say(format_args!("+ {name}, as before\n"));
            }
            (Some(_), _) => {
                config.change(name, &Change::Remove)?;
                say(format_args!("- {name}\n"));
            }
            (None, _) => {}
        }
    }
    Ok(config.before.as_deref() != Some(config.text.as_str()))
}

/// Writes Toolsmith's configuration, or deletes it if `adopt` has created it and nobody has changed it since.
fn save_config(config: &Editable, last: &Adoption) -> Result<(), Failure> {
    let is_created = last.config.before.is_none() && last.config.is_as_written(config.before.as_deref());
    if !is_created {
        return save(config);
    }
    // The question may have been open for a long time.
    let _held = hold(&config.path)?;
    if config::text::read(&config.path).ok() != config.before {
        let message = format!("{} has changed meanwhile, so it is not removed", config.path.display());
        return Err(Failure::command_line(message).hint("run the command again"));
    }
    // Only a project's file is trusted.
    if config.is_of_project() {
        trust::record(&config.path, None)?;
    }
    std::fs::remove_file(&config.path).map_err(|error| {
        Failure::command_line(format!("{} can't be removed: {error}", config.path.display())).caused_by(error)
    })
}

fn report(text: &str) {
    say(format_args!("toolsmith: {text}\n"));
}
