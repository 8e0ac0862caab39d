//! A checked configuration, as the other crates use it.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use sandbox::{Confinement, Layers};

use super::agent::{Agent, Model, Subagent};
use super::code_mode::{CodeMode, DirectNames};
use super::config_layer::ConfigLayer;
use super::flows::Flows;
use super::history::History;
use super::identities;
use super::locks::{self, LockFile};
use super::permissions::{Filter, Glob, Permission, Rules};
use super::serve::Serve;
use super::server_form::SessionMode;
use super::top_level::CacheSettings;
use super::{Error, confinement, variables};

/// A checked configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The usable servers, by name.
    pub servers: Vec<Server>,
    /// The servers that are disabled or whose entries have errors, by name.
    pub absent: Vec<Absent>,
    /// Tools that are not listed, generated or callable (`globalSettings.deny`).
    pub deny: Vec<Glob>,
    /// The answers that may not flow into the calls of other tools.
    pub flows: Flows,
    /// The names of tools outside code mode.
    pub direct_names: DirectNames,
    /// The terms of snippets.
    pub code_mode: CodeMode,
    /// The offers and the limits of `toolsmith serve`.
    pub serve: Serve,
    /// The size limit of the cache, and the tools whose results are cached.
    pub cache: CacheSettings,
    /// The history of executions.
    pub history: History,
    /// Whether calls are counted for `toolsmith stats`.
    pub stats: bool,
    /// The MCP registry whose entries are read by their id, if another one than the usual.
    pub registry: Option<url::Url>,
    /// The layers that the configuration was read from, weakest first.
    pub layers: Vec<ConfigLayer>,
    /// The lock files in force: the user's, and those next to the other files, weakest layer first.
    pub locks: Vec<LockFile>,
    /// The available models, by `ref`.
    pub models: Vec<Model>,
    /// The `ref` of the default model.
    pub model: Option<String>,
    /// The file with the system prompt.
    pub system_prompt: Option<PathBuf>,
    /// Limits on a model's work.
    pub agent: Agent,
    /// The subagent that the configuration describes.
    pub subagent: Option<Subagent>,
    /// Warnings to report, in addition to [`Absent::wrong`].
    pub warnings: Vec<String>,
    /// One line that names the skipped untrusted project file and the command that the user has to run.
    pub untrusted: Option<String>,
    /// Where `globalSettings.enabled: false` switches MCP off, as file and line: then all servers are absent.
    pub switched_off: Option<String>,
    /// The tools that the subject of this view may call, as globs of `server.tool`; `None` for all. No file sets it:
    /// see [`Config::restricted`].
    pub access: Option<Vec<Glob>>,
}

/// A server, and which of its tools may be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The connection to it.
    pub connection: mcp::ServerConfig,
    /// The selection of its tools that are available.
    pub filter: Filter,
    /// The selection of its tools that may be called.
    pub permissions: Rules,
    /// Whether arguments are checked against the tools' input schemas before a call leaves.
    pub check_input: bool,
    /// Whether an answer that does not fit the tool's output schema is an error.
    pub check_output: bool,
    /// Whether snippets may call its tools; if not, each is called directly.
    pub code_mode: bool,
    /// The session that the executions of `toolsmith serve` use.
    pub session: SessionMode,
    /// Whether sessions with it may be opened before an execution needs them.
    pub spare: bool,
    /// The layer that contains its entry.
    pub layer: ConfigLayer,
    /// Its command line or address as written: variables are not expanded, so it is safe to show.
    pub target: String,
    /// A note to the user about its entry, safe to show.
    pub note: Option<String>,
    /// How it is confined, if it is: then its connection has a launcher.
    pub sandbox: Option<server_sandbox::Confinement>,
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// Its name.
    pub name: String,
    /// Its transport, if known.
    pub transport: Option<&'static str>,
    /// The layer that contains its entry.
    pub layer: ConfigLayer,
    /// The errors in its entry. `None` if the server is disabled.
    pub wrong: Option<Vec<report::Problem>>,
}

impl Server {
    /// A server without a configuration file: all its tools, each with the permission to ask. `target` must be safe
    /// to show.
    pub fn new(connection: mcp::ServerConfig, target: String) -> Self {
        Server {
            connection,
            filter: Filter::All,
            permissions: Rules::default(),
            check_input: true,
            check_output: true,
            code_mode: true,
            session: SessionMode::Auto,
            spare: true,
            layer: ConfigLayer::Demo,
            target,
            note: None,
            sandbox: None,
        }
    }

    /// Whether each subject of `serve --http` uses it with its own tokens.
    pub fn is_per_subject(&self) -> bool {
        matches!(self.connection.oauth(), Some(mcp::OAuth { grant: mcp::Grant::TokenExchange, .. }))
    }

    /// The server as a subject uses it: with other tokens than everyone else, if each subject has its own.
    pub fn of_subject(&self, subject: Option<&Arc<mcp::TokenSubject>>) -> Cow<'_, Server> {
        if !self.is_per_subject() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Server { connection: self.connection.of_subject(subject), ..self.clone() })
    }

    /// The values of the variables in its command line or address.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        variables::names(&self.target).into_iter().filter_map(|name| std::env::var(name).ok())
    }
}

