//! What is written: the program, its arguments, and the form that each client wants them in.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

use crate::arguments::Client;
use crate::config::{Error, command_line};

/// Variables that say where the compilers, the cache and the configuration are. Many clients start servers without them.
const PLACES: [&str; 5] =
    ["CARGO_HOME", "RUSTUP_HOME", "TOOLSMITH_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];

/// The entry of `toolsmith serve`.
#[derive(Debug)]
pub(super) struct Entry {
    client: Client,
    program: String,
    arguments: Vec<String>,
    /// Those of `PLACES` that are set.
    variables: BTreeMap<&'static str, String>,
}

impl Entry {
    /// The entry for this program and the configuration, whose path must be absolute.
    pub(super) fn new(client: Client, config: Option<&Path>) -> Result<Self, Error> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| {
                Error::new(format!("{} is no UTF-8 text, which clients can't start", path.display()))
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
        Ok(Entry { client, program: text(&program)?, arguments, variables })
    }

    /// The key under which the client has its servers.
    pub(super) fn section(&self) -> &'static str {
        match self.client {
            Client::Codex => "mcp_servers",
            Client::VsCode => "servers",
            Client::ClaudeCode | Client::ClaudeDesktop | Client::Cursor => "mcpServers",
        }
    }

    /// Whether the client's configuration is TOML; otherwise it is JSON.
    pub(super) fn is_toml(&self) -> bool {
        self.client == Client::Codex
    }

    /// The entry itself.
    pub(super) fn value(&self) -> Map<String, Json> {
        let mut entry = Map::new();
        if matches!(self.client, Client::ClaudeCode | Client::VsCode) {
            entry.insert("type".to_owned(), json!("stdio"));
        }
        entry.insert("command".to_owned(), json!(self.program));
        entry.insert("args".to_owned(), json!(self.arguments));
        if !self.variables.is_empty() {
            entry.insert("env".to_owned(), json!(self.variables));
        }
        entry
    }

    /// The entry as a table of TOML.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new();
        table.insert("command", value(&self.program));
        table.insert("args", value(self.arguments.iter().collect::<toml_edit::Array>()));
        if !self.variables.is_empty() {
            let variables = self.variables.iter().map(|(name, place)| (*name, place.as_str()));
            table.insert("env", value(variables.collect::<InlineTable>()));
        }
        table
    }

    /// The command line, for a person.
    pub(super) fn line(&self) -> String {
        command_line(&self.program, self.arguments.iter().map(String::as_str))
    }

    /// A whole configuration with nothing else in it.
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
