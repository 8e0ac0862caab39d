//! Reads the servers of clients' files in Toolsmith's form. The client of a named file is recognized by its section.
//!
//! `reader` converts an entry, and `naming` finds its name here.

mod naming;
mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::ValueEnum as _;
use config::{Error, tree};
use report::Problem;
use serde_json::{Map, Value as Json, json};

pub use reader::is_toolsmith;

use super::dialect::Dialect;
use super::profile::{Profile, Syntax};
use super::text::TextError;
use super::{Client, text};
use crate::edit::change::Entry;
use reader::Reader;

/// Maximum number of servers in a file: the whole file is written and parsed again for each one.
const MAX_SERVERS: usize = 100;

/// The servers of a file.
#[derive(Debug, Default)]
pub struct Imported {
    /// Their names here, with their entries.
    pub servers: Vec<(String, Entry)>,
    /// The names of the servers in the client's file, by their names here.
    pub given: BTreeMap<String, String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reads the servers of a file, whose client is recognized by its sections.
///
/// # Errors
/// If the file can't be read, has no servers or too many.
pub fn read(path: &Path) -> Result<Imported, Error> {
    let text = config::text::read(path).map_err(|error| {
        error.hint("to import from an installed client: toolsmith mcp import --from CLIENT")
    })?;
    let shown = path.display();
    let content = if path.extension().is_some_and(|end| end == "toml") {
        text::meaning(&text, Syntax::Toml)
            .map(Json::Object)
            .map_err(|error| Error::new(format!("{shown} can't be read: {error}")))?
    } else {
        let tree = tree::json(&text).map_err(|(place, message)| {
            let (file, line, column) = (shown.to_string(), place.line, Some(place.column));
            Error::of(vec![Problem::at(report::Place { file, line, column, excerpt: None }, message)])
        })?;
        tree.to_json()
    };
    let imported = recognized(&content).map_err(|why| {
        Error::new(format!("{shown}: {why}"))
            .hint("name a file with mcpServers, or VS Code's servers")
            .hint("to import from an installed client: toolsmith mcp import --from CLIENT")
    })?;
    some(imported, &shown.to_string())
}

/// Reads the servers of a client's own file: `entries` of its whole `content`.
///
/// # Errors
/// If it has no servers that can be imported, or too many.
pub fn of_client(
    client: Client,
    path: &Path,
    content: &Map<String, Json>,
    entries: &Map<String, Json>,
) -> Result<Imported, Error> {
    let shown = path.display().to_string();
    let Profile { dialect, lists_servers, projects, refusal, .. } = client.profile();
    if let Some(refusal) = refusal {
        return Err(Error::new(format!("{shown} is unchanged: {}", refusal.why)).hint(refusal.advice));
    }
    let others = entries.iter().filter(|(_, entry)| !is_toolsmith(entry));
    let entries = others.map(|(name, entry)| (name.clone(), entry.clone())).collect();
    let mut imported = converted(&entries, *dialect).map_err(|why| Error::new(format!("{shown}: {why}")))?;
    if *lists_servers {
        disable_unlisted(&mut imported, content);
    }
    if let Some(named) = projects {
        let has_servers = |project: &Json| {
            project.get("mcpServers").and_then(Json::as_object).is_some_and(|servers| !servers.is_empty())
        };
        let folders = content.get("projects").and_then(Json::as_object).into_iter().flatten();
        let folders = folders.filter(|(_, project)| has_servers(project));
        let note = |folder| format!("the servers that {named} has only in {folder} stay there");
        imported.notes.extend(folders.map(|(folder, _)| note(folder)));
    }
    some(imported, &shown)
}

/// Disables the servers that the client does not start: those that its lists exclude or do not allow.
fn disable_unlisted(imported: &mut Imported, content: &Map<String, Json>) {
    // The second name is that of earlier versions.
    let list = |name: &str, earlier: &str| {
        let list = content.get("mcp").and_then(|mcp| mcp.get(name)).or_else(|| content.get(earlier));
        list.and_then(Json::as_array).filter(|list| !list.is_empty())
    };
    let (allowed, excluded) = (list("allowed", "allowMCPServers"), list("excluded", "excludeMCPServers"));
    for (name, entry) in &mut imported.servers {
        let given = imported.given.get(name).map(String::as_str);
        let has = |list: &Vec<Json>| list.iter().any(|other| other.as_str() == given);
        let is_off = excluded.is_some_and(has) || allowed.is_some_and(|allowed| !has(allowed));
        if is_off && entry.iter().all(|(key, _)| key != "enabled") {
            entry.push(("enabled".to_owned(), json!(false)));
        }
    }
}

/// The servers of a file, or an error if there are none.
fn some(imported: Imported, shown: &str) -> Result<Imported, Error> {
    if imported.servers.is_empty() {
        let notes = imported.notes.join("\n");
        return Err(Error::new(
            format!("{shown} has no server that can be imported\n{notes}").trim_end().to_owned(),
        ));
    }
    Ok(imported)
}

/// Reads the first known section, or else the servers at the top level.
fn recognized(file: &Json) -> Result<Imported, TextError> {
    // A server may have the name of a section.
    let section = |place: &str| file.pointer(place).filter(|section| !is_server(section));
    let found = Client::value_variants().iter().map(|client| client.profile()).find_map(|profile| {
        // Clients share `mcp`, in different forms.
        let name = profile.section.first().filter(|name| **name != "mcp" && profile.refusal.is_none())?;
        Some((section(&format!("/{name}"))?, profile.dialect))
    });
    let (servers, dialect) = match (found, section("/mcp/servers"), section("/mcp")) {
        (Some(found), ..) => found,
        // VS Code's settings, or opencode's second form.
        (None, Some(servers), _) => {
            let mut entries = servers.as_object().into_iter().flat_map(Map::values);
            let is_opencode = entries.any(|entry| entry.get("command").is_some_and(Json::is_array));
            (servers, if is_opencode { Dialect::Opencode } else { Dialect::Braces })
        }
        (None, None, Some(servers)) => (servers, Dialect::Opencode),
        (None, None, None) => return flat(file),
    };
    match servers {
        Json::Object(servers) => converted(servers, dialect),
        Json::Array(items) => converted(&listed(items)?, dialect),
        _ => Err("its servers are not an object".into()),
    }
}

/// Whether a value is the entry of a server.
fn is_server(value: &Json) -> bool {
    let has_address =
        ["url", "httpUrl", "serverUrl"].iter().any(|key| value.get(*key).is_some_and(Json::is_string));
    has_address || value.get("command").is_some_and(|command| !command.is_null() && !is_server(command))
}

/// Reads a file that has its servers at the top level.
fn flat(file: &Json) -> Result<Imported, TextError> {
    let members = file.as_object().into_iter().flatten();
    let (servers, others): (Vec<_>, Vec<_>) = members.partition(|(_, value)| is_server(value));
    if servers.is_empty() {
        return Err("it has no servers".into());
    }
    let servers = servers.into_iter().map(|(name, entry)| (name.clone(), entry.clone())).collect();
    let mut imported = converted(&servers, Dialect::Braces)?;
    let others = others.into_iter().filter(|(name, _)| *name != "$schema");
    imported.notes.extend(others.map(|(name, _)| format!("{name:?} was not imported: it is not a server")));
    Ok(imported)
}

/// The servers of a list whose items have names.
fn listed(items: &[Json]) -> Result<Map<String, Json>, TextError> {
    let mut servers = Map::new();
    for item in items {
        let Some(name) = item.get("name").and_then(Json::as_str) else {
            return Err("its servers are a list, and one of them has no name".into());
        };
        if servers.insert(name.to_owned(), item.clone()).is_some() {
            return Err(TextError(format!("two servers are called {name:?}")));
        }
    }
    Ok(servers)
}

fn converted(servers: &Map<String, Json>, dialect: Dialect) -> Result<Imported, TextError> {
    if servers.len() > MAX_SERVERS {
        let message = format!("it has more than {MAX_SERVERS} servers; import fewer at a time");
        return Err(TextError(message));
    }
    let mut imported = Imported::default();
    for ((given, entry), name) in servers.iter().zip(naming::names(servers)) {
        if name != *given {
            imported.notes.push(format!("{given:?} is called {name} here"));
        }
        imported.given.insert(name.clone(), given.clone());
        let mut reader = Reader { name: &name, dialect, notes: &mut imported.notes };
        if let Some(entry) = reader.entry(entry) {
            imported.notes.extend(unset(&name, &entry));
            imported.servers.push((name, entry));
        }
    }
    imported.servers.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(imported)
}

/// A note with the variables of an entry that are not set here and have no default: without them the server is
/// unavailable.
fn unset(name: &str, entry: &Entry) -> Option<String> {
    let mut names = BTreeSet::new();
    entry.iter().for_each(|(_, value)| variables_in(value, &mut names));
    names.retain(|variable| std::env::var_os(variable).is_none());
    let names: Vec<String> = names.into_iter().collect();
    let [noun, are, them] =
        if names.len() == 1 { ["variable", "is", "it"] } else { ["variables", "are", "them"] };
    let all = names.join(", ");
    (!names.is_empty()).then(|| {
        format!("{name}: the environment {noun} {all} {are} not set; until you set {them}, the server is unavailable")
    })
}

fn variables_in(value: &Json, names: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => names.extend(config::variables::required(text)),
        Json::Array(items) => items.iter().for_each(|item| variables_in(item, names)),
        Json::Object(entries) => entries.values().for_each(|value| variables_in(value, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
