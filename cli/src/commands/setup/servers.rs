//! Reports which servers the written entry gives a client, and moves those that only this folder's project has into the
//! user's own configuration, which counts in all folders.

use std::path::{Path, PathBuf};

use config::{Config, ConfigLayer, LOCK, LoadOptions, Needs, ServersOf};
use gateway::failure::Failure;
use report::{Kind, Problem, Report};
use serde_json::Value as Json;
use terminal::say_note;

use super::file::ClientFile;
use super::place::Place;
use crate::arguments::{Client, ClientScope, Scope, SetupArguments};
use crate::commands::mcp::edit::change::{Change, Entry};
use crate::commands::mcp::edit::file::Editable;
use crate::commands::mcp::edit::{describe, foreign, save};
use crate::terminal_prompter;

/// The servers that `toolsmith serve` has when the entry starts it.
struct Reach {
    /// In every folder.
    everywhere: Vec<String>,
    /// Only in this folder, because only its project has them.
    here: Vec<String>,
    /// The project's file, if it is in effect.
    project: Option<PathBuf>,
    /// The action of the user before the project's file is used.
    untrusted: Option<String>,
}

impl Reach {
    fn of(arguments: &SetupArguments) -> Result<Self, Failure> {
        let whole =
            LoadOptions { file: arguments.config.clone(), needs: Needs::Nothing, ..LoadOptions::default() };
        let users = LoadOptions { servers_of: Some(ServersOf::User), ..whole.clone() };
        let (whole, users) =
            (config::survey_without_untrusted(&whole)?, config::survey_without_untrusted(&users)?);
        let mut everywhere = names(&users, |_| true);
        everywhere.extend(names(&whole, |layer| matches!(layer, ConfigLayer::Named(_))));
        everywhere.sort();
        everywhere.dedup();
        let mut here = names(&whole, |layer| matches!(layer, ConfigLayer::Project(_)));
        here.retain(|name| !everywhere.contains(name));
        let project = whole.layers.iter().find(|layer| matches!(layer, ConfigLayer::Project(_)));
        let project = project.and_then(ConfigLayer::file).map(Path::to_owned);
        Ok(Reach { everywhere, here, project, untrusted: whole.untrusted })
    }
}

/// The names of the servers of these layers, sorted.
fn names(config: &Config, is_of: impl Fn(&ConfigLayer) -> bool) -> Vec<String> {
    let servers = config.servers.iter().filter(|server| is_of(&server.layer));
    let mut names: Vec<String> = servers.map(|server| server.connection.name.clone()).collect();
    names.sort();
    names
}

/// Moves the servers that only this folder's project has, if the user wants that.
pub(super) async fn offer_to_move(arguments: &SetupArguments) -> Result<(), Failure> {
    if arguments.scope == ClientScope::Project || arguments.container.is_some() {
        return Ok(());
    }
    // A configuration with errors is reported later.
    let Ok(Reach { here, project: Some(project), .. }) = Reach::of(arguments) else { return Ok(()) };
    // The lock file pins only servers of its own folder's file.
    if here.is_empty() || project.with_file_name(LOCK).exists() {
        return Ok(());
    }
    let names = here.join(", ");
    if !arguments.move_servers {
        let Some(user) = terminal_prompter::of_command() else { return Ok(()) };
        let file = Editable::open(Scope::Project)?;
        for name in &here {
            if let Some(Json::Object(entry)) = file.entry(name)? {
                report(&describe(name, &entry.into_iter().collect()));
            }
        }
        let question = format!(
            "Only clients that start in this folder have {names}. Move to your own configuration, for all folders?"
        );
        if !user.confirm(&question).await {
            return Ok(());
        }
    }
    move_to_user(&here)
}

