//! A checked configuration, as everything else works with it.

use std::path::PathBuf;

use super::agent::{Agent, Model, Subagent};
use super::code_mode::{CodeMode, DirectNames};
use super::folders::cache_folder;
use super::form::CacheSettings;
use super::layer::ConfigLayer;
use super::locks::LockFile;
use super::policy::{Filter, Glob, Permission, Rules};
use super::serve::Serve;
use super::variables;
use crate::failure::Failure;
use crate::resources::LIST;

/// A checked configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Config {
    /// The servers that can be used, by name.
    pub(crate) servers: Vec<Server>,
    /// The servers that are switched off, or whose entries are wrong, by name.
    pub(crate) absent: Vec<Absent>,
    /// Tools that are neither listed, generated nor callable (`globalSettings.deny`).
    pub(crate) deny: Vec<Glob>,
    /// How tools outside code mode are called.
    pub(crate) direct_names: DirectNames,
    /// What snippets may use.
    pub(crate) code_mode: CodeMode,
    /// What `toolsmith serve` offers, and within what bounds.
    pub(crate) serve: Serve,
    /// How large the cache may be.
    pub(crate) cache: CacheSettings,
    /// Where all this comes from, the weakest first.
    pub(crate) layers: Vec<ConfigLayer>,
    /// The lock files that hold: the user's, and those beside the other files, the weakest layer's first.
    pub(crate) locks: Vec<LockFile>,
    /// The models that can be used, by their `ref`s.
    pub(crate) models: Vec<Model>,
    /// The `ref` of the model where none is chosen.
    pub(crate) model: Option<String>,
    /// The file with the text that a conversation starts with.
    pub(crate) system_prompt: Option<PathBuf>,
    /// Within what bounds a model works.
    pub(crate) agent: Agent,
    /// The subagent that the configuration describes.
    pub(crate) subagent: Option<Subagent>,
    /// What is to be told besides [`Absent::wrong`].
    pub(crate) warnings: Vec<String>,
    /// Which file of a project is left out because nobody has agreed to it, and what a person has to type: one line.
    pub(crate) untrusted: Option<String>,
}

/// A server and what of it may be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Server {
    /// How it is reached.
    pub(crate) connection: mcp::ServerConfig,
    /// Which of its tools are there.
    pub(crate) filter: Filter,
    /// Which of its tools may be called.
    pub(crate) permissions: Rules,
    /// Whether arguments are checked against the tools' input schemas before a call leaves.
    pub(crate) check_input: bool,
    /// Whether snippets may call its tools; otherwise each is called directly.
    pub(crate) code_mode: bool,
    /// Where its entry stands.
    pub(crate) layer: ConfigLayer,
    /// Its command line, or its address, as it is written: variables are not expanded, so that it may be shown.
    pub(crate) target: String,
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Absent {
    pub(crate) name: String,
    /// Its transport, where that much is known.
    pub(crate) transport: Option<&'static str>,
    /// Where its entry stands.
    pub(crate) layer: ConfigLayer,
    /// What is wrong with its entry: file, line, column and what to do. `None` where it is switched off.
    pub(crate) wrong: Option<String>,
}

impl CacheSettings {
    /// Opens the cache.
    ///
    /// # Errors
    /// Where its folder is not known, or can't be used.
    pub(crate) fn open(&self) -> Result<runner::Cache, Failure> {
        let folder = cache_folder().map_err(Failure::configuration)?;
        runner::Cache::open(&folder, self.size).map_err(Failure::host)
    }
}

impl Server {
    /// A server of no file: all its tools, of which each is asked about. `target` may be shown.
    pub(crate) fn new(connection: mcp::ServerConfig, target: String) -> Self {
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
    pub(crate) fn variables(&self) -> impl Iterator<Item = String> {
        variables::names(&self.target).into_iter().filter_map(|name| std::env::var(name).ok())
    }
}

impl Config {
    /// What is to be told before the configuration is used: what is wrong with servers that are left out, and warnings.
    pub(crate) fn complaints(&self) -> impl Iterator<Item = &str> {
        let wrong = self.absent.iter().filter_map(|absent| absent.wrong.as_deref());
        self.warnings.iter().map(String::as_str).chain(wrong)
    }

    /// A server by its name.
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.connection.name == name)
    }

    /// Whether nothing is configured but the built-in demo server.
    pub(crate) fn is_demo(&self) -> bool {
        self.servers.iter().any(|server| server.layer == ConfigLayer::Demo)
    }

    /// Whether a tool is there: neither filtered out nor denied for all servers.
    pub(crate) fn admits(&self, server: &str, tool: &str) -> bool {
        let filter = self.server(server).map_or(&Filter::All, |server| &server.filter);
        filter.admits(tool) && !self.denies(server, tool)
    }

    /// Whether `globalSettings.deny` names something of a server, whatever its filter of tools says.
    pub(crate) fn denies(&self, server: &str, name: &str) -> bool {
        self.deny.iter().any(|glob| glob.fits_tool(server, name))
    }

    /// Whether agents and programs may see which resources a server has.
    pub(crate) fn lists_resources(&self, server: &str) -> bool {
        !self.denies(server, LIST) && self.permission(server, LIST) != Permission::Deny
    }

    /// Whether snippets may call a tool.
    pub(crate) fn in_code_mode(&self, server: &str, tool: &str) -> bool {
        self.admits(server, tool) && !self.is_direct(server, tool)
    }

    /// All that [`Config::in_code_mode`] depends on for a server, as text to hash.
    pub(crate) fn selection(&self, server: &str) -> String {
        let filter = self.server(server).map(|server| &server.filter);
        let CodeMode { enabled, excluded, .. } = &self.code_mode;
        let code_mode = self.server(server).is_none_or(|server| server.code_mode);
        format!("{filter:?} {:?} {enabled} {code_mode} {excluded:?}", self.deny)
    }

    /// Whether a tool is called directly, and not from snippets.
    pub(crate) fn is_direct(&self, server: &str, tool: &str) -> bool {
        let excluded = &self.code_mode.excluded;
        let left_out = self.server(server).is_some_and(|server| !server.code_mode);
        !self.code_mode.enabled || left_out || excluded.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Whether a tool may be called. One of a server that is not configured can't be: a call says so, which no rule
    /// does.
    pub(crate) fn permission(&self, server: &str, tool: &str) -> Permission {
        self.server(server).map_or(Permission::Allow, |server| server.permissions.of(tool))
    }
}
