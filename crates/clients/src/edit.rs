//! Changes a configuration file of Toolsmith, and keeps its comments and order.
//!
//! Every change is parsed again before it is written, and refused if its meaning is not the intended one.

pub(crate) mod change;
pub(crate) mod json;
pub(crate) mod line_json;
mod replace;
mod style;
pub(crate) mod yaml;

use std::path::PathBuf;

use clap::ValueEnum;

use config::LOCK;
use config::trust::{self, ProjectFiles, Trust};
use config::{ConfigLayer, Error, layers, locks, source};
use report::Problem;
use serde_json::{Map, Value as Json};

use self::change::SERVERS;
pub use self::change::{Change, Entry};
pub(crate) use self::replace::replace;
pub use self::style::in_one_line;

/// Whose configuration is read or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Scope {
    /// The project's configuration in this folder.
    #[default]
    Project,
    /// The user's configuration.
    User,
}

/// A configuration file being changed.
#[derive(Debug)]
pub struct Editable {
    /// The file.
    pub path: PathBuf,
    layer: ConfigLayer,
    /// The original text; `None` if there is no file yet.
    pub before: Option<String>,
    /// The changed text.
    pub text: String,
}

impl Editable {
    /// Opens the file of a scope, which may not exist yet. Without a scope: the project's file if this folder has one,
    /// and otherwise the user's, which counts in all folders.
    pub fn open(scope: impl Into<Option<Scope>>) -> Result<Self, Error> {
        let folder = std::env::current_dir()
            .map_err(|error| Error::new(format!("the working folder is not known: {error}")));
        let scope = match (scope.into(), &folder) {
            (Some(scope), _) => scope,
            (None, Ok(folder)) if layers::project_file(folder)?.is_some() => Scope::Project,
            (None, _) => Scope::User,
        };
        let (found, otherwise) = match scope {
            Scope::Project => {
                let folder = folder?;
                (layers::project_file(&folder)?, folder.join("toolsmith.yaml"))
            }
            Scope::User => {
                let folder = config::user_folder().ok_or_else(|| {
                    Error::new("there is no folder for your configuration")
                        .hint("set HOME, or XDG_CONFIG_HOME")
                })?;
                (layers::user_file()?, folder.join("config.yaml"))
            }
        };
        let before = found.as_deref().map(config::text::read).transpose()?;
        let path = found.unwrap_or(otherwise);
        let layer = match scope {
            Scope::Project => ConfigLayer::Project(path.clone()),
            Scope::User => ConfigLayer::User(path.clone()),
        };
        Ok(Editable { path, layer, text: before.clone().unwrap_or_default(), before })
    }

    /// Whether it is a project's file.
    pub fn is_of_project(&self) -> bool {
        matches!(self.layer, ConfigLayer::Project(_))
    }

    /// Whether the text has a value for a key at the top level.
    pub fn has(&self, key: &str) -> Result<bool, Error> {
        Ok(self.meaning(&self.text)?.get(key).is_some_and(|value| !value.is_null()))
    }

