//! Tools that the user has allowed permanently, stored in the user's `permissions.json` next to the configuration.
//!
//! An answer covers one version of a tool on one identity of a server (`identity`): a server of the same name in
//! another project, or a tool that has changed, is asked about again. The file contains neither commands nor values.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use config::Server;
use serde::{Deserialize, Serialize};
use system::file::{self, Access, Durability};

use super::identity::{Key, identity};
use super::requested_tool::RequestedTool;

const FILE: &str = "permissions.json";

/// The file with the key of the identities, in the user's state folder.
const KEY: &str = "permissions.key";

/// The version of the format. In version 1 the identity did not cover everything that decides what is started.
const VERSION: u64 = 2;

/// Maximum size of the file, in bytes (4 MiB): some ten thousand tools.
const MAX_BYTES: u64 = 4 << 20;

/// The remembered answers.
#[derive(Debug, Default)]
pub struct Remembered {
    /// `None`: nothing is saved.
    file: Option<PathBuf>,
    /// `None`: there is no place for a key, so nothing is saved.
    key_file: Option<PathBuf>,
    key: OnceLock<Result<Key, String>>,
    content: Content,
}

/// The answers in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    version: u64,
    /// By server identity.
    servers: BTreeMap<String, Allowed>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// The server's name, for users who read the file.
    name: String,
    /// The hashes of tools by name.
    allow: BTreeMap<String, String>,
}

/// Why a text has no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContentError {
    /// It is not the JSON of answers.
    #[error(transparent)]
    Json(#[from] strict_json::Error),
    /// It has an unknown version.
    #[error("its version is {0}, not {VERSION}")]
    Version(u64),
}

/// Why an answer is not saved. The message is for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SaveError {
    /// There is no place for the file.
    #[error("the answer is valid for this time only: you have no configuration folder to save it in")]
    NoFolder,
    /// The identities have no key that lasts.
    #[error("the answer is valid for this time only: {0}")]
    Key(String),
    /// The answers of other processes can't be read.
    #[error("the answer is valid for this time only: {file} can't be written: {1}", file = .0.display())]
    Read(PathBuf, String),
    /// The file can't be locked or written.
    #[error("the answer is valid for this time only: {file} can't be written: {1}", file = .0.display())]
    Write(PathBuf, #[source] io::Error),
}

/// The member that every version has.
#[derive(Deserialize)]
struct Header {
    version: u64,
}

impl Content {
    /// Parses the answers; `None` for an older version, whose answers are no longer valid.
    ///
    /// # Errors
    /// The error in the text.
    pub(crate) fn parse(text: &[u8]) -> Result<Option<Self>, ContentError> {
        let Header { version } = strict_json::from_slice(text)?;
        if !(1..=VERSION).contains(&version) {
            return Err(ContentError::Version(version));
        }
        let content: Self = strict_json::from_slice(text)?;
        Ok(Some(content).filter(|content| content.version == VERSION))
    }

    /// Whether a tool with this hash is allowed, of a server with this identity.
    pub(crate) fn has(&self, identity: &str, tool: &str, hash: &str) -> bool {
        let allowed = self.servers.get(identity).and_then(|allowed| allowed.allow.get(tool));
        !identity.is_empty() && !hash.is_empty() && allowed.is_some_and(|allowed| allowed == hash)
    }
}

impl Remembered {
    /// Reads the user's file; if it has an error, returns that error and no answers.
    pub(crate) fn read() -> (Self, Option<String>) {
        match config::user_folder() {
            Some(folder) => Self::read_in(&folder, config::state_folder().ok().as_deref()),
            None => (Self::default(), None),
        }
    }

    pub(super) fn read_in(folder: &Path, state: Option<&Path>) -> (Self, Option<String>) {
        let file = folder.join(FILE);
        let (content, wrong) = match read(&file) {
            Ok(content) => (content.unwrap_or_default(), None),
            Err(wrong) => (Content::default(), Some(wrong)),
        };
        let key_file = state.map(|state| state.join(KEY));
        (Remembered { file: Some(file), key_file, key: OnceLock::new(), content }, wrong)
    }

