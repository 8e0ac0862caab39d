//! Adds an entry to a client's configuration, and keeps everything else in it, byte by byte where possible.
//!
//! Every change is parsed again before it is written, and refused if its meaning is not the intended one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use config::{Error, tree};
use jsonc_parser::cst::CstRootNode;
use serde_json::{Map, Value as Json};
use system::file::{self, Access, Durability};
use toml_edit::{DocumentMut, Item, Table};

use super::entry::Entry;
use super::place::Place;
use crate::commands::mcp::edit::{json, replace::replace};
use crate::file_lock::hold;

/// Maximum size of the file, in bytes (64 MiB): Claude Code stores its state in the same file.
const LIMIT: u64 = 64 << 20;

/// Suffix of a backup's name.
const BACKUP: &str = ".toolsmith-backup";

/// What a file contains under a name.
pub(super) enum State {
    /// No entry.
    Missing,
    /// The same entry, possibly with more keys.
    Same,
    /// The entry without the setting that lets the client call without asking, which the user has now approved.
    Unapproved,
    /// A different entry, as text without values that may be secret.
    Other(String),
}

/// A client's configuration file being changed.
pub(super) struct ClientFile {
    path: PathBuf,
    mode: u32,
    is_toml: bool,
    /// The original text; `None` if there is no file yet.
    before: Option<String>,
    text: String,
}

impl ClientFile {
    /// Opens the file, which may not exist yet.
    pub(super) fn open(place: &Place) -> Result<Self, Error> {
        let before = read(&place.file)?;
        Ok(ClientFile {
            path: place.file.clone(),
            mode: place.mode,
            is_toml: place.file.extension().is_some_and(|end| end == "toml"),
            text: before.clone().unwrap_or_default(),
            before,
        })
    }

    /// Compares the file's entry of this name with `entry`.
    pub(super) fn state(&self, name: &str, entry: &Entry) -> Result<State, Error> {
        let meaning = self.meaning(&self.text)?;
        let Some(other) = meaning.get(entry.section()).and_then(|section| section.get(name)) else {
            return Ok(State::Missing);
        };
        // Keys that the user added, such as timeouts, don't make the entry different, but a URL does.
        let has = |(key, value): (&String, &Json)| other.get(key) == Some(value);
        if !entry.essence().iter().all(has) || other.get("url").is_some() {
            return Ok(State::Other(shown(other)));
        }
        let is_approved = entry.approval().iter().all(|(key, value)| has((key, value)));
        Ok(if is_approved { State::Same } else { State::Unapproved })
    }

    /// Adds the entry to the text, without writing the file.
    pub(super) fn put(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let mut meant = self.meaning(&self.text)?;
        let section = meant.entry(entry.section()).or_insert_with(|| Json::Object(Map::new()));
        let Json::Object(section) = section else {
            return Err(self.refused(&format!("its {} is not a table of servers", entry.section()), name));
        };
        section.insert(name.to_owned(), Json::Object(entry.value()));
        let changed =
            if self.is_toml { put_toml(&self.text, name, entry) } else { put_json(&self.text, name, entry) };
        let changed = changed.map_err(|why| self.refused(&why, name))?;
        if self.meaning(&changed).ok() != Some(meant) {
            let why = "the entry would affect other parts of the file";
            return Err(self.refused(why, name));
        }
        self.text = changed;
        Ok(())
    }

    /// Adds the setting that lets the client call without asking to the existing entry, without writing the file.
    pub(super) fn approve(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let Some((key, value)) = entry.approval() else { return Ok(()) };
        let mut meant = self.meaning(&self.text)?;
        let existing = meant.get_mut(entry.section()).and_then(|section| section.get_mut(name));
        if let Some(existing) = existing.and_then(Json::as_object_mut) {
            existing.insert(key.clone(), value.clone());
        }
        let changed = if self.is_toml {
            approve_toml(&self.text, (entry.section(), name), (&key, &value))
        } else {
            approve_json(&self.text, (entry.section(), name), (&key, &value))
        };
        match changed {
            Some(changed) if self.meaning(&changed).ok() == Some(meant) => self.text = changed,
            _ => {
                return Err(self.refused("the setting would affect other parts of the file", name));
            }
        }
        Ok(())
    }

    fn refused(&self, why: &str, name: &str) -> Error {
        Error::new(format!("{} is unchanged: {why}", self.path.display()))
            .hint(format!("print the entry {name} with --print, and add it in an editor"))
    }

