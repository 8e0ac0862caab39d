//! A client's configuration being changed. Everything but the changed entries stays, byte by byte where possible.
//!
//! Every change is parsed again before it is written, and refused if its meaning is not the intended one.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use config::{ConfigLayer, Error, source};
use serde_json::{Map, Value as Json};
use system::file::{self, Access, Durability};

use super::entry::{self, Entry};
use super::import::is_toolsmith;
use super::namespaces::NAMESPACES;
use super::place::Place;
use super::profile::{Key, Profile, SecondForm, Syntax};
use super::text::TextError;
use super::{Client, namespaces, text};
use crate::edit::replace;
use crate::file_lock::hold;
use crate::plain_secrets::masked;

/// Maximum size of the file, in bytes (64 MiB): Claude Code stores its state in the same file.
pub(crate) const LIMIT: u64 = 64 << 20;

/// Suffix of a backup's name.
const BACKUP: &str = ".toolsmith-backup";

/// The content of a file under a name.
pub enum State {
    /// No entry.
    Missing,
    /// The same entry, possibly with more keys.
    Same,
    /// The same entry without these keys, or with other values than the user has now decided on.
    Incomplete(Vec<String>),
    /// A different entry, as text without values that may be secret.
    Other(String),
}

/// A client's configuration file being changed.
pub struct ClientFile {
    /// The file.
    pub path: PathBuf,
    mode: u32,
    profile: &'static Profile,
    /// Where the servers are.
    section: &'static [&'static str],
    /// The original text; `None` if there is no file yet.
    pub before: Option<String>,
    /// The changed text.
    pub text: String,
    /// The earlier state, if the file has that again.
    undone: Option<Undone>,
}

/// A file that has its earlier state again.
struct Undone {
    /// Whether there was a file; `setup` has created it otherwise.
    had_file: bool,
    /// The backups that are no longer needed.
    needless: Vec<PathBuf>,
}