    /// Renames a file of an older version, whose answers are no longer valid. Returns a message about it.
    pub fn retire_older() -> Option<String> {
        retire_older_in(&config::user_folder()?)
    }

    /// The identity of a server. It differs between processes if the key can't be saved.
    pub(crate) fn identity(&self, server: &Server) -> String {
        let own = || self.key().unwrap_or_else(|_| Key::of_process());
        let key = Key::shared().unwrap_or_else(own);
        identity(&key, &server.connection)
    }

    fn key(&self) -> Result<Key, String> {
        let read = || {
            let file = self.key_file.as_ref().ok_or("you have no state folder to save a key in")?;
            Key::at(file).map_err(|error| format!("the key {} can't be used: {error}", file.display()))
        };
        self.key.get_or_init(read).clone()
    }

    /// Whether a tool is allowed.
    pub(crate) fn has(&self, requested: &RequestedTool) -> bool {
        self.content.has(&requested.reached, &requested.tool, &requested.hash)
    }

    /// Adds tools, merged with what other processes have added.
    ///
    /// # Errors
    /// Why the answer can't be saved.
    pub(crate) fn add(&mut self, tools: &[RequestedTool]) -> Result<(), SaveError> {
        let file = self.file.clone().ok_or(SaveError::NoFolder)?;
        self.key().map_err(SaveError::Key)?;
        let failed = |error| SaveError::Write(file.clone(), error);
        let folder = file::folder_of(&file);
        std::fs::create_dir_all(folder).map_err(failed)?;
        // The lock (flock(2)) keeps other processes from writing until the end of this function.
        let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        let _held = held.map_err(failed)?;
        let read = read(&file).map_err(|wrong| SaveError::Read(file.clone(), wrong));
        let mut content = read?.unwrap_or_default();
        content.version = VERSION;
        let known = |requested: &&RequestedTool| !requested.hash.is_empty() && !requested.reached.is_empty();
        for requested in tools.iter().filter(known) {
            let allowed = content.servers.entry(requested.reached.clone()).or_default();
            allowed.name.clone_from(&requested.server);
            allowed.allow.insert(requested.tool.clone(), requested.hash.clone());
        }
        write(&file, &content).map_err(failed)?;
        self.content = content;
        Ok(())
    }
}

fn retire_older_in(folder: &Path) -> Option<String> {
    let file = folder.join(FILE);
    // Other errors in the file are reported where it is used.
    if !matches!(file::read(&file, MAX_BYTES), Ok(Some(text)) if Content::parse(&text) == Ok(None)) {
        return None;
    }
    let old = folder.join(format!("{FILE}.1"));
    let what = format!(
        "{} has an older version, which did not cover the servers' folders, programs and variables: \
         its answers are no longer valid, and you will be asked again",
        file.display()
    );
    Some(match std::fs::rename(&file, &old) {
        Ok(()) => format!("{what} (it is {} now)", old.display()),
        Err(error) => format!("{what} (it can't be renamed: {error})"),
    })
}

/// Reads the answers; `None` if there is no file, or it has an older version.
fn read(file: &Path) -> Result<Option<Content>, String> {
    let wrong =
        |what: &dyn std::fmt::Display| format!("{} is invalid: {what}; correct or delete it", file.display());
    match file::read(file, MAX_BYTES).map_err(|error| wrong(&error))? {
        Some(text) => Content::parse(&text).map_err(|what| wrong(&what)),
        None => Ok(None),
    }
}

