//! What a person has allowed from now on, in a file of the user's own: `permissions.json` beside the configuration.
//!
//! An answer is about a tool as it was then, of a server that is reached as it was then (`identity`): a server of the same
//! name in another project, and a tool that has changed, are asked about again. The file holds neither commands nor
//! values.

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

/// The key of the identities, in the user's state folder.
const KEY: &str = "permissions.key";

/// The version of the form. In the first one a server was known by less than what decides what is started.
const VERSION: u64 = 2;

/// Most bytes of the file that are read (4 MiB): some ten thousand tools.
const LONGEST: u64 = 4 << 20;

/// What is remembered.
#[derive(Debug, Default)]
pub struct Remembered {
    /// `None`: nothing is written.
    file: Option<PathBuf>,
    /// `None`: there is no place for a key, so nothing is remembered.
    key_file: Option<PathBuf>,
    key: OnceLock<Result<Key, String>>,
    content: Content,
}

/// The answers in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    version: u64,
    /// By the identity of the server.
    servers: BTreeMap<String, Allowed>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// The server's name, for people who look into the file.
    name: String,
    /// The hashes of tools by name.
    allow: BTreeMap<String, String>,
}

/// What every version of the form has.
#[derive(Deserialize)]
struct Header {
    version: u64,
}

impl Content {
    /// The answers in a text; `None` where it has an older form, whose answers hold no longer.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &[u8]) -> Result<Option<Self>, String> {
        let Header { version } = strict_json::from_slice(text).map_err(|error| error.to_string())?;
        if !(1..=VERSION).contains(&version) {
            return Err(format!("its version is {version}, not {VERSION}"));
        }
        let content: Self = strict_json::from_slice(text).map_err(|error| error.to_string())?;
        Ok(Some(content).filter(|content| content.version == VERSION))
    }

    /// Whether a tool of this hash was allowed, of a server of this identity.
    pub(crate) fn has(&self, identity: &str, tool: &str, hash: &str) -> bool {
        let allowed = self.servers.get(identity).and_then(|allowed| allowed.allow.get(tool));
        !identity.is_empty() && !hash.is_empty() && allowed.is_some_and(|allowed| allowed == hash)
    }
}

impl Remembered {
    /// What the user's file says; and what is wrong with it, in which case nothing is remembered.
    pub(crate) fn read() -> (Self, Option<String>) {
        match config::user_folder() {
            Some(folder) => Self::read_in(&folder, config::state_folder().ok().as_deref()),
            None => (Self::default(), None),
        }
    }

    fn read_in(folder: &Path, state: Option<&Path>) -> (Self, Option<String>) {
        let file = folder.join(FILE);
        let (content, wrong) = match read(&file) {
            Ok(content) => (content.unwrap_or_default(), None),
            Err(wrong) => (Content::default(), Some(wrong)),
        };
        let key_file = state.map(|state| state.join(KEY));
        (Remembered { file: Some(file), key_file, key: OnceLock::new(), content }, wrong)
    }

    /// Puts a file of an older form out of the way, whose answers hold no longer. Gives what is to be told of that.
    pub fn retire_older() -> Option<String> {
        retire_older_in(&config::user_folder()?)
    }

    /// The identity of a server. It is the same from one process to the next only where the key can be kept.
    pub(crate) fn identity(&self, server: &Server) -> String {
        let key = self.key().unwrap_or_else(|_| Key::of_process());
        identity(&key, &server.connection)
    }

    fn key(&self) -> Result<Key, String> {
        let read = || {
            let file = self.key_file.as_ref().ok_or("there is no state folder of yours to keep a key in")?;
            Key::at(file).map_err(|error| format!("the key {} can't be used: {error}", file.display()))
        };
        self.key.get_or_init(read).clone()
    }

    /// Whether a tool was allowed.
    pub(crate) fn has(&self, wanted: &RequestedTool) -> bool {
        self.content.has(&wanted.reached, &wanted.tool, &wanted.hash)
    }

