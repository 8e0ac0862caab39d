//! Tools that the user has allowed permanently, stored in the user's `permissions.json` next to the configuration.
//!
//! An answer covers one version of a tool on one identity of a server (`identity`): a server of the same name in
//! another project, or a tool that has changed, is asked about again. The file contains neither commands nor values.
//! Each answer says when it was given, and where.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use config::Server;
use report::Kind;
use serde::{Deserialize, Serialize};
use system::file::{self, Access, Durability};
use system::private;

use super::identity::{Key, identity};
use super::requested_tool::RequestedTool;
use crate::failure::Failure;

const FILE: &str = "permissions.json";

/// The file with the key of the identities, in the user's state folder.
const KEY: &str = "permissions.key";

/// The version of the format. In version 1 the identity did not cover everything that decides what is started. In
/// version 2 an answer was only the hash of its tool.
const VERSION: u64 = 3;

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
    /// The answers by tool.
    allow: BTreeMap<String, AllowedTool>,
}

/// An answer about one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedTool {
    /// The hash of the tool's version.
    hash: String,
    /// When the answer was given, in milliseconds since 1970; missing if an older version of Toolsmith has saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    /// Where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<AnsweredBy>,
}

/// Where the user answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// At the terminal.
    Terminal,
    /// Through an MCP client.
    Client,
    /// On the local web page.
    Page,
}

impl AnsweredBy {
    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            AnsweredBy::Terminal => "terminal",
            AnsweredBy::Client => "client",
            AnsweredBy::Page => "page",
        }
    }
}

/// A tool that is allowed from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The server's name when the answer was given.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The hash of the tool's version that the answer covers.
    pub hash: String,
    /// The identity of the server that the answer covers.
    pub reached: String,
    /// When the answer was given, in milliseconds since 1970, if that is known.
    pub since: Option<i64>,
    /// Where it was given, if that is known.
    pub by: Option<AnsweredBy>,
}

/// The answers in a file of version 1 or 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderContent {
    #[serde(rename = "version")]
    _version: u64,
    servers: BTreeMap<String, OlderAllowed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderAllowed {
    name: String,
    /// The hashes of tools by name.
    allow: BTreeMap<String, String>,
}

impl From<OlderContent> for Content {
    fn from(older: OlderContent) -> Self {
        let tool = |(name, hash)| (name, AllowedTool { hash, since: None, by: None });
        let server =
            |OlderAllowed { name, allow }| Allowed { name, allow: allow.into_iter().map(tool).collect() };
        let servers = older.servers.into_iter().map(|(reached, of)| (reached, server(of))).collect();
        Content { version: VERSION, servers }
    }
}

/// The reason why a text has no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContentError {
    /// It is not the JSON of answers.
    #[error(transparent)]
    Json(#[from] strict_json::Error),
    /// It has an unknown version.
    #[error("its version is {0}, and this version of Toolsmith knows those up to {VERSION}")]
    Version(u64),
}

/// The reason why an answer is not saved. The message is for the user.
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
    /// Parses the answers; `None` for version 1, whose answers are no longer valid.
    ///
    /// # Errors
    /// The error in the text.
    pub(crate) fn parse(text: &[u8]) -> Result<Option<Self>, ContentError> {
        let Header { version } = strict_json::from_slice(text)?;
        match version {
            VERSION => Ok(Some(strict_json::from_slice(text)?)),
            1 | 2 => {
                let content: OlderContent = strict_json::from_slice(text)?;
                Ok((version == 2).then(|| content.into()))
            }
            unknown => Err(ContentError::Version(unknown)),
        }
    }

    /// Whether a tool with this hash is allowed, of a server with this identity.
    pub(crate) fn has(&self, identity: &str, tool: &str, hash: &str) -> bool {
        let allowed = self.servers.get(identity).and_then(|allowed| allowed.allow.get(tool));
        !identity.is_empty() && !hash.is_empty() && allowed.is_some_and(|allowed| allowed.hash == hash)
    }
}