impl ClientFile {
    /// Opens the file, which may not exist yet.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn open(client: Client, place: &Place) -> Result<Self, Error> {
        let before = read(&place.file)?;
        let mut file = ClientFile {
            path: place.file.clone(),
            mode: place.mode,
            profile: client.profile(),
            section: client.profile().section,
            text: before.clone().unwrap_or_default(),
            before,
            undone: None,
        };
        if let Some(second) = &file.profile.second_form
            && (second.is_used)(&file.meaning(&file.text)?)
        {
            file.section = second.section;
        }
        Ok(file)
    }

    /// Fails if there is no file, and so no server to read from it.
    ///
    /// # Errors
    /// As described.
    pub fn must_exist(&self) -> Result<(), Error> {
        if self.before.is_some() {
            return Ok(());
        }
        Err(Error::new(format!("there is no file {}", self.path.display()))
            .hint("add a server to the client first, or name another client"))
    }

    /// The second form of the client's file, if the file has that.
    fn second_form(&self) -> Option<&'static SecondForm> {
        self.profile.second_form.as_ref().filter(|second| second.section == self.section)
    }

    /// The name of the section with the servers.
    pub fn section(&self) -> String {
        self.section.join(".")
    }

    /// The whole content, without comments and order.
    pub fn content(&self) -> Result<Map<String, Json>, Error> {
        self.meaning(&self.text)
    }

    /// The entries of all servers, as written.
    pub fn entries(&self) -> Result<Map<String, Json>, Error> {
        let meaning = self.content()?;
        let mut parts = self.section.iter();
        let first = parts.next().and_then(|part| meaning.get(*part));
        let section = parts.fold(first, |section, part| section?.get(*part));
        match section {
            None | Some(Json::Null) => Ok(Map::new()),
            Some(Json::Object(servers)) => Ok(servers.clone()),
            Some(_) => {
                let (path, section) = (self.path.display(), self.section());
                Err(Error::new(format!("{path} is unchanged: its {section} is not a table of servers"))
                    .hint("correct the file in an editor"))
            }
        }
    }

    /// Compares the file's entry of this name with `entry`.
    pub fn state(&self, name: &str, entry: &Entry) -> Result<State, Error> {
        let entries = self.entries()?;
        let Some(other) = entries.get(name) else { return Ok(State::Missing) };
        // Keys that the user added, such as timeouts, don't make the entry different, but a URL does.
        if !entry.is_same(other) || other.get("url").is_some() {
            return Ok(State::Other(shown(other)));
        }
        let mut missing: Vec<_> = self.missing(entry, other).into_iter().map(|(key, _)| key).collect();
        missing.extend(self.lacks(entry)?.map(|_| NAMESPACES.to_owned()));
        Ok(if missing.is_empty() { State::Same } else { State::Incomplete(missing) })
    }

    /// The namespace of an entry that the text does not list.
    fn lacks(&self, entry: &Entry) -> Result<Option<String>, Error> {
        let listed = self.namespaces()?;
        Ok(entry.namespace().filter(|namespace| !listed.contains(namespace)))
    }

    /// The keys that neither `entry` nor the text has, because the client's version may refuse them, with the reason.
    pub fn left_out(&self, name: &str, entry: &Entry, command: &str) -> Result<Vec<String>, Error> {
        let (entries, listed) = (self.entries()?, self.namespaces()?);
        let has = |key: &Key| {
            let is_listed = || key.name == NAMESPACES && listed.contains(&namespaces::of_server(name));
            entries.get(name).is_some_and(|existing| existing.get(key.name).is_some()) || is_listed()
        };
        Ok(entry.left_out(command, has))
    }

    /// The namespaces that the text lists for Codex.
    pub fn namespaces(&self) -> Result<Vec<String>, Error> {
        Ok(namespaces::listed(&self.content()?))
    }

    /// Adds the entry to the text, without writing the file.
    pub fn put(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        self.set(name, Some(&Json::Object(self.value(entry))))?;
        self.list(name, entry)
    }

    /// The entry as this file has it.
    pub fn value(&self, entry: &Entry) -> Map<String, Json> {
        let mut value = entry.value();
        if let Some(second) = self.second_form() {
            (second.convert)(&mut value);
        }
        value
    }

    /// The keys and values, as this file has them, that the file's entry `other` lacks.
    pub fn missing(&self, entry: &Entry, other: &Json) -> Vec<(String, Json)> {
        let mut missing = entry.missing_in(other);
        let value = self.value(entry);
        missing.iter_mut().for_each(|(key, given)| *given = value.get(key).unwrap_or(given).clone());
        let own = entry.value();
        let added = value.into_iter().filter(|(key, _)| !own.contains_key(key) && other.get(key).is_none());
        missing.extend(added);
        missing
    }

    /// Adds the entry's namespace to Codex's list in the text.
    fn list(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let Some(namespace) = self.lacks(entry)? else { return Ok(()) };
        self.add_namespace(name, &namespace)
    }

    fn add_namespace(&mut self, name: &str, namespace: &str) -> Result<(), Error> {
        let mut meant = self.content()?;
        namespaces::add_to(&mut meant, namespace);
        let changed = namespaces::add(&self.text, namespace);
        self.accept(name, changed, meant)
    }

    /// Undoes the addition of the entry: if nothing else has changed since, the text is the earlier one, byte by byte.
    /// Otherwise removes the entry. The file is not written.
    pub fn undo(&mut self, name: &str) -> Result<(), Error> {
        let backups = backups(&self.path).into_iter();
        let texts: Vec<_> =
            backups.filter_map(|(_, backup)| Some((read(&backup).ok().flatten()?, backup))).collect();
        let created = is_created(&self.path).then_some(None);
        let mut earlier = texts.iter().rev().map(|(text, _)| Some(text.as_str())).chain(created);
        let Some(before) = earlier.find(|before| self.adds_only(name, *before)) else {
            return self.remove(name);
        };
        let had_only_ours = |text: &str| Some(text) == before || self.with_text(text).adds_only(name, before);
        let needless = texts.iter().filter(|(text, _)| had_only_ours(text));
        let needless = needless.map(|(_, backup)| backup.clone()).collect();
        self.text = before.unwrap_or_default().to_owned();
        self.undone = Some(Undone { had_file: before.is_some(), needless });
        Ok(())
    }

    /// The same file with another text.
    fn with_text(&self, text: &str) -> ClientFile {
        ClientFile { text: text.to_owned(), path: self.path.clone(), before: None, undone: None, ..*self }
    }

    /// Whether adding the entry to an earlier text, which lacks it, results in the present one.
    fn adds_only(&self, name: &str, before: Option<&str>) -> bool {
        let entries = self.entries().unwrap_or_default();
        let Some(entry) = entries.get(name) else { return false };
        let entry = &text::in_order(&self.text, self.profile.syntax, self.section, name, entry);
        let mut earlier = self.with_text(before.unwrap_or_default());
        let lacks_it = earlier.entries().is_ok_and(|entries| !entries.get(name).is_some_and(is_toolsmith));
        if !lacks_it || earlier.set(name, Some(entry)).is_err() {
            return false;
        }
        let namespace = namespaces::of_server(name);
        let is_listed = self.namespaces().is_ok_and(|listed| listed.contains(&namespace));
        if earlier.text != self.text && is_listed && earlier.add_namespace(name, &namespace).is_err() {
            return false;
        }
        earlier.text == self.text
    }

    /// Sets an earlier text. Backups with this text are deleted when the file is saved.
    pub fn put_back(&mut self, before: &str) {
        let mut needless: Vec<_> = backups(&self.path).into_iter().map(|(_, backup)| backup).collect();
        needless.retain(|backup| read(backup).ok().flatten().as_deref() == Some(before));
        self.text = before.to_owned();
        self.undone = Some(Undone { had_file: true, needless });
    }

    /// Whether the file has its earlier state again.
    pub fn is_undone(&self) -> bool {
        self.undone.is_some()
    }

    /// Removes the entry from the text, and its namespace from Codex's list, without writing the file.
    pub fn remove(&mut self, name: &str) -> Result<(), Error> {
        self.set(name, None)?;
        let namespace = namespaces::of_server(name);
        let is_used = self.entries()?.keys().any(|other| namespaces::of_server(other) == namespace);
        if self.profile.namespaces.is_none() || is_used || !self.namespaces()?.contains(&namespace) {
            return Ok(());
        }
        let changed = namespaces::remove(&self.text, &namespace).map_err(|why| self.refused(&why.0, name))?;
        let mut meant = self.content()?;
        namespaces::remove_from(&mut meant, &namespace, &self.meaning(&changed)?);
        self.accept(name, Ok(changed), meant)
    }

    /// Takes over a changed text, if it means what it is meant to.
    fn accept(
        &mut self,
        name: &str,
        changed: Result<String, TextError>,
        meant: Map<String, Json>,
    ) -> Result<(), Error> {
        let changed = changed.map_err(|why| self.refused(&why.0, name))?;
        // A TOML section without entries has no text.
        let is_as_meant = self.meaning(&changed).is_ok_and(|now| without_empty(now) == without_empty(meant));
        if !is_as_meant {
            return Err(self.refused("the change would affect other parts of the file", name));
        }
        self.text = changed;
        Ok(())
    }

    /// Sets or removes an entry in the text, without writing the file.
    pub fn set(&mut self, name: &str, entry: Option<&Json>) -> Result<(), Error> {
        let mut meant = self.meaning(&self.text)?;
        let mut section = &mut meant;
        for part in self.section {
            let below = section.entry(*part).or_insert(Json::Null);
            if below.is_null() {
                *below = Json::Object(Map::new());
            }
            let Json::Object(below) = below else {
                return Err(self.refused(&format!("its {part} is not a table of servers"), name));
            };
            section = below;
        }
        match entry {
            Some(entry) => drop(section.insert(name.to_owned(), entry.clone())),
            None => drop(section.remove(name)),
        }
        let changed = text::put(&self.text, self.profile.syntax, self.section, name, entry);
        self.accept(name, changed, meant)
    }

    /// Adds the missing keys to the existing entry in the text, without writing the file.
    pub fn complete(&mut self, name: &str, entry: &Entry) -> Result<(), Error> {
        let missing = self.entries()?.get(name).map(|other| self.missing(entry, other)).unwrap_or_default();
        for (key, value) in missing {
            let mut meant = self.content()?;
            let mut existing = meant.get_mut(self.section[0]);
            for part in self.section.iter().skip(1).copied().chain([name]) {
                existing = existing.and_then(|section| section.get_mut(part));
            }
            if let Some(existing) = existing.and_then(Json::as_object_mut) {
                existing.insert(key.clone(), value.clone());
            }
            let changed = text::put_key(&self.text, self.profile.syntax, self.section, name, (&key, &value));
            let changed = changed.ok_or("the entry has another form than expected".into());
            self.accept(name, changed, meant)?;
        }
        self.list(name, entry)
    }

    fn refused(&self, why: &str, name: &str) -> Error {
        Error::new(format!("{} is unchanged: {why}", self.path.display()))
            .hint(format!("change the entry {name} in an editor; `toolsmith setup CLIENT --print` prints it"))
    }

    /// Replaces the file atomically, and checks what was written. Returns the path of the backup, if there is one.
    ///
    /// # Errors
    /// If it can't be written, or has changed since it was opened.
    pub fn save(&self) -> Result<Option<PathBuf>, Error> {
        let failed = |error: std::io::Error| {
            Error::new(format!("{} can't be written: {error}", self.path.display()))
                .hint(file::advice(&error))
                .caused_by(error)
        };
        let _held = self.path.parent().filter(|folder| folder.is_dir()).map(|_| hold(&self.path)).transpose();
        let _held = _held.map_err(|report| Error::of(report.problems))?;
        if let Some(undone) = &self.undone {
            if undone.had_file {
                replace(&self.path, self.before.as_deref(), &self.text, self.mode).map_err(failed)?;
            } else {
                remove(&self.path, self.before.as_deref()).map_err(failed)?;
                delete(&created_mark(&self.path)?);
            }
            undone.needless.iter().for_each(|backup| delete(backup));
            return Ok(None);
        }
        if self.before.is_none() {
            mark_created(&self.path)?;
        }
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

    /// The changes to Codex's list of namespaces, each line with a mark.
    pub fn namespace_lines(&self) -> Result<Vec<String>, Error> {
        let before = namespaces::listed(&self.meaning(self.before.as_deref().unwrap_or_default())?);
        let now = self.namespaces()?;
        let line = |mark: char, namespace: &String| format!("{mark} {namespace:?} in {NAMESPACES}");
        let added = now.iter().filter(|namespace| !before.contains(namespace)).map(|added| line('+', added));
        let gone = before.iter().filter(|namespace| !now.contains(namespace)).map(|gone| line('-', gone));
        Ok(added.chain(gone).collect())
    }

    /// The content of a text, without comments and order.
    fn meaning(&self, text: &str) -> Result<Map<String, Json>, Error> {
        if self.profile.syntax == Syntax::Yaml {
            let document = source::read(&ConfigLayer::User(self.path.clone()), text)?;
            return Ok(document.tree.to_json().as_object().cloned().unwrap_or_default());
        }
        text::meaning(text, self.profile.syntax)
            .map_err(|what| Error::new(format!("{} can't be read: {what}", self.path.display())))
    }

    /// Finds the item of the client's list of allowed calls that allows those of a server, and says where it is.
    pub fn allowed_in_list(&self, name: &str) -> Option<String> {
        let (location, path, items) = self.profile.calls.list.as_ref()?;
        let file = location.path().ok()?;
        let content = text::meaning(&read(&file).ok()??, Syntax::Json).ok()?;
        let list =
            path.iter().try_fold(&Json::Object(content), |value, part| value.get(part))?.as_array()?.clone();
        let mut items = items.iter().map(|item| item.replace("{name}", name));
        let item = items.find(|item| list.iter().any(|allowed| allowed == item))?;
        Some(format!("{item} is in {} of {}", path.join("."), file.display()))
    }

    /// An entry as it is written in the file, each line with a mark, without values that may be secret.
    pub fn lines(&self, mark: char, name: &str, entry: &Json) -> Vec<String> {
        let entry = masked(entry, &entry::is_place);
        let text = match self.profile.syntax {
            Syntax::Json => format!("{}: {entry:#}", Json::from(name)),
            syntax => text::put("", syntax, self.section, name, Some(&entry)).unwrap_or_default(),
        };
        text.lines().map(|line| format!("{mark} {}", printable::exact(line))).collect()
    }
}

