//! A client's configuration that gets an entry: everything else in it stays, byte by byte where that can be.
//!
//! What would be written is read back first. If it said anything but what was meant, nothing is written.

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

/// Largest such file, in bytes (64 MiB): Claude Code keeps what it remembers in the same one.
const LIMIT: u64 = 64 << 20;

/// What the name of a backup ends with.
const BACKUP: &str = ".toolsmith-backup";

/// What a file has under a name.
pub(super) enum State {
    /// Nothing.
    Missing,
    /// The entry, and perhaps more keys in it.
    Same,
    /// The entry without the key that lets the client call without asking, which is agreed to now.
    Unapproved,
    /// Something else, for a person and without values that may be secret.
    Other(String),
}

/// A file that is changed.
pub(super) struct ClientFile {
    path: PathBuf,
    mode: u32,
    is_toml: bool,
    /// `None` where there is no file yet.
    before: Option<String>,
    text: String,
}

impl ClientFile {
    /// The file as it is, or as it will be.
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

    /// What stands under a name.
    pub(super) fn state(&self, name: &str, entry: &Entry) -> Result<State, Error> {
        let meaning = self.meaning(&self.text)?;
        let Some(other) = meaning.get(entry.section()).and_then(|section| section.get(name)) else {
            return Ok(State::Missing);
        };
        // Time limits and the like, added by hand, are no other entry; an address is one.
        let has = |(key, value): (&String, &Json)| other.get(key) == Some(value);
        if !entry.essence().iter().all(has) || other.get("url").is_some() {
            return Ok(State::Other(shown(other)));
        }
        let is_approved = entry.approval().iter().all(|(key, value)| has((key, value)));
        Ok(if is_approved { State::Same } else { State::Unapproved })
    }

    /// Puts the entry into the text; the file stays as it is.
    pub(super) fn put(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let mut meant = self.meaning(&self.text)?;
        let section = meant.entry(entry.section()).or_insert_with(|| Json::Object(Map::new()));
        let Json::Object(section) = section else {
            return Err(self.refused(&format!("its {} is no table of servers", entry.section()), name));
        };
        section.insert(name.to_owned(), Json::Object(entry.value()));
        let changed =
            if self.is_toml { put_toml(&self.text, name, entry) } else { put_json(&self.text, name, entry) };
        let changed = changed.map_err(|why| self.refused(&why, name))?;
        if self.meaning(&changed).ok() != Some(meant) {
            let why = "the entry could not be added without changing what else it says";
            return Err(self.refused(why, name));
        }
        self.text = changed;
        Ok(())
    }

    /// Adds the key that lets the client call without asking to the entry that is there; the file stays as it is.
    pub(super) fn approve(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let Some((key, value)) = entry.approval() else { return Ok(()) };
        let mut meant = self.meaning(&self.text)?;
        let there = meant.get_mut(entry.section()).and_then(|section| section.get_mut(name));
        if let Some(there) = there.and_then(Json::as_object_mut) {
            there.insert(key.clone(), value.clone());
        }
        let changed = if self.is_toml {
            approve_toml(&self.text, (entry.section(), name), (&key, &value))
        } else {
            approve_json(&self.text, (entry.section(), name), (&key, &value))
        };
        match changed {
            Some(changed) if self.meaning(&changed).ok() == Some(meant) => self.text = changed,
            _ => {
                return Err(
                    self.refused("the key could not be added without changing what else it says", name)
                );
            }
        }
        Ok(())
    }

    fn refused(&self, why: &str, name: &str) -> Error {
        Error::new(format!(
            "{} is as it was: {why}\nhelp: print the entry {name} with --print, and add it in an editor",
            self.path.display()
        ))
    }

    /// Writes the file, all or nothing, and reads it back. Gives where the text before is kept.
    pub(super) fn save(&self) -> Result<Option<PathBuf>, Error> {
        let failed = |error: std::io::Error| {
            Error::new(format!("{} can't be written: {error}\nhelp: check its folder", self.path.display()))
        };
        let _held = self.path.parent().filter(|folder| folder.is_dir()).map(|_| hold(&self.path)).transpose();
        let _held = _held.map_err(|failure| Error::new(failure.message))?;
        let backup = self.before.as_deref().map(|before| back_up(&self.path, before)).transpose();
        let backup = backup.map_err(failed)?;
        replace(&self.path, self.before.as_deref(), &self.text, self.mode).map_err(failed)?;
        if read(&self.path)?.as_deref() == Some(self.text.as_str()) {
            Ok(backup)
        } else {
            Err(Error::new(format!(
                "{} is not what was written: another program has changed it at once\nhelp: end the client, and try again",
                self.path.display()
            )))
        }
    }

    /// What a text says, without comments and order.
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
            _ => Err(wrong("it is no object".to_owned())),
        }
    }
}

/// Keeps the text before beside the file that is replaced, as readable as that is.
fn back_up(path: &Path, before: &str) -> std::io::Result<PathBuf> {
    let target = path.canonicalize()?;
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    let backup = target.with_file_name(name);
    let mode = std::fs::metadata(&target)?.permissions().mode() & 0o777;
    // An older backup, or a link of that name, goes as a whole.
    file::replace(&backup, before.as_bytes(), Access::Mode(mode), Durability::Synced)?;
    Ok(backup)
}

/// The text of a file; nothing, where there is none.
fn read(path: &Path) -> Result<Option<String>, Error> {
    let wrong = |what: String| Error::new(format!("{} can't be read: {what}", path.display()));
    match file::read(path, LIMIT).map_err(|error| wrong(error.to_string()))? {
        Some(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8".to_owned())),
        // A link that leads nowhere is not nothing: the client may mean something by it.
        None if path.symlink_metadata().is_ok() => Err(wrong("it is a link to nothing".to_owned())),
        None => Ok(None),
    }
}

/// An entry for a person: how the server is started, and which other keys there are. Their values may be secret.
fn shown(entry: &Json) -> String {
    let Json::Object(entry) = entry else { return "no table".to_owned() };
    let known = ["command", "args", "type"];
    let started = known.iter().filter_map(|key| entry.get(*key).map(|value| format!("{key} = {value}")));
    let others = entry.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("{key} = …"));
    started.chain(others).collect::<Vec<_>>().join(", ")
}

fn put_json(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &tree::json_options()).map_err(|error| error.kind().to_string())?;
    let top = root.object_value_or_create().ok_or("it is no object")?;
    let servers = top.object_value_or_create(entry.section()).ok_or("its servers are no object")?;
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
            let section = other.as_inline_table_mut().ok_or("its servers are no table")?;
            section.insert(name, toml_edit::Value::InlineTable(entry.table().into_inline_table()));
        }
    }
    Ok(document.to_string())
}