fn write(path: &Path, content: &Content) -> io::Result<()> {
    let text = format!("{:#}\n", serde_json::to_value(content)?);
    file::replace(path, text.as_bytes(), Access::Owner, Durability::Synced)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn requested(reached: &str, tool: &str, hash: &str) -> RequestedTool {
        let reached = reached.into();
        RequestedTool {
            server: "s".into(),
            tool: tool.into(),
            hash: hash.into(),
            reached,
            claims: Vec::new(),
        }
    }

    fn read_in(home: &Path) -> (Remembered, Option<String>) {
        Remembered::read_in(&home.join("toolsmith"), Some(&home.join("state")))
    }

    #[test]
    fn answers_cover_one_tool_of_one_server() {
        let home = tempfile::tempdir().unwrap();
        let (mut one, wrong) = read_in(home.path());
        assert_eq!(wrong, None);
        let (mut other, _) = read_in(home.path());
        one.add(&[requested("x", "a", "1")]).unwrap();
        other.add(&[requested("x", "b", "2"), requested("", "c", "1")]).unwrap();
        let (read, wrong) = read_in(home.path());
        assert_eq!(wrong, None);
        assert!(read.has(&requested("x", "a", "1")) && read.has(&requested("x", "b", "2")));
        assert!(!read.has(&requested("y", "a", "1")), "a server with another connection");
        assert!(!read.has(&requested("x", "a", "2")), "a tool that has changed");
        assert!(!read.has(&requested("x", "a", "")) && !read.has(&requested("x", "c", "")));
        assert!(!read.has(&requested("", "c", "1")), "an unknown server");
        let mode = std::fs::metadata(home.path().join("toolsmith").join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn without_a_key_nothing_is_saved() {
        let home = tempfile::tempdir().unwrap();
        let (mut remembered, _) = Remembered::read_in(home.path(), None);
        let error = remembered.add(&[requested("x", "a", "1")]).unwrap_err();
        assert!(matches!(error, SaveError::Key(_)), "{error}");
        assert!(error.to_string().contains("for this time only"), "{error}");
        assert!(!home.path().join(FILE).exists());
    }

    #[test]
    fn an_invalid_file_is_reported_and_left_unchanged() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("toolsmith").join(FILE);
        std::fs::create_dir(home.path().join("toolsmith")).unwrap();
        for text in [
            "",
            "{}",
            "[1]",
            r#"{ "version": 3, "servers": {} }"#,
            r#"{ "version": 2, "servers": {}, "x": 1 }"#,
            r#"{ "version": 2, "version": 2, "servers": {} }"#,
            r#"{ "version": 2, "servers": { "h": { "name": "a", "allow": { "t": "1", "\u0074": "2" } } } }"#,
        ] {
            std::fs::write(&file, text).unwrap();
            let (mut read, wrong) = read_in(home.path());
            assert!(wrong.is_some_and(|wrong| wrong.contains(FILE)), "{text}");
            assert!(read.add(&[requested("x", "a", "1")]).is_err(), "{text}");
            assert_eq!(retire_older_in(&home.path().join("toolsmith")), None);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn an_older_version_grants_nothing_and_is_renamed_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("toolsmith");
        std::fs::create_dir(&folder).unwrap();
        let text = r#"{ "version": 1, "servers": { "x": { "name": "s", "allow": { "a": "1" } } } }"#;
        std::fs::write(folder.join(FILE), text).unwrap();
        let (read, wrong) = read_in(home.path());
        assert!(wrong.is_none() && !read.has(&requested("x", "a", "1")));
        assert!(retire_older_in(&folder).unwrap().contains("older version"));
        assert_eq!(retire_older_in(&folder), None);
        assert_eq!(std::fs::read_to_string(folder.join("permissions.json.1")).unwrap(), text);
    }

    #[test]
    fn an_answer_without_an_identity_or_a_hash_allows_nothing() {
        let text = r#"{ "version": 2, "servers": {
            "": { "name": "s", "allow": { "t": "1" } }, "x": { "name": "s", "allow": { "t": "" } } } }"#;
        let content = Content::parse(text.as_bytes()).unwrap().unwrap();
        assert!(!content.has("", "t", "1") && !content.has("x", "t", ""));
    }

    #[test]
    fn only_identified_tools_are_saved() {
        let home = tempfile::tempdir().unwrap();
        let (mut remembered, _) = read_in(home.path());
        remembered
            .add(&[requested("", "a", "1"), requested("x", "b", ""), requested("x", "c", "2")])
            .unwrap();
        let text = std::fs::read(home.path().join("toolsmith").join(FILE)).unwrap();
        let saved: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let expected = serde_json::json!({ "x": { "name": "s", "allow": { "c": "2" } } });
        assert_eq!((&saved["version"], &saved["servers"]), (&VERSION.into(), &expected));
    }
}