/// A content without empty top-level sections.
fn without_empty(meaning: Map<String, Json>) -> Map<String, Json> {
    let is_empty = |value: &Json| value.as_object().is_some_and(Map::is_empty);
    meaning.into_iter().filter(|(_, value)| !is_empty(value)).collect()
}

/// Reports where the previous text of a changed file is.
pub fn report_backup(backup: Option<&Path>) {
    if let Some(backup) = backup {
        terminal::say(format_args!("toolsmith: the previous text is in {}\n", backup.display()));
    }
}

/// Saves the original text next to the file, with the same permissions. An earlier backup stays: it has the text before
/// the first change.
pub fn back_up(path: &Path, before: &str) -> std::io::Result<PathBuf> {
    let target = path.canonicalize()?;
    let mode = std::fs::metadata(&target)?.permissions().mode() & 0o777;
    let existing = backups(&target);
    let same = existing.iter().find(|(_, backup)| read(backup).ok().flatten().as_deref() == Some(before));
    if let Some((_, same)) = same {
        return Ok(same.clone());
    }
    let number = existing.last().map_or(1, |(number, _)| number.saturating_add(1));
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    if number > 1 {
        name.push(format!("-{number}"));
    }
    let backup = target.with_file_name(name);
    file::create(&backup, before.as_bytes(), Access::Mode(mode), Durability::Synced).map(|()| backup)
}