/// Moves servers of the project's file to the user's.
fn move_to_user(names: &[String]) -> Result<(), Failure> {
    let (mut user, mut project) = (Editable::open(Scope::User)?, Editable::open(Scope::Project)?);
    for name in names {
        let Some(Json::Object(entry)) = project.entry(name)? else { continue };
        let entry = in_its_folder(entry.into_iter().collect(), &project.path)?;
        user.change(name, &Change::Set(entry))?;
        if let Some(wrong) = user.wrong(name)? {
            let message = format!("{name} can't be moved, and nothing is changed:");
            let all = [vec![Problem::new(message)], wrong].concat();
            return Err(Report::of(Kind::Configuration, all).into());
        }
        project.change(name, &Change::Remove)?;
    }
    // If the second file can't be written, the servers are in both, with the same meaning.
    save(&user)?;
    save(&project)?;
    report(&format!("moved {} from {} to {}", names.join(", "), project.path.display(), user.path.display()));
    Ok(())
}

/// The entry of a program that starts in the same folder from everywhere: in the project's, unless `cwd` names another.
fn in_its_folder(mut entry: Entry, file: &Path) -> Result<Entry, Failure> {
    if !entry.iter().any(|(key, _)| key == "command") {
        return Ok(entry);
    }
    let here = std::env::current_dir().map_err(Failure::system)?;
    match entry.iter_mut().find(|(key, _)| key == "cwd") {
        // A variable in front may be an absolute path.
        Some((_, Json::String(folder))) if !folder.starts_with("${") => {
            let base = as_text(file.parent().unwrap_or(&here))?;
            *folder = Path::new(&base).join(&folder).to_string_lossy().into_owned();
        }
        Some(_) => {}
        None => entry.push(("cwd".to_owned(), as_text(&here)?.into())),
    }
    Ok(entry)
}

/// A path as the text of a configuration, in which `${` begins a variable.
fn as_text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        Failure::command_line(format!(
            "the path {} is not UTF-8, so no configuration can have it",
            path.display()
        ))
        .hint("add the servers yourself: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…")
    })?;
    Ok(text.replace("${", "$${"))
}

/// Reports which servers the clients have now, and how they get more.
pub(super) fn report_servers(arguments: &SetupArguments, clients: &[Client]) {
    if arguments.container.is_some() {
        return;
    }
    match Reach::of(arguments) {
        Ok(reach) => report_reach(arguments, reach),
        Err(failure) => report(&failure.report.for_terminal()),
    }
    if arguments.scope == ClientScope::User {
        clients.iter().for_each(|client| report_own(*client));
    }
}

fn report_reach(arguments: &SetupArguments, reach: Reach) {
    let Reach { everywhere, here, project, untrusted } = reach;
    if everywhere.is_empty() {
        let none = Report::new(Kind::Configuration, "no server is configured for all folders yet")
            .hint("add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…");
        report(&none.for_terminal());
    } else {
        report(&format!("clients have these servers in every folder: {}", everywhere.join(", ")));
    }
    if let (false, Some(project)) = (here.is_empty(), &project) {
        let only = format!("in the folder of {}, they also have: {}", project.display(), here.join(", "));
        let only = Report::new(Kind::Configuration, only);
        let is_movable = arguments.scope == ClientScope::User && !project.with_file_name(LOCK).exists();
        let only = match is_movable {
            true => only.hint("to have them in every folder: toolsmith setup --yes --move-servers"),
            false => only,
        };
        report(&only.for_terminal());
    }
    untrusted.iter().for_each(|why| report(why));
}

/// Reports the servers that a client starts itself: snippets can't call them.
fn report_own(client: Client) {
    let own = || -> Result<Vec<String>, config::Error> {
        let file = ClientFile::open(client, &Place::of(client, ClientScope::User)?)?;
        let own = foreign::of_client(client, &file.path, &file.content()?, &file.entries()?)?;
        Ok(own.servers.into_iter().map(|(name, _)| name).collect())
    };
    // A file without such servers is an error there.
    let names = own().unwrap_or_default();
    if !names.is_empty() {
        let word = client.word();
        let note = format!("{word} has servers of its own, which snippets can't call: {}", names.join(", "));
        let note = Report::new(Kind::Configuration, note).hint(format!("move them: toolsmith adopt {word}"));
        report(&note.for_terminal());
    }
}

fn report(text: &str) {
    say_note(format_args!("toolsmith: {text}\n"));
}