impl Remembered {
    /// Reads the user's file; if it has an error, returns that error and no answers.
    pub fn read() -> (Self, Option<String>) {
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
    pub fn identity(&self, server: &Server) -> String {
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

    /// All answers, by server and tool.
    pub fn answers(&self) -> Vec<RememberedAnswer> {
        let servers = self.content.servers.iter();
        let mut answers: Vec<RememberedAnswer> = servers
            .flat_map(|(reached, allowed)| {
                allowed.allow.iter().map(|(tool, answer)| RememberedAnswer {
                    server: allowed.name.clone(),
                    tool: tool.clone(),
                    hash: answer.hash.clone(),
                    reached: reached.clone(),
                    since: answer.since,
                    by: answer.by,
                })
            })
            .collect();
        answers.sort_by(|one, other| {
            (&one.server, &one.tool, other.since).cmp(&(&other.server, &other.tool, one.since))
        });
        answers
    }

    /// Takes back the answers that `is_chosen` accepts, also those that other processes have added. Returns them.
    ///
    /// # Errors
    /// If the file can't be read or written.
    pub fn take_back(
        &mut self,
        is_chosen: impl Fn(&RememberedAnswer) -> bool,
    ) -> Result<Vec<RememberedAnswer>, Failure> {
        let Some(file) = self.file.clone().filter(|file| file.exists()) else { return Ok(Vec::new()) };
        let failed = |error: io::Error| {
            let message = format!("{} can't be written: {error}", file.display());
            Failure::new(Kind::Trust, message).caused_by(error)
        };
        let _held = hold(&file).map_err(failed)?;
        self.content = read(&file).map_err(|wrong| Failure::new(Kind::Trust, wrong))?.unwrap_or_default();
        let chosen: Vec<RememberedAnswer> = self.answers().into_iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            return Ok(chosen);
        }
        let mut content = Content { version: VERSION, ..self.content.clone() };
        for answer in &chosen {
            if let Some(allowed) = content.servers.get_mut(&answer.reached) {
                allowed.allow.remove(&answer.tool);
            }
        }
        content.servers.retain(|_, allowed| !allowed.allow.is_empty());
        write(&file, &content).map_err(failed)?;
        self.content = content;
        Ok(chosen)
    }

    /// Adds tools that the user has allowed now, merged with what other processes have added.
    ///
    /// # Errors
    /// Returns an error if the answer can't be saved.
    pub(crate) fn add(&mut self, tools: &[RequestedTool], by: AnsweredBy) -> Result<(), SaveError> {
        let file = self.file.clone().ok_or(SaveError::NoFolder)?;
        self.key().map_err(SaveError::Key)?;
        let failed = |error| SaveError::Write(file.clone(), error);
        let _held = hold(&file).map_err(failed)?;
        let read = read(&file).map_err(|wrong| SaveError::Read(file.clone(), wrong));
        let mut content = read?.unwrap_or_default();
        content.version = VERSION;
        let known = |requested: &&RequestedTool| !requested.hash.is_empty() && !requested.reached.is_empty();
        for requested in tools.iter().filter(known) {
            let allowed = content.servers.entry(requested.reached.clone()).or_default();
            allowed.name.clone_from(&requested.server);
            let answer = AllowedTool { hash: requested.hash.clone(), since: Some(now()), by: Some(by) };
            allowed.allow.insert(requested.tool.clone(), answer);
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
    match private::read(file, MAX_BYTES).map_err(|error| wrong(&error))? {
        Some(text) => Content::parse(&text).map_err(|what| wrong(&what)),
        None => Ok(None),
    }
}

/// Keeps other processes from writing the file until dropped: locks its folder (flock(2)), which it creates.
fn hold(file: &Path) -> io::Result<File> {
    let folder = file::folder_of(file);
    private::create_inside(folder)?;
    File::open(folder).and_then(|folder| folder.lock().map(|()| folder))
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn write(path: &Path, content: &Content) -> io::Result<()> {
    let text = format!("{:#}\n", serde_json::to_value(content)?);
    file::replace(path, text.as_bytes(), Access::Owner, Durability::Synced)
}

#[cfg(test)]
mod tests;