/// The backups of a file with their numbers, the first one first; its name has no number.
fn backups(path: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(target) = path.canonicalize() else { return Vec::new() };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let number = |other: &str| match other.strip_prefix(&*name)?.strip_prefix(BACKUP)? {
        "" => Some(1),
        number => number.strip_prefix('-')?.parse().ok(),
    };
    let files = target.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let mut backups: Vec<_> =
        files.filter_map(|file| Some((number(file.file_name().to_str()?)?, file.path()))).collect();
    backups.sort();
    backups
}

/// The empty file that records that `setup` has created a client's file.
fn created_mark(path: &Path) -> Result<PathBuf, Error> {
    let hash = blake3::hash(path.as_os_str().as_bytes()).to_hex();
    Ok(config::state_folder()?.join("created").join(hash.as_str()))
}

fn mark_created(path: &Path) -> Result<(), Error> {
    let mark = created_mark(path)?;
    let written = config::create_folder_of(&mark)
        .and_then(|()| file::replace(&mark, b"", Access::Owner, Durability::Synced));
    written.map_err(|error| {
        Error::new(format!("{} can't be written: {error}", mark.display()))
            .hint(format!("{}, or set XDG_STATE_HOME", file::advice(&error)))
            .caused_by(error)
    })
}

/// Whether `setup` has created a file, which is no link to a file of the user.
fn is_created(path: &Path) -> bool {
    !path.is_symlink() && created_mark(path).is_ok_and(|mark| mark.is_file())
}

