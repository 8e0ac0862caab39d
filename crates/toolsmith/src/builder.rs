//! The parts of a [`Toolsmith`].

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Glob};
use gateway::config_secrets;
use mcp::Transport;
use report::{Kind, Report};
use runner::{Cache, Engine, NoSink, Sink};

use crate::event::Listening;
use crate::local::LocalTools;
use crate::permission::{Decision, PermissionRequest, ask};
use crate::tool::Tool;
use crate::toolsmith::{Inner, Toolsmith};
use crate::{Error, Event, IntoTool, Server, permission};

/// Describes a [`Toolsmith`]: its servers, its tools, and what snippets may do.
#[derive(Default)]
pub struct Builder {
    servers: Vec<(String, Server)>,
    tools: BTreeMap<String, Vec<Tool>>,
    config: Config,
    allowed: Vec<String>,
    permission: Option<permission::Ask>,
    cache: Option<PathBuf>,
    helper: Option<PathBuf>,
    events: Option<Arc<dyn Sink>>,
}

impl Toolsmith {
    /// Begins with no servers and no tools.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Adds an MCP server. Its name is that of the module of its functions; letters, digits, `_` and `-`.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>, server: Server) -> Self {
        self.servers.push((name.into(), server));
        self
    }

    /// Adds a function of this program, as a tool of the server that it names.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        let tool = tool.into_tool();
        self.tools.entry(tool.server.clone()).or_default().push(tool);
        self
    }

    /// Allows calls of these tools without a question: `server.tool`, in which `*` matches any text.
    #[must_use]
    pub fn allow(mut self, tools: impl Into<String>) -> Self {
        self.allowed.push(tools.into());
        self
    }

    /// Removes these tools: `server.tool` or `tool`, in which `*` matches any text. They are neither described nor called.
    #[must_use]
    pub fn deny(mut self, tools: &str) -> Self {
        self.config.deny.push(Glob::new(tools));
        self
    }

    /// Asks before a program runs that can call tools which [`Builder::allow`] does not name. Without it, such programs are
    /// refused. The callback returns a [`Decision`], or whether it is allowed once. Time limits are paused meanwhile.
    #[must_use]
    pub fn permission<F, D>(
        mut self,
        callback: impl Fn(PermissionRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = D> + Send + 'static,
        D: Into<Decision> + 'static,
    {
        self.permission = Some(ask(callback));
        self
    }

    /// Marks answers of these tools as private: afterwards, calls of [external](Builder::external) tools are asked about.
    #[must_use]
    pub fn private(mut self, tools: &str) -> Self {
        self.config.flows.private.push(Glob::new(tools));
        self
    }

    /// Marks answers of these tools as untrusted: afterwards, calls of [external](Builder::external) tools are asked about.
    #[must_use]
    pub fn untrusted(mut self, tools: &str) -> Self {
        self.config.flows.untrusted.push(Glob::new(tools));
        self
    }

    /// Marks these tools as ones whose calls leave, or change the world.
    #[must_use]
    pub fn external(mut self, tools: &str) -> Self {
        self.config.flows.external.push(Glob::new(tools));
        self
    }

    /// Sets the time limit of an execution (default: 120 s).
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.config.code_mode.timeout = limit;
        self.config.code_mode.max_timeout = self.config.code_mode.max_timeout.max(limit);
        self
    }

    /// Sets the memory limit of a program, in bytes (default: 512 MiB).
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.config.code_mode.limits.memory = bytes;
        self
    }

    /// Sets the folder of the cache. By default it is the user's, which the command line uses as well: `TOOLSMITH_CACHE_DIR`,
    /// or `toolsmith` in `XDG_CACHE_HOME` or `~/.cache`.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Uses this file as the helper of the sandbox: the program `toolsmith-sandbox` of the same version. A relative path is
    /// in the folder of this program. Without it, this program is its own helper, and calls [`helper`](crate::helper) in
    /// `main`.
    #[must_use]
    pub fn helper(mut self, file: impl Into<PathBuf>) -> Self {
        self.helper = Some(file.into());
        self
    }

    /// Reports the long work of [`Builder::build`] at the first use.
    #[must_use]
    pub fn on_event(mut self, callback: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.events = Some(Arc::new(Listening(Arc::new(callback))));
        self
    }

    /// Finds the toolchain, and builds the crates for snippets at the first use, which takes about a minute. Servers are
    /// started by the first snippet that names them.
    ///
    /// # Errors
    /// If a name is invalid or used twice, if the machine can't confine processes, or if there is no suitable toolchain.
    pub async fn build(mut self) -> Result<Toolsmith, Error> {
        for (server, tools) in std::mem::take(&mut self.tools) {
            let tools = Server::new(Transport::InProcess(Arc::new(LocalTools::new(&server, tools)?)));
            self.servers.push((server, tools));
        }
        self.servers.sort_by(|one, other| one.0.cmp(&other.0));
        if let Some(pair) = self.servers.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("two servers have the name {:?}", pair[0].0);
            return Err(Report::new(Kind::Configuration, message).hint("give each another name").into());
        }
        for (name, server) in std::mem::take(&mut self.servers) {
            config::check_server_name(&name).map_err(|error| {
                Report::new(Kind::Configuration, format!("the server {name:?} can't be used: {error}"))
            })?;
            self.config.servers.push(server.entry(&name));
        }
        // The file of statistics is for the command line.
        self.config.stats = false;
        check_helper(self.helper.as_deref())?;
        let folder = match self.cache {
            Some(folder) => folder,
            None => config::cache_folder().map_err(Report::from)?,
        };
        let cache = Cache::open(&folder, self.config.cache.size)?;
        let options = self.config.code_mode.engine(cache.clone());
        let engine = Engine::open(&options, self.events.as_deref().unwrap_or(&NoSink)).await?;
        Ok(Toolsmith {
            inner: Arc::new(Inner {
                masker: config_secrets::masker(&self.config),
                config: Arc::new(self.config),
                allowed: self.allowed,
                cache,
                engine,
                permission: self.permission,
                answers: Arc::default(),
                flows: flows::State::default(),
            }),
        })
    }
}

/// Chooses the helper of the sandbox.
///
/// # Errors
/// If there is none: then confining a compiler would start this program once more.
fn check_helper(file: Option<&Path>) -> Result<(), Report> {
    if let Some(file) = file {
        sandbox::use_helper(file);
    }
    let message = match file {
        _ if sandbox::has_helper() => return Ok(()),
        Some(file) => format!("{} can't be the helper of the sandbox", file.display()),
        None => "this program has no helper for the sandbox".to_owned(),
    };
    Err(Report::new(Kind::Sandbox, message).hint("call toolsmith::helper() first in `main`").hint(
        "or name the program toolsmith-sandbox of the same version: Builder::helper(\"toolsmith-sandbox\")",
    ))
}
