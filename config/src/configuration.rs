//! A checked configuration, as everything else works with it.

use std::path::PathBuf;

use super::agent::{Agent, Model, Subagent};
use super::code_mode::{CodeMode, DirectNames};
use super::config_layer::ConfigLayer;
use super::locks::{self, LockFile};
use super::permissions::{Filter, Glob, Permission, Rules};
use super::serve::Serve;
use super::top_level::CacheSettings;
use super::variables;

/// A checked configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The servers that can be used, by name.
    pub servers: Vec<Server>,
    /// The servers that are switched off, or whose entries are wrong, by name.
    pub absent: Vec<Absent>,
    /// Tools that are neither listed, generated nor callable (`globalSettings.deny`).
    pub deny: Vec<Glob>,
    /// How tools outside code mode are called.
    pub direct_names: DirectNames,
    /// What snippets may use.
    pub code_mode: CodeMode,
    /// What `toolsmith serve` offers, and within what bounds.
    pub serve: Serve,
    /// How large the cache may be.
    pub cache: CacheSettings,
    /// Where all this comes from, the weakest first.
    pub layers: Vec<ConfigLayer>,
    /// The lock files that hold: the user's, and those beside the other files, the weakest layer's first.
    pub locks: Vec<LockFile>,
    /// The models that can be used, by their `ref`s.
    pub models: Vec<Model>,
    /// The `ref` of the model where none is chosen.
    pub model: Option<String>,
    /// The file with the text that a conversation starts with.
    pub system_prompt: Option<PathBuf>,
    /// Within what bounds a model works.
    pub agent: Agent,
    /// The subagent that the configuration describes.
    pub subagent: Option<Subagent>,
    /// What is to be told besides [`Absent::wrong`].
    pub warnings: Vec<String>,
    /// Which file of a project is left out because nobody has agreed to it, and what a person has to type: one line.
    pub untrusted: Option<String>,
}

/// A server and what of it may be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// How it is reached.
    pub connection: mcp::ServerConfig,
    /// Which of its tools are there.
    pub filter: Filter,
    /// Which of its tools may be called.
    pub permissions: Rules,
    /// Whether arguments are checked against the tools' input schemas before a call leaves.
    pub check_input: bool,
    /// Whether snippets may call its tools; otherwise each is called directly.
    pub code_mode: bool,
    /// Where its entry stands.
    pub layer: ConfigLayer,
    /// Its command line, or its address, as it is written: variables are not expanded, so that it may be shown.
    pub target: String,
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// Its name.
    pub name: String,
    /// Its transport, where that much is known.
    pub transport: Option<&'static str>,
    /// Where its entry stands.
    pub layer: ConfigLayer,
    /// What is wrong with its entry: file, line, column and what to do. `None` where it is switched off.
    pub wrong: Option<String>,
}

impl Server {
    /// A server of no file: all its tools, of which each is asked about. `target` may be shown.
    pub fn new(connection: mcp::ServerConfig, target: String) -> Self {
        Server {
            connection,
            filter: Filter::All,
            permissions: Rules::default(),
            check_input: true,
            code_mode: true,
            layer: ConfigLayer::Demo,
            target,
        }
    }

    /// The values of the variables in its command line or address.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        variables::names(&self.target).into_iter().filter_map(|name| std::env::var(name).ok())
    }
}

impl Config {
    /// What is to be told before the configuration is used: what is wrong with servers that are left out, and warnings.
    pub fn complaints(&self) -> impl Iterator<Item = &str> {
        let wrong = self.absent.iter().filter_map(|absent| absent.wrong.as_deref());
        self.warnings.iter().map(String::as_str).chain(wrong)
    }

    /// Where in [`Config::locks`] the lock file of a layer's servers is.
    pub fn lock_of(&self, layer: &ConfigLayer) -> Option<usize> {
        locks::position(&self.locks, layer)
    }

    /// A server by its name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.connection.name == name)
    }

    /// Whether nothing is configured but the built-in demo server.
    pub fn is_demo(&self) -> bool {
        self.servers.iter().any(|server| server.layer == ConfigLayer::Demo)
    }

    /// Whether a tool is there: neither filtered out nor denied for all servers.
    pub fn admits(&self, server: &str, tool: &str) -> bool {
        let filter = self.server(server).map_or(&Filter::All, |server| &server.filter);
        filter.admits(tool) && !self.denies(server, tool)
    }

    /// Whether `globalSettings.deny` names something of a server, whatever its filter of tools says.
    pub fn denies(&self, server: &str, name: &str) -> bool {
        self.deny.iter().any(|glob| glob.fits_tool(server, name))
    }

    /// Whether snippets may call a tool.
    pub fn in_code_mode(&self, server: &str, tool: &str) -> bool {
        self.admits(server, tool) && !self.is_direct(server, tool)
    }

    /// All that [`Config::in_code_mode`] depends on for a server, as text to hash.
    pub fn selection(&self, server: &str) -> String {
        let filter = self.server(server).map(|server| &server.filter);
        let CodeMode { enabled, excluded, .. } = &self.code_mode;
        let code_mode = self.server(server).is_none_or(|server| server.code_mode);
        format!("{filter:?} {:?} {enabled} {code_mode} {excluded:?}", self.deny)
    }

    /// Whether a tool is called directly, and not from snippets.
    pub fn is_direct(&self, server: &str, tool: &str) -> bool {
        let excluded = &self.code_mode.excluded;
        let left_out = self.server(server).is_some_and(|server| !server.code_mode);
        !self.code_mode.enabled || left_out || excluded.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Whether a tool may be called. One of a server that is not configured can't be: a call says so, which no rule
    /// does.
    pub fn permission(&self, server: &str, tool: &str) -> Permission {
        self.server(server).map_or(Permission::Allow, |server| server.permissions.of(tool))
    }
}