/// Deletes a file that is no longer needed, and reports it if that fails.
fn delete(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        let path = path.display();
        terminal::say(format_args!("toolsmith: {path} is no longer needed, and can't be deleted: {error}\n"));
    }
}

/// Removes a file that still has this text.
pub fn remove(path: &Path, before: Option<&str>) -> std::io::Result<()> {
    if before.map(str::as_bytes) != Some(&std::fs::read(path)?) {
        return Err(std::io::Error::other("it has changed in the meantime; try again"));
    }
    std::fs::remove_file(path)
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

/// Describes an entry: the command that starts the server, without what may be secret, and the names of other keys.
fn shown(entry: &Json) -> String {
    let Json::Object(mut entry) = masked(entry, &|_| false) else { return "not a table".to_owned() };
    // Any argument with a value may be a secret: `NAME=VALUE`, a header, an address with a password.
    let args = entry.values_mut().filter_map(Json::as_array_mut).flatten();
    args.filter(|arg| arg.as_str().is_some_and(|text| text.contains(['=', '@', ' ', ':'])))
        .for_each(|arg| *arg = Json::from("…"));
    let known = ["command", "args", "type"];
    let started = known.iter().filter_map(|key| entry.get(*key).map(|value| format!("{key} = {value}")));
    let others = entry.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("{key} = …"));
    started.chain(others).collect::<Vec<_>>().join(", ")
}