    /// Whether the text has no setting, only comments.
    pub fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.meaning(&self.text)?.as_object().is_some_and(Map::is_empty))
    }

    /// The entries of all servers, as JSON.
    pub fn entries(&self) -> Result<Map<String, Json>, Error> {
        Ok(self.meaning(&self.text)?.get(SERVERS).and_then(Json::as_object).cloned().unwrap_or_default())
    }

    /// The entry of a server, as JSON.
    pub fn entry(&self, name: &str) -> Result<Option<Json>, Error> {
        Ok(self.meaning(&self.text)?.get(SERVERS).and_then(|servers| servers.get(name)).cloned())
    }

    /// Changes the entry of a server in the text; the file stays as it is.
    pub fn change(&mut self, name: &str, change: &Change) -> Result<(), Error> {
        let mut meant = self.meaning(&self.text)?;
        apply(&mut meant, name, change);
        let refused = |why: &dyn std::fmt::Display| {
            Error::new(format!("{} is unchanged: {why}", self.path.display()))
                .hint(format!("change the entry {name} in an editor"))
        };
        let is_json = self.path.extension().is_some_and(|end| end == "json");
        let changed = kept_mark(&self.text, |text| {
            if is_json { json::change(text, name, change) } else { yaml::change(text, SERVERS, name, change) }
        });
        let changed = changed.map_err(|error| refused(&error).caused_by(error))?;
        if self.meaning(&changed).ok().as_ref() != Some(&meant) {
            return Err(refused(&"the change would affect other parts of the file"));
        }
        self.text = changed;
        Ok(())
    }

    /// The content of a text as JSON, without comments and order.
    fn meaning(&self, text: &str) -> Result<Json, Error> {
        let document = source::read(&self.layer, text)?;
        Ok(match document.tree.to_json() {
            Json::Null => Json::Object(Map::new()),
            meaning => meaning,
        })
    }

    /// The error in a server's entry in the current text, if any.
    pub fn wrong(&self, name: &str) -> Result<Option<Vec<Problem>>, Error> {
        Ok(layers::wrong_as_written(&source::read(&self.layer, &self.text)?, name))
    }

    /// Replaces the file atomically, and keeps it trusted if it was. Returns a note if it is not trusted.
    pub fn save(&self) -> Result<Option<String>, Error> {
        let lock = match &self.layer {
            ConfigLayer::Project(_) => locks::text(&self.path.with_file_name(LOCK))?,
            _ => None,
        };
        let trusted = match (&self.layer, &self.before) {
            (ConfigLayer::Project(_), Some(before)) => {
                trust::of(&self.path, ProjectFiles::new(before, lock.as_deref()))? == Trust::Given
            }
            // An existing lock file may be from someone else, and must not become trusted with the new file.
            (ConfigLayer::Project(_), None) => lock.is_none(),
            _ => false,
        };
        self.write().map_err(|error| {
            Error::new(format!("{} can't be written: {error}", self.path.display()))
                .hint(system::file::advice(&error))
                .caused_by(error)
        })?;
        if trusted {
            trust::record(&self.path, Some(ProjectFiles::new(&self.text, lock.as_deref())))?;
        }
        let untrusted = matches!(self.layer, ConfigLayer::Project(_)) && !trusted;
        Ok(untrusted.then(|| "it has no effect until you trust it: toolsmith trust".to_owned()))
    }

    fn write(&self) -> std::io::Result<()> {
        let mode = if matches!(self.layer, ConfigLayer::User(_)) { 0o600 } else { 0o644 };
        replace(&self.path, self.before.as_deref(), &self.text, mode)
    }
}

/// Changes a text behind its byte order mark, if it has one.
pub(crate) fn kept_mark<E>(text: &str, change: impl FnOnce(&str) -> Result<String, E>) -> Result<String, E> {
    let rest = strict_json::without_mark(text);
    let mark = text.get(..text.len() - rest.len()).unwrap_or_default();
    change(rest).map(|changed| format!("{mark}{changed}"))
}

