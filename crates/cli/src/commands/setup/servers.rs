//! Reports which servers the written entry gives a client, and moves those that only this folder's project has into the
//! user's own configuration, which counts in all folders.

use std::path::{Path, PathBuf};

use clients::edit::{Change, Editable, Entry, Scope};
use clients::file::{back_up, remove, report_backup};
use clients::{Client, ClientFile, ClientScope, Place, import};
use config::{Config, ConfigLayer, LOCK, LoadOptions, Needs, ServersOf, command_line};
use gateway::failure::Failure;
use gateway::terminal_prompter;
use report::{Kind, Problem, Report};
use serde_json::Value as Json;
use terminal::say_note;

use crate::arguments::SetupArguments;
use crate::commands::mcp::edit::{describe, of_rights, save};
use crate::usage_hints::words;

/// The servers that `toolsmith serve` has when the entry starts it.
struct Reach {
    /// In every folder.
    everywhere: Vec<String>,
    /// Only in this folder, because only its project has them.
    here: Vec<String>,
    /// The project's file, if it is in effect.
    project: Option<PathBuf>,
    /// The user's next step before the project's file is used.
    untrusted: Option<String>,
    /// The programs among them that run with the user's rights.
    unconfined: Vec<String>,
}

/// The configuration's key for limits of all servers, such as tools that are denied.
const GLOBAL_SETTINGS: &str = "globalSettings";

impl Reach {
    fn of(arguments: &SetupArguments) -> Result<Self, Failure> {
        let whole =
            LoadOptions { file: arguments.config.clone(), needs: Needs::Nothing, ..LoadOptions::default() };
        let whole = whole.without_untrusted();
        let users = LoadOptions { servers_of: Some(ServersOf::User), ..whole.clone() };
        let (whole, users) = (config::load(&whole)?, config::load(&users)?);
        let mut everywhere = names(&users, |_| true);
        everywhere.extend(names(&whole, |layer| matches!(layer, ConfigLayer::Named(_))));
        everywhere.sort();
        everywhere.dedup();
        let mut here = names(&whole, |layer| matches!(layer, ConfigLayer::Project(_)));
        here.retain(|name| !everywhere.contains(name));
        let project = whole.layers.iter().find(|layer| matches!(layer, ConfigLayer::Project(_)));
        let project = project.and_then(ConfigLayer::file).map(Path::to_owned);
        let unconfined = unconfined(&whole);
        Ok(Reach { everywhere, here, project, untrusted: whole.untrusted, unconfined })
    }

    /// The servers that can be moved to the user's configuration, or why none can.
    fn movable(&self, arguments: &SetupArguments) -> Result<&[String], Failure> {
        let refused = |why: &str| Failure::command_line(format!("no server can be moved: {why}"));
        if arguments.scope == ClientScope::Project {
            let why = "with --scope project, the client starts the entry only in this folder";
            return Err(refused(why).hint("leave out --scope project"));
        }
        let Some(project) = &self.project else {
            let none = "this folder has no project's configuration";
            return Err(refused(self.untrusted.as_deref().unwrap_or(none)));
        };
        let shown = project.display();
        if self.here.is_empty() {
            return Err(refused(&format!("{shown} has none that your own configuration lacks")));
        }
        let lock = project.with_file_name(LOCK);
        let stays = if lock.exists() {
            lock.display().to_string()
        } else if Editable::open(Scope::Project)?.has(GLOBAL_SETTINGS)? {
            format!("{GLOBAL_SETTINGS} in {shown}")
        } else {
            return Ok(&self.here);
        };
        Err(refused(&format!("{stays} would no longer restrict it"))
            .hint("add it with its restrictions yourself: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…"))
    }
}

/// The names of the servers of these layers, sorted.
fn names(config: &Config, is_of: impl Fn(&ConfigLayer) -> bool) -> Vec<String> {
    let servers = config.servers.iter().filter(|server| is_of(&server.layer));
    let mut names: Vec<String> = servers.map(|server| server.connection.name.clone()).collect();
    names.sort();
    names
}