impl Config {
    /// Returns the reports to make before the configuration is used: warnings, notes on servers, and errors of servers
    /// that are skipped.
    pub fn complaints(&self) -> impl Iterator<Item = String> {
        let wrong = self.absent.iter().filter_map(|absent| absent.wrong.as_deref());
        let notes = self.servers.iter().filter_map(|server| server.note.clone());
        self.warnings.iter().cloned().chain(notes).chain(wrong.map(report::problems))
    }

    /// The index in [`Config::locks`] of the lock file of a layer's servers.
    pub fn lock_of(&self, layer: &ConfigLayer) -> Option<usize> {
        locks::position(&self.locks, layer)
    }

    /// A server by its name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.connection.name == name)
    }

    /// Whether there is an entry of this name, usable or not.
    pub fn has_entry(&self, name: &str) -> bool {
        self.server(name).is_some() || self.absent.iter().any(|absent| absent.name == name)
    }

    /// Confines a server with other settings than its own, for a trial.
    ///
    /// # Errors
    /// If there is no folder for the cache.
    pub fn confinement(
        &self,
        server: &str,
        settings: server_sandbox::Settings,
    ) -> Result<server_sandbox::Confinement, Error> {
        let CodeMode { confinement: of_programs, grants, .. } = &self.code_mode;
        let minimum = match of_programs {
            Confinement::AtLeast(minimum) => *minimum,
            Confinement::Exactly(_) => Layers::LANDLOCK_SECCOMP,
        };
        confinement::of_server(server, settings, minimum, &grants.protected)
    }

    /// Whether the only server is the built-in demo server.
    pub fn is_demo(&self) -> bool {
        self.servers.iter().any(|server| server.layer == ConfigLayer::Demo)
    }

    /// The configuration as a subject may see it that may call only these tools: other tools, and servers without any
    /// of them, are not available.
    #[must_use]
    pub fn restricted(&self, tools: Vec<Glob>) -> Config {
        let mut restricted = self.clone();
        let has_some = |server: &str| tools.iter().any(|glob| glob.fits_some_tool(server));
        restricted.servers.retain(|server| has_some(&server.connection.name));
        restricted.absent.retain(|absent| has_some(&absent.name));
        restricted.access = Some(tools);
        restricted
    }

    /// The configuration with the connections that a subject uses.
    #[must_use]
    pub fn of_subject(self: &Arc<Self>, subject: Option<&Arc<mcp::TokenSubject>>) -> Arc<Self> {
        if subject.is_none() || !self.servers.iter().any(Server::is_per_subject) {
            return Arc::clone(self);
        }
        let mut config = Config::clone(self);
        for server in &mut config.servers {
            *server = server.of_subject(subject).into_owned();
        }
        Arc::new(config)
    }

    /// Whether the subject of this view may use a name of a server.
    pub fn permits(&self, server: &str, name: &str) -> bool {
        self.access.as_ref().is_none_or(|tools| identities::permits(tools, server, name))
    }

    /// Whether a tool is available: neither filtered out nor denied for all servers, and permitted for the subject.
    pub fn admits(&self, server: &str, tool: &str) -> bool {
        let filter = self.server(server).map_or(&Filter::All, |server| &server.filter);
        filter.admits(tool) && !self.denies(server, tool)
    }

    /// Whether `globalSettings.deny` matches a name of a server, or its subject may not use it, regardless of the
    /// server's filter of tools.
    pub fn denies(&self, server: &str, name: &str) -> bool {
        !self.permits(server, name) || self.deny.iter().any(|glob| glob.fits_tool(server, name))
    }

    /// Whether snippets may call a tool.
    pub fn in_code_mode(&self, server: &str, tool: &str) -> bool {
        self.admits(server, tool) && !self.is_direct(server, tool)
    }

    /// Whether results of a tool are cached, provided that the server marks the tool as read-only.
    pub fn caches(&self, server: &str, tool: &str) -> bool {
        self.cache.tools.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Everything that [`Config::in_code_mode`] depends on for a server, as text to hash.
    pub fn selection(&self, server: &str) -> String {
        let filter = self.server(server).map(|server| &server.filter);
        let CodeMode { enabled, excluded, .. } = &self.code_mode;
        let code_mode = self.server(server).is_none_or(|server| server.code_mode);
        let access = self.access.as_ref().map(|access| format!(" {access:?}")).unwrap_or_default();
        format!("{filter:?} {:?} {enabled} {code_mode} {excluded:?}{access}", self.deny)
    }

    /// Whether a tool is called directly, and not from snippets.
    pub fn is_direct(&self, server: &str, tool: &str) -> bool {
        let excluded = &self.code_mode.excluded;
        let left_out = self.server(server).is_some_and(|server| !server.code_mode);
        !self.code_mode.enabled || left_out || excluded.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Whether a tool may be called. For a server that is not configured this is `Allow`: the call itself then fails.
    pub fn permission(&self, server: &str, tool: &str) -> Permission {
        self.server(server).map_or(Permission::Allow, |server| server.permissions.of(tool))
    }
}