/// Applies a change to the parsed configuration, to compare it with the changed text.
fn apply(meaning: &mut Json, name: &str, change: &Change) {
    let Json::Object(root) = meaning else { return };
    let servers = root.entry(SERVERS).or_insert_with(|| Json::Object(Map::new()));
    if servers.is_null() {
        *servers = Json::Object(Map::new());
    }
    let Json::Object(servers) = servers else { return };
    match change {
        Change::Set(entry) => {
            servers.insert(name.to_owned(), Json::Object(entry.iter().cloned().collect()));
        }
        Change::Remove => {
            servers.remove(name);
            if servers.is_empty() {
                root.remove(SERVERS);
            }
        }
        Change::Enabled(enabled) => {
            if let Some(Json::Object(entry)) = servers.get_mut(name) {
                entry.insert("enabled".to_owned(), Json::Bool(*enabled));
            }
        }
        Change::Key(key, value) => {
            if let Some(Json::Object(entry)) = servers.get_mut(name) {
                entry.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::{Change, Editable, SERVERS};
    use config::ConfigLayer;

    fn editable(name: &str, text: &str) -> Editable {
        let path = PathBuf::from(format!("/nowhere/{name}"));
        Editable { layer: ConfigLayer::User(path.clone()), path, before: None, text: text.to_owned() }
    }

    fn changes() -> [Change; 4] {
        let entry = vec![
            ("command".to_owned(), json!("a: b")),
            (
                "args".to_owned(),
                json!([
                    "", "~", "null", "y", "N", "0x1", "1e3", "*a", "&a", "!x", "|", "%y", "`", "'", "\"",
                    "a # b", "\t", "é\u{85}"
                ]),
            ),
            ("env".to_owned(), json!({ "A": "multi\nline\n", "B": " padded " })),
        ];
        [
            Change::Set(entry),
            Change::Enabled(false),
            Change::Key("trust".to_owned(), json!(true)),
            Change::Remove,
        ]
    }

    #[test]
    fn every_server_of_every_good_configuration_can_be_changed() {
        for file in std::fs::read_dir("../config/tests/configurations/good").unwrap() {
            let path = file.unwrap().path();
            let (name, text) =
                (path.file_name().unwrap().to_str().unwrap(), std::fs::read_to_string(&path).unwrap());
            let meaning = editable(name, &text).meaning(&text).unwrap();
            let known =
                meaning.get(SERVERS).and_then(|servers| servers.as_object()).cloned().unwrap_or_default();
            let [set, ..] = changes();
            editable(name, &text).change("a-new-one", &set).unwrap();
            for (server, change) in known.keys().flat_map(|server| changes().map(|change| (server, change))) {
                editable(name, &text).change(server, &change).unwrap();
            }
        }
    }

    #[test]
    fn unusual_files_are_changed_correctly_or_not_at_all() {
        let odd = [
            "---\nmcpServers:\n  a: { command: x }\n",
            "---\nmcpServers:\n  a: { command: x }\n...\n",
            "%YAML 1.2\n---\nmcpServers:\n  a:\n    command: x\n",
            "mcpServers:\r\n  a:\r\n    command: x\r\n",
            "{mcpServers: {a: {command: x}}}",
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }\n",
            "mcpServers:\n    a:\n        command: x\n        # behind\n\n\n# end",
            "mcpServers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n    timeout: 5\n",
            "base: &a { command: x }\nmcpServers: { a: *a }\n",
            "mcpServers: # comment\n  # other\n  a:  # third\n    command: x",
            "? mcpServers\n: ? a\n  : command: x\n",
            "mcpServers:\n  a:\n    command: |\n      x\n    args:\n    - a\n    - b\n",
            "\"mcpServers\":\n  \"a\":\n    \"command\": 'x'\n",
            "\u{feff}mcpServers:\n  a: { command: x }\n",
            "mcpServers: !!map\n  a: !!map { command: x }\n",
        ];
        let mut refused = Vec::new();
        for text in odd {
            for (name, change) in
                changes().into_iter().flat_map(|change| [("a", change.clone()), ("new", change)])
            {
                let mut file = editable("odd.yaml", text);
                // A change that is not refused was parsed again, and has the intended meaning.
                match file.change(name, &change) {
                    Ok(()) => assert_ne!((file.text.as_str(), name), (text, "a"), "{change:?}"),
                    Err(error) => {
                        assert_eq!(file.text, text);
                        assert!(error.to_string().contains("is unchanged"), "{error}");
                        refused.push((text, name, format!("{change:?}")));
                    }
                }
            }
        }
        let marked = refused.iter().find(|(text, name, _)| text.starts_with('\u{feff}') && *name == "a");
        assert_eq!(marked, None);
        let existing = refused.iter().filter(|(_, name, _)| *name == "a").count();
        assert!(existing < odd.len(), "{refused:#?}");
    }
}
