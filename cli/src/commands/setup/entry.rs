//! Builds the entry for `toolsmith serve` in the format of each client.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, command_line};
use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, Item, Table};

use super::search_path;
use super::text::toml_table;
use crate::arguments::{Client, SetupArguments};
use crate::commands::container::Container;

/// Variables that locate the compilers, the cache, the configuration and the state. Many clients start servers without
/// them.
const PLACES: [&str; 6] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "TOOLSMITH_CACHE_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// The variable with the search path.
const SEARCH_PATH: &str = "PATH";

/// Timeout of calls in opencode, in milliseconds (30 minutes, the default maximum time of an execution). Opencode's own
/// default cancels calls, and so their snippets, after a minute.
const OPENCODE_TIMEOUT: u64 = 1_800_000;

/// Whether a variable locates something, and so is no secret.
pub(crate) fn is_place(name: &str) -> bool {
    name == SEARCH_PATH || PLACES.contains(&name)
}

/// The client's key for servers, as a path.
pub(crate) fn section(client: Client) -> &'static [&'static str] {
    match client {
        Client::Codex => &["mcp_servers"],
        Client::VsCode => &["servers"],
        Client::Opencode => &["mcp"],
        Client::Zed => &["context_servers"],
        Client::ClaudeCode | Client::ClaudeDesktop | Client::Cursor | Client::Gemini | Client::Windsurf => {
            &["mcpServers"]
        }
    }
}

/// Whether the client's configuration is TOML; otherwise it is JSON.
pub(crate) fn is_toml(client: Client) -> bool {
    client == Client::Codex
}

/// Whether the client is a desktop application, which the desktop starts with its own search path.
fn is_desktop(client: Client) -> bool {
    matches!(client, Client::ClaudeDesktop | Client::Cursor | Client::VsCode | Client::Windsurf | Client::Zed)
}

/// The entry of `toolsmith serve`.
#[derive(Debug)]
pub(crate) struct Entry {
    client: Client,
    /// Whether the client calls its tools without asking each time.
    pub(crate) is_approved: bool,
    program: String,
    arguments: Vec<String>,
    /// The variables of `PLACES` that are set.
    variables: BTreeMap<&'static str, String>,
    /// The search path, if the client needs one.
    search_path: Option<String>,
}

impl Entry {
    /// The entry that the arguments describe: for a container or for this program. The path of the configuration must
    /// be absolute.
    pub(crate) fn wanted(
        arguments: &SetupArguments,
        client: Client,
        config: Option<&Path>,
    ) -> Result<Self, Error> {
        let Some(program) = arguments.container else { return Entry::new(client, config) };
        let container = Container { program, image: arguments.image.clone() };
        let (program, arguments) = container.command(config)?;
        // The variables of this process name no places in the container.
        let variables = BTreeMap::new();
        Ok(Entry { client, is_approved: false, program, arguments, variables, search_path: None })
    }

    /// The entry for this program and the configuration, whose path must be absolute.
    pub(crate) fn new(client: Client, config: Option<&Path>) -> Result<Self, Error> {
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
        let search_path = is_desktop(client).then(|| search_path::needed(config)).flatten();
        let program = text(&program)?;
        Ok(Entry { client, is_approved: false, program, arguments, variables, search_path })
    }

    /// Whether an entry of the client starts the same server. The user may have added keys and variables, and the search
    /// path may differ.
    pub(crate) fn is_same(&self, other: &Json) -> bool {
        let ours = self.value();
        let mut keys = ["type", "command", "args"].iter().filter_map(|key| Some((key, ours.get(*key)?)));
        let theirs = other.get(self.environment_key());
        let has = |(name, value): (&&str, &String)| {
            theirs.and_then(|theirs| theirs.get(*name)).and_then(Json::as_str) == Some(value)
        };
        keys.all(|(key, value)| other.get(*key) == Some(value)) && self.variables.iter().all(has)
    }

    fn environment_key(&self) -> &'static str {
        if self.client == Client::Opencode { "environment" } else { "env" }
    }

    /// The complete entry.
    pub(crate) fn value(&self) -> Map<String, Json> {
        let mut entry = Map::new();
        match self.client {
            Client::ClaudeCode | Client::VsCode => drop(entry.insert("type".to_owned(), json!("stdio"))),
            Client::Opencode => drop(entry.insert("type".to_owned(), json!("local"))),
            _ => {}
        }
        if self.client == Client::Opencode {
            let line: Vec<_> = std::iter::once(&self.program).chain(&self.arguments).collect();
            entry.insert("command".to_owned(), json!(line));
        } else {
            entry.insert("command".to_owned(), json!(self.program));
            entry.insert("args".to_owned(), json!(self.arguments));
        }
        let mut variables = self.variables.clone();
        variables.extend(self.search_path.clone().map(|path| (SEARCH_PATH, path)));
        if !variables.is_empty() {
            entry.insert(self.environment_key().to_owned(), json!(variables));
        }
        if self.client == Client::Opencode {
            entry.insert("timeout".to_owned(), json!(OPENCODE_TIMEOUT));
        }
        entry.extend(self.approval());
        entry
    }

    /// The setting that lets the client call without asking, if the user has approved it.
    pub(crate) fn approval(&self) -> Option<(String, Json)> {
        self.approvable().filter(|_| self.is_approved).map(|(key, value)| (key.to_owned(), value))
    }

    /// The setting that lets the client call without asking, if the client has one.
    pub(crate) fn approvable(&self) -> Option<(&'static str, Json)> {
        match self.client {
            Client::Codex => Some(("default_tools_approval_mode", json!("approve"))),
            Client::Gemini => Some(("trust", json!(true))),
            _ => None,
        }
    }

    /// The command line, for display.
    pub(crate) fn line(&self) -> String {
        command_line(&self.program, self.arguments.iter().map(String::as_str))
    }

    /// A configuration file with only this entry.
    pub(crate) fn text(&self, name: &str) -> String {
        let section = section(self.client).join(".");
        let value = Json::Object(self.value());
        if is_toml(self.client) {
            let mut document = DocumentMut::new();
            let mut servers = Table::new();
            servers.set_implicit(true);
            servers.insert(name, Item::Table(toml_table(&value).unwrap_or_default()));
            document.insert(&section, Item::Table(servers));
            return document.to_string();
        }
        let whole = json!({ section: { name: value } });
        format!("{whole:#}\n")
    }
}