/// The names of the servers that are programs other than this one, and not confined.
fn unconfined(config: &Config) -> Vec<String> {
    let is_unconfined = |server: &&config::Server| {
        server.sandbox.is_none()
            && matches!(&server.connection.transport, mcp::Transport::Stdio(command)
                if !config::is_this_program(&command.command))
    };
    config.servers.iter().filter(is_unconfined).map(|server| server.connection.name.clone()).collect()
}

/// Fails if no server of this folder's project can be moved to the user's configuration.
///
/// # Errors
/// As described, with the reason.
pub(super) fn check_movable(arguments: &SetupArguments) -> Result<(), Failure> {
    Reach::of(arguments)?.movable(arguments).map(|_| ())
}

/// Moves the servers that only this folder's project has, if the user wants that. The question follows a change of a
/// client's file, and is not asked each time.
pub(super) async fn offer_to_move(arguments: &SetupArguments, is_changed: bool) -> Result<(), Failure> {
    if arguments.move_servers {
        return move_to_user(Reach::of(arguments)?.movable(arguments)?);
    }
    if arguments.container.is_some() || arguments.yes || !is_changed {
        return Ok(());
    }
    let Some(user) = terminal_prompter::of_command() else { return Ok(()) };
    // A configuration with errors is reported later.
    let Ok(reach) = Reach::of(arguments) else { return Ok(()) };
    let Ok(names) = reach.movable(arguments) else { return Ok(()) };
    let file = Editable::open(Scope::Project)?;
    for name in names {
        if let Some(Json::Object(entry)) = file.entry(name)? {
            report(&describe(name, &entry.into_iter().collect()));
        }
    }
    let question = format!(
        "Only clients that start in this folder have {}. Move to your own configuration, for all folders?",
        names.join(", ")
    );
    if user.confirm(&question).await { move_to_user(names) } else { Ok(()) }
}

/// Moves servers of the project's file to the user's, and removes the project's file if it has nothing else.
fn move_to_user(names: &[String]) -> Result<(), Failure> {
    let (mut user, mut project) = (Editable::open(Scope::User)?, Editable::open(Scope::Project)?);
    for name in names {
        let Some(Json::Object(entry)) = project.entry(name)? else { continue };
        let entry = in_its_folder(entry.into_iter().collect(), &project.path)?;
        user.change(name, &Change::Set(entry))?;
        if let Some(wrong) = user.wrong(name)? {
            let message = format!("{name} can't be moved, and no server is moved:");
            let all = [vec![Problem::new(message)], wrong].concat();
            return Err(Report::of(Kind::Configuration, all).into());
        }
        project.change(name, &Change::Remove)?;
    }
    // The comments of the entries stay in the backup.
    let before = project.before.as_deref().unwrap_or_default();
    let backup = back_up(&project.path, before).map_err(Failure::system)?;
    // If the second file can't be written, the servers are in both, with the same meaning.
    save(&user)?;
    let (shown, is_empty) = (project.path.display(), project.is_empty()?);
    if is_empty {
        remove(&project.path, project.before.as_deref()).map_err(Failure::system)?;
    } else {
        save(&project)?;
    }
    report(&format!("moved {} from {shown} to {}", names.join(", "), user.path.display()));
    if is_empty {
        report(&format!("removed {shown}, because it has no other setting"));
    }
    report_backup(Some(&backup));
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
    let is_movable = reach.movable(arguments).is_ok();
    let Reach { everywhere, here, project, untrusted, unconfined } = reach;
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
        let only = match is_movable {
            true => only.hint(format!("to have them in every folder: {} --move-servers", typed())),
            false => only,
        };
        report(&only.for_terminal());
    }
    untrusted.iter().for_each(|why| report(why));
    let unconfined: Vec<&str> = unconfined.iter().map(String::as_str).collect();
    of_rights(&unconfined, false).iter().for_each(|note| report(note));
}

/// The command, as the user has typed it.
fn typed() -> String {
    let words: Vec<String> = words().collect();
    command_line("toolsmith", words.iter().map(String::as_str))
}

/// Reports the servers that a client starts itself: snippets can't call them.
fn report_own(client: Client) {
    let own = || -> Result<Vec<String>, config::Error> {
        let file = ClientFile::open(client, &Place::of(client, ClientScope::User)?)?;
        let own = import::of_client(client, &file.path, &file.content()?, &file.entries()?)?;
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
