//! Builds the entry for `toolsmith serve` in the format of each client.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, command_line};
use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

use crate::arguments::Client;

/// Variables that locate the compilers, the cache and the configuration. Many clients start servers without them.
const PLACES: [&str; 5] =
    ["CARGO_HOME", "RUSTUP_HOME", "TOOLSMITH_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];

/// Timeout of calls in opencode, in milliseconds (30 minutes, the default maximum time of an execution). Opencode's own
/// default cancels calls, and so their snippets, after a minute.
const OPENCODE_TIMEOUT: u64 = 1_800_000;

/// The entry of `toolsmith serve`.
#[derive(Debug)]
pub(super) struct Entry {
    client: Client,
    /// Whether the client calls its tools without asking each time.
    pub(super) is_approved: bool,
    program: String,
    arguments: Vec<String>,
    /// The variables of `PLACES` that are set.
    variables: BTreeMap<&'static str, String>,
}

impl Entry {
    /// The entry for this program and the configuration, whose path must be absolute.
    pub(super) fn new(client: Client, config: Option<&Path>) -> Result<Self, Error> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                Error::new(format!("{} is not UTF-8, and clients can't start it", path.display()))
            })
        };
        let program = std::env::current_exe()
            .map_err(|error| Error::new(format!("this program can't be found: {error}")))?;
        let mut arguments = vec!["serve".to_owned()];
        if let Some(config) = config {
            arguments.extend(["--config".to_owned(), text(config)?]);
        }
        let mut variables = BTreeMap::new();
        for name in PLACES {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
                variables.insert(name, text(Path::new(&value))?);
            }
        }
        Ok(Entry { client, is_approved: false, program: text(&program)?, arguments, variables })
    }

    /// The client's key for servers.
    pub(super) fn section(&self) -> &'static str {
        match self.client {
            Client::Codex => "mcp_servers",
            Client::VsCode => "servers",
            Client::Opencode => "mcp",
            Client::ClaudeCode | Client::ClaudeDesktop | Client::Cursor | Client::Gemini => "mcpServers",
        }
    }

    /// Whether the client's configuration is TOML; otherwise it is JSON.
    pub(super) fn is_toml(&self) -> bool {
        self.client == Client::Codex
    }

    /// The keys that identify the entry; the user may add others.
    pub(super) fn essence(&self) -> Map<String, Json> {
        let mut entry = Map::new();
        let is_opencode = self.client == Client::Opencode;
        match self.client {
            Client::ClaudeCode | Client::VsCode => drop(entry.insert("type".to_owned(), json!("stdio"))),
            Client::Opencode => drop(entry.insert("type".to_owned(), json!("local"))),
            Client::Codex | Client::ClaudeDesktop | Client::Cursor | Client::Gemini => {}
        }
        if is_opencode {
            let line: Vec<_> = std::iter::once(&self.program).chain(&self.arguments).collect();
            entry.insert("command".to_owned(), json!(line));
        } else {
            entry.insert("command".to_owned(), json!(self.program));
            entry.insert("args".to_owned(), json!(self.arguments));
        }
        if !self.variables.is_empty() {
            let key = if is_opencode { "environment" } else { "env" };
            entry.insert(key.to_owned(), json!(self.variables));
        }
        entry
    }

    /// The complete entry.
    pub(super) fn value(&self) -> Map<String, Json> {
        let mut entry = self.essence();
        if self.client == Client::Opencode {
            entry.insert("timeout".to_owned(), json!(OPENCODE_TIMEOUT));
        }
        entry.extend(self.approval());
        entry
    }

    /// The setting that lets the client call without asking, if the user has approved it.
    pub(super) fn approval(&self) -> Option<(String, Json)> {
        self.approvable().filter(|_| self.is_approved).map(|(key, value)| (key.to_owned(), value))
    }

    /// The setting that lets the client call without asking, if the client has one.
    pub(super) fn approvable(&self) -> Option<(&'static str, Json)> {
        match self.client {
            Client::Codex => Some(("default_tools_approval_mode", json!("approve"))),
            Client::Gemini => Some(("trust", json!(true))),
            Client::ClaudeCode
            | Client::Opencode
            | Client::ClaudeDesktop
            | Client::Cursor
            | Client::VsCode => None,
        }
    }

    /// The entry as a TOML table.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new();
        table.insert("command", value(&self.program));
        table.insert("args", value(self.arguments.iter().collect::<toml_edit::Array>()));
        if !self.variables.is_empty() {
            let variables = self.variables.iter().map(|(name, place)| (*name, place.as_str()));
            table.insert("env", value(variables.collect::<InlineTable>()));
        }
        if let Some((key, Json::String(mode))) = self.approval() {
            table.insert(&key, value(mode));
        }
        table
    }

    /// The command line, for display.
    pub(super) fn line(&self) -> String {
        command_line(&self.program, self.arguments.iter().map(String::as_str))
    }

    /// A configuration file with only this entry.
    pub(super) fn text(&self, name: &str) -> String {
        if self.is_toml() {
            let mut document = DocumentMut::new();
            let mut section = Table::new();
            section.set_implicit(true);
            section.insert(name, Item::Table(self.table()));
            document.insert(self.section(), Item::Table(section));
            return document.to_string();
        }
        let whole = json!({ self.section(): { name: self.value() } });
        format!("{whole:#}\n")
    }
}