    /// Replaces the file atomically, and checks what was written. Returns the path of the backup, if there is one.
    pub(super) fn save(&self) -> Result<Option<PathBuf>, Error> {
        let failed = |error: std::io::Error| {
            Error::new(format!("{} can't be written: {error}", self.path.display()))
                .caused_by(error)
                .hint("check its folder")
        };
        let _held = self.path.parent().filter(|folder| folder.is_dir()).map(|_| hold(&self.path)).transpose();
        let _held = _held.map_err(|failure| Error::of(failure.report.problems))?;
        let backup = self.before.as_deref().map(|before| back_up(&self.path, before)).transpose();
        let backup = backup.map_err(failed)?;
        replace(&self.path, self.before.as_deref(), &self.text, self.mode).map_err(failed)?;
        if read(&self.path)?.as_deref() == Some(self.text.as_str()) {
            Ok(backup)
        } else {
            let message =
                format!("{} was changed by another program after it was written", self.path.display());
            Err(Error::new(message).hint("close the client, and try again"))
        }
    }

    /// The content of a text, without comments and order.
    fn meaning(&self, text: &str) -> Result<Map<String, Json>, Error> {
        let wrong = |what: String| Error::new(format!("{} can't be read: {what}", self.path.display()));
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        if self.is_toml {
            return toml::from_str(text).map_err(|error| wrong(error.to_string()));
        }
        let value: Json = jsonc_parser::parse_to_serde_value(text, &tree::json_options())
            .map_err(|error| wrong(error.to_string()))?;
        match value {
            Json::Object(meaning) => Ok(meaning),
            _ => Err(wrong("it is not an object".to_owned())),
        }
    }
}

/// Saves the original text next to the file, with the same permissions.
fn back_up(path: &Path, before: &str) -> std::io::Result<PathBuf> {
    let target = path.canonicalize()?;
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    let backup = target.with_file_name(name);
    let mode = std::fs::metadata(&target)?.permissions().mode() & 0o777;
    // An older backup is replaced, and a symbolic link of that name is not followed.
    file::replace(&backup, before.as_bytes(), Access::Mode(mode), Durability::Synced)?;
    Ok(backup)
}

/// The text of a file, or `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, Error> {
    let wrong = |what: String| Error::new(format!("{} can't be read: {what}", path.display()));
    match file::read(path, LIMIT).map_err(|error| wrong(error.to_string()))? {
        Some(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8".to_owned())),
        // A dangling link is an error, because the user may rely on its target.
        None if path.symlink_metadata().is_ok() => Err(wrong("it is a dangling symbolic link".to_owned())),
        None => Ok(None),
    }
}

/// Describes an entry: the command that starts the server, and the names of other keys, whose values may be secret.
fn shown(entry: &Json) -> String {
    let Json::Object(entry) = entry else { return "not a table".to_owned() };
    let known = ["command", "args", "type"];
    let started = known.iter().filter_map(|key| entry.get(*key).map(|value| format!("{key} = {value}")));
    let others = entry.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("{key} = …"));
    started.chain(others).collect::<Vec<_>>().join(", ")
}

fn put_json(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &tree::json_options()).map_err(|error| error.kind().to_string())?;
    let top = root.object_value_or_create().ok_or("it is not an object")?;
    let servers = top.object_value_or_create(entry.section()).ok_or("its servers are not an object")?;
    let value = json::input(&Json::Object(entry.value()));
    match servers.get(name) {
        Some(property) => property.set_value(value),
        None => drop(servers.append(name, value)),
    }
    Ok(root.to_string())
}

fn approve_json(text: &str, (section, name): (&str, &str), (key, value): (&str, &Json)) -> Option<String> {
    let root = CstRootNode::parse(text, &tree::json_options()).ok()?;
    let entry = root.object_value()?.object_value(section)?.object_value(name)?;
    match entry.get(key) {
        Some(property) => property.set_value(json::input(value)),
        None => drop(entry.append(key, json::input(value))),
    }
    Some(root.to_string())
}

fn approve_toml(text: &str, (section, name): (&str, &str), (key, value): (&str, &Json)) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let entry = document.get_mut(section)?.get_mut(name)?.as_table_like_mut()?;
    entry.insert(key, toml_edit::value(value.as_str()?));
    Some(document.to_string())
}

fn put_toml(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let section = document.entry(entry.section()).or_insert_with(|| {
        let mut section = Table::new();
        section.set_implicit(true);
        Item::Table(section)
    });
    match section {
        Item::Table(section) => drop(section.insert(name, Item::Table(entry.table()))),
        other => {
            let section = other.as_inline_table_mut().ok_or("its servers are not a table")?;
            section.insert(name, toml_edit::Value::InlineTable(entry.table().into_inline_table()));
        }
    }
    Ok(document.to_string())
}
