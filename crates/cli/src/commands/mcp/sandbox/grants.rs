//! Writes the `sandbox` of a server's entry.

use std::path::{Path, PathBuf};

use clients::edit::{Change, Editable, Scope, in_one_line};
use config::{ConfigLayer, Server};
use gateway::failure::Failure;
use gateway::terminal_prompter;
use serde_json::{Map, Value as Json, json};
use server_sandbox::{Confinement, Network, Refusal, Settings};
use terminal::Terminal;

use crate::commands::mcp::edit;

/// Adds what `wider` grants beyond `settings` to a value of `sandbox` as it is written.
pub(super) fn widened(written: Option<&Json>, settings: &Settings, wider: &Settings) -> Json {
    let mut value = written.and_then(Json::as_object).cloned().unwrap_or_default();
    add_paths(&mut value, "read", &settings.read, &wider.read);
    add_paths(&mut value, "write", &settings.write, &wider.write);
    if wider.network != settings.network {
        value.insert("network".to_owned(), json!(word(wider.network)));
    }
    let variables = wider.env.iter().filter(|name| !settings.env.contains(name)).map(|name| json!(name));
    add(&mut value, "env", variables.collect());
    for (key, before, after) in
        [("processes", settings.processes, wider.processes), ("memory", settings.memory, wider.memory)]
    {
        if before != after {
            value.insert(key.to_owned(), json!(after));
        }
    }
    if value.is_empty() { Json::Bool(true) } else { Json::Object(value) }
}

/// The settings with the smallest grants that would allow what a server was refused.
pub(super) fn proposal(confinement: &Confinement, refusals: &[Refusal]) -> Settings {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let Confinement { settings, cache, protected, .. } = confinement;
    server_sandbox::proposal(settings, refusals, home.as_deref(), cache, protected)
}

/// A network, as it is written.
fn word(network: Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Loopback => "loopback",
        Network::Full => "full",
    }
}

fn add_paths(value: &mut Map<String, Json>, key: &str, before: &[PathBuf], after: &[PathBuf]) {
    let new = after.iter().filter(|path| !before.contains(path));
    add(value, key, new.map(|path| json!(as_text(path))).collect());
}

fn add(value: &mut Map<String, Json>, key: &str, new: Vec<Json>) {
    if new.is_empty() {
        return;
    }
    if let Json::Array(list) = value.entry(key).or_insert_with(|| Json::Array(Vec::new())) {
        list.extend(new);
    }
}

/// A path as the text of a configuration, in which `${` begins a variable. A path that is not UTF-8 has no such text.
fn as_text(path: &Path) -> String {
    path.to_string_lossy().replace("${", "$${")
}

/// The `sandbox` of a server's entry, as it is written, if commands change the file that it is in.
pub(super) fn written(server: &Server) -> Result<Option<Json>, Failure> {
    let Some(file) = open(server)? else { return Ok(None) };
    Ok(file.entry(&server.connection.name)?.and_then(|entry| entry.get("sandbox").cloned()))
}

/// Writes the `sandbox` of a server's entry, if the configuration stays valid, and reports that.
pub(super) fn write(server: &Server, value: Json) -> Result<(), Failure> {
    let name = &server.connection.name;
    let shown = line(&value);
    let mut file = open(server)?.ok_or_else(|| {
        Failure::command_line(format!("no command changes the entry {name}: {}", server.layer.source()))
            .hint(format!("write there: {shown}"))
    })?;
    edit::change(&mut file, name, &Change::Key("sandbox".to_owned(), value))?;
    edit::save(&file)?;
    edit::report(&format!("{name} now has `{shown}` in {}", file.path.display()));
    Ok(())
}

/// Asks whether to write the `sandbox` of a server's entry. Without a terminal, or if no command changes its file, reports
/// what to do instead. Returns whether it was written.
pub(super) async fn offer(server: &Server, value: Json, terminal: &Terminal) -> Result<bool, Failure> {
    let (name, shown) = (&server.connection.name, line(&value));
    if open(server)?.is_none() {
        terminal.note(&format!("help: to allow that, write to its entry: {shown}"));
        return Ok(false);
    }
    let Some(user) = terminal_prompter::of_terminal(terminal) else {
        terminal.note(&format!("help: to allow that: {}", command(name, &value)));
        return Ok(false);
    };
    if !user.confirm(&format!("Write `{shown}` to the entry of {name}?")).await {
        return Ok(false);
    }
    write(server, value).map(|()| true)
}

/// The command that writes the `sandbox` of a server's entry.
pub(super) fn command(name: &str, value: &Json) -> String {
    let value = in_one_line(value).replace('\'', "'\\''");
    printable::exact(&format!("toolsmith mcp sandbox {name} --set '{value}'"))
}

/// The key with its value in one line, as in a configuration.
pub(super) fn line(value: &Json) -> String {
    printable::exact(&format!("sandbox: {}", in_one_line(value)))
}

/// The file with a server's entry. Commands change only the user's own and the project's.
fn open(server: &Server) -> Result<Option<Editable>, Failure> {
    let scope = match &server.layer {
        ConfigLayer::User(_) => Scope::User,
        ConfigLayer::Project(_) => Scope::Project,
        _ => return Ok(None),
    };
    let file = Editable::open(scope)?;
    Ok(Some(file).filter(|file| server.layer.file() == Some(&*file.path)))
}