    /// Adds tools, with what other processes have added in the meantime.
    ///
    /// # Errors
    /// Why that is not written down, for people.
    pub(crate) fn add(&mut self, tools: &[RequestedTool]) -> Result<(), String> {
        let Some(file) = self.file.clone() else {
            return Err(
                "the answer holds for this time only: there is no folder of yours to keep it in".into()
            );
        };
        self.key().map_err(|why| format!("the answer holds for this time only: {why}"))?;
        let failed = |error: &dyn std::fmt::Display| {
            format!("the answer holds for this time only: {} can't be written: {error}", file.display())
        };
        let folder = file::folder_of(&file);
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        // Until the end of this function nobody else writes (flock(2)).
        let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        let _held = held.map_err(|error| failed(&error))?;
        let mut content = read(&file).map_err(|wrong| failed(&wrong))?.unwrap_or_default();
        content.version = VERSION;
        let known = |wanted: &&RequestedTool| !wanted.hash.is_empty() && !wanted.reached.is_empty();
        for wanted in tools.iter().filter(known) {
            let allowed = content.servers.entry(wanted.reached.clone()).or_default();
            allowed.name.clone_from(&wanted.server);
            allowed.allow.insert(wanted.tool.clone(), wanted.hash.clone());
        }
        write(&file, &content).map_err(|error| failed(&error))?;
        self.content = content;
        Ok(())
    }
}

fn retire_older_in(folder: &Path) -> Option<String> {
    let file = folder.join(FILE);
    // Whatever else is wrong with it is told by those who use it.
    if !matches!(file::read(&file, LONGEST), Ok(Some(text)) if Content::parse(&text) == Ok(None)) {
        return None;
    }
    let old = folder.join(format!("{FILE}.1"));
    let what = format!(
        "{} is of an older form, which did not say in which folder a server is started, what its program is and what its \
         variables hold: its answers hold no longer, and you are asked again",
        file.display()
    );
    Some(match std::fs::rename(&file, &old) {
        Ok(()) => format!("{what} (it is {} now)", old.display()),
        Err(error) => format!("{what} (it can't be renamed: {error})"),
    })
}

/// The answers in a file; `None` where there is none, or one of an older form.
fn read(file: &Path) -> Result<Option<Content>, String> {
    let wrong = |what: &dyn std::fmt::Display| {
        format!("{} is not what it must be: {what}; correct or delete it", file.display())
    };
    match file::read(file, LONGEST).map_err(|error| wrong(&error))? {
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

    fn wanted(reached: &str, tool: &str, hash: &str) -> RequestedTool {
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
    fn an_answer_is_about_this_tool_of_this_server() {
        let home = tempfile::tempdir().unwrap();
        let (mut one, wrong) = read_in(home.path());
        assert_eq!(wrong, None);
        let (mut other, _) = read_in(home.path());
        one.add(&[wanted("x", "a", "1")]).unwrap();
        other.add(&[wanted("x", "b", "2"), wanted("", "c", "1")]).unwrap();
        let (read, wrong) = read_in(home.path());
        assert_eq!(wrong, None);
        assert!(read.has(&wanted("x", "a", "1")) && read.has(&wanted("x", "b", "2")));
        assert!(!read.has(&wanted("y", "a", "1")), "a server that is reached in another way");
        assert!(!read.has(&wanted("x", "a", "2")), "a tool that has changed");
        assert!(!read.has(&wanted("x", "a", "")) && !read.has(&wanted("x", "c", "")));
        assert!(!read.has(&wanted("", "c", "1")), "a server that is not known");
        let mode = std::fs::metadata(home.path().join("toolsmith").join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn without_a_key_nothing_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let (mut remembered, _) = Remembered::read_in(home.path(), None);
        assert!(remembered.add(&[wanted("x", "a", "1")]).unwrap_err().contains("for this time only"));
        assert!(!home.path().join(FILE).exists());
    }

    #[test]
    fn a_file_that_is_none_is_told_and_left_as_it_is() {
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
            assert!(read.add(&[wanted("x", "a", "1")]).is_err(), "{text}");
            assert_eq!(retire_older_in(&home.path().join("toolsmith")), None);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn an_older_form_grants_nothing_and_is_put_aside_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("toolsmith");
        std::fs::create_dir(&folder).unwrap();
        let text = r#"{ "version": 1, "servers": { "x": { "name": "s", "allow": { "a": "1" } } } }"#;
        std::fs::write(folder.join(FILE), text).unwrap();
        let (read, wrong) = read_in(home.path());
        assert!(wrong.is_none() && !read.has(&wanted("x", "a", "1")));
        assert!(retire_older_in(&folder).unwrap().contains("older form"));
        assert_eq!(retire_older_in(&folder), None);
        assert_eq!(std::fs::read_to_string(folder.join("permissions.json.1")).unwrap(), text);
    }
}
