//! The tools of one execution: cached lists, and lists requested from servers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Server};
use futures::FutureExt as _;
use futures::future::join_all;
use report::{Kind, Report};
use runner::{Cache, Catalog, Outcome, Request, Status};
use snippet::Code;
use terminal::Notifier;

use crate::catalog::{self, ServerIntroduction, ToolLists};
use crate::config_secrets;
use crate::failure::Failure;
use crate::login_hook::LoginHook;
use crate::pins::{Difference, Known, Pins};
use crate::program_crate::{OUTDATED, ProgramCrate};
use crate::session_host::SessionHost;
use crate::sessions::{Opened, Sessions};
use crate::tool_list::ToolList;
use crate::unavailable::{STARTING, UnavailableTools};
use crate::unmatched;

/// Time limit for listing tools again after a snippet did not compile against the cached ones.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

/// The known tools of the servers, and the sessions opened to list them.
pub struct Discovery<'a> {
    config: &'a Arc<Config>,
    notifier: Notifier,
    cache: Cache,
    lists: ToolLists,
    /// The sessions opened to list tools.
    pub sessions: Sessions,
    /// Whether the tools are those of a crate, and stay.
    is_fixed: bool,
    /// Whether any list is from the cache and was not checked.
    remembered: bool,
    /// Warnings that were shown: about tools that differ from their pins, and about names that no tool has.
    noted: BTreeSet<String>,
    /// The reasons why servers have no list, by server.
    reasons: BTreeMap<String, String>,
}

impl<'a> Discovery<'a> {
    /// No list yet; `known` is what the lock files say of tools.
    pub fn new(config: &'a Arc<Config>, host: Arc<dyn SessionHost>, cache: Cache, known: Known) -> Self {
        let notifier = host.notifier();
        let mut sessions = Sessions::new(config.clone(), config_secrets::masker(config), host);
        sessions.hold_to(known.pins.clone());
        Discovery {
            config,
            notifier,
            cache,
            lists: ToolLists::new(known),
            sessions,
            is_fixed: false,
            remembered: false,
            noted: BTreeSet::new(),
            reasons: BTreeMap::new(),
        }
    }

    /// The tools and bindings of a crate. They are fixed, whatever the servers offer now.
    pub fn of_crate(
        config: &'a Arc<Config>,
        host: Arc<dyn SessionHost>,
        cache: Cache,
        program: ProgramCrate,
        pins: Pins,
    ) -> Self {
        let known = Known { observed: program.observed, pins };
        let mut discovery = Discovery { is_fixed: true, ..Discovery::new(config, host, cache, known) };
        for (server, tools, source) in program.servers {
            discovery.lists.insert_with_source(&server, tools.clone(), source);
            discovery.sessions.pin(&server, tools, OUTDATED);
        }
        discovery
    }

    /// Offers the user the logins that servers require.
    pub fn offer_logins(&mut self, hook: Arc<dyn LoginHook>) {
        self.sessions.offer_logins(hook);
    }

    /// Takes `tools` as those of `server`, to compile against and to expect in sessions.
    fn accept(&mut self, server: &str, tools: Arc<ToolList>) {
        let admits = |tool: &str| self.config.admits(server, tool);
        let found = self.lists.pins().differences(server, &tools, admits);
        let mut warnings: Vec<String> = found.iter().filter_map(Difference::note).collect();
        warnings.extend(unmatched::of_server(self.config, server, &tools));
        self.warn_once(warnings);
        self.lists.insert(server, tools.clone());
        self.sessions.expect(server, tools);
    }

    /// Shows warnings unless quiet, each once, even if the same list is accepted again.
    fn warn_once(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if self.noted.insert(warning.clone()) {
                self.notifier.note(&format!("warning: {warning}"));
            }
        }
    }

    /// Gets the lists of all servers, from the cache or from the server. A server that fails is reported and skipped;
    /// if all fail, that is an error.
    pub async fn discover(&mut self) -> Result<(), Failure> {
        let config = self.config;
        self.discover_some(&config.servers.iter().collect::<Vec<_>>()).await
    }

    /// Like [`Discovery::discover`], but without cached lists it asks only the servers that a snippet needs.
    pub async fn discover_for(&mut self, code: &Code) -> Result<(), Failure> {
        self.discover_some(&needed(self.config, code.path_heads())).await
    }

    /// Starts the sessions with the servers whose modules a snippet names, in the background.
    pub fn start_sessions(&self, code: &Code) {
        for server in named(self.config, code.path_heads()) {
            drop(self.sessions.start(&server.connection.name));
        }
    }

    async fn discover_some(&mut self, needed: &[&Server]) -> Result<(), Failure> {
        for server in &self.config.servers {
            if let Some(tools) = catalog::remembered(&self.cache, server) {
                self.remembered = true;
                self.accept(&server.connection.name, Arc::new(tools));
            }
        }
        let unknown: Vec<&Server> =
            needed.iter().filter(|server| !self.lists.has(&server.connection.name)).copied().collect();
        let failures = self.ask(&unknown).await?;
        self.warn_once(unmatched::of_all(self.config, &self.lists.all()));
        if failures.len() < self.config.servers.len() {
            for failure in &failures {
                self.notifier.note(&format!("warning: {}", failure.for_terminal()));
            }
            return Ok(());
        }
        Report::joined(failures).map_or(Ok(()), |all| Err(all.into()))
    }

    /// Asks servers for their tools; returns the errors.
    pub async fn ask(&mut self, servers: &[&Server]) -> Result<Vec<Report>, Failure> {
        let opened =
            join_all(servers.iter().map(|server| self.sessions.start(&server.connection.name))).await;
        let mut failures = Vec::new();
        for (server, opened) in servers.iter().zip(opened) {
            match opened {
                // The server is used without tools; if no other is left, it counts as failed.
                Ok(opened) if !opened.is_whole => {
                    self.reasons.insert(server.connection.name.clone(), opened.warnings.join("; "));
                    let named = |warning: String| {
                        Report::new(Kind::Server, format!("{}: {warning}", server.connection.name))
                    };
                    failures.extend(opened.warnings.into_iter().map(named));
                    // The server may be able to list its tools the next time.
                    self.accept(&server.connection.name, opened.tools);
                }
                Ok(opened) => {
                    let name = &server.connection.name;
                    for warning in &opened.warnings {
                        self.notifier.note(&format!("warning: {name}: {warning}"));
                    }
                    self.keep_opened(&server.connection.name, opened)?;
                }
                Err(error) => {
                    self.reasons.insert(server.connection.name.clone(), error.report.message());
                    failures.push(error.report);
                }
            }
        }
        Ok(failures)
    }

    /// Keeps the list of a session, and the server's introduction, from which `serve` describes it to models.
    fn keep_opened(&mut self, name: &str, opened: Opened) -> Result<(), Failure> {
        if let Some(server) = self.config.server(name) {
            let introduction = ServerIntroduction::of(&opened.session, self.sessions.masker());
            // Without it, the server is described once it has answered.
            let _ = catalog::remember_introduction(&self.cache, server, &introduction);
        }
        self.keep(name, opened.tools)
    }

    fn keep(&mut self, name: &str, tools: Arc<ToolList>) -> Result<(), Failure> {
        let server = self.config.servers.iter().find(|server| server.connection.name == name);
        if let Some(server) = server {
            catalog::remember(&self.cache, server, &tools).map_err(|error| {
                let advice = system::file::advice(&error);
                Failure::new(Kind::Cache, format!("the cache can't be written to: {error}"))
                    .caused_by(error)
                    .hint(format!("{advice}, or name another folder in TOOLSMITH_CACHE_DIR"))
            })?;
        }
        self.accept(name, tools);
        Ok(())
    }

    /// The lists, by server.
    pub fn lists(&self) -> &ToolLists {
        &self.lists
    }

    /// The tools that can't be used, and why.
    pub fn missing(&self) -> Arc<UnavailableTools> {
        Arc::new(UnavailableTools::new(self.config, self.lists.pins(), self.lists.all(), &self.reasons))
    }

    /// The bindings of all known tools.
    pub fn catalog(&self) -> Catalog {
        self.lists.generate(&self.cache, self.config, &self.notifier).with_absences(self.missing())
    }

    /// Refreshes the tools if a text failed, before it ran, against outdated ones. Returns whether to compile it again.
    pub async fn has_changed_since(&mut self, outcome: &Outcome, request: &Request) -> Result<bool, Failure> {
        if self.is_fixed {
            return Ok(false);
        }
        let is_outdated = match outcome.status {
            // A snippet that does not compile against cached tools may compile against the current ones.
            Status::CompileError => std::mem::take(&mut self.remembered),
            _ => outcome.error.as_ref().is_some_and(|error| error.kind == "server_unavailable"),
        };
        if outcome.diagnostics.iter().any(|diagnostic| diagnostic.code.is_none()) {
            return Ok(false);
        }
        let limit = REFRESH_TIMEOUT.min(request.timeout);
        if is_outdated && self.refresh(&request.code, limit).await? {
            return Ok(true);
        }
        Ok(outcome.has_unresolved() && self.ask_the_others(limit).await?)
    }

    /// Asks the servers that a snippet needs again, for at most `timeout`; returns whether any tools have changed.
    async fn refresh(&mut self, code: &Code, timeout: Duration) -> Result<bool, Failure> {
        let servers = needed(self.config, code.path_heads());
        let opening = servers.iter().map(|server| self.sessions.start(&server.connection.name));
        let opening = join_all(opening.collect::<Vec<_>>());
        if tokio::time::timeout(timeout, opening).await.is_err() {
            self.notifier.note("warning: a server did not answer; its cached tools are used");
        }
        let changed = self.sessions.changed();
        let any = !changed.is_empty();
        for (name, tools) in changed {
            self.keep(&name, tools)?;
        }
        Ok(any)
    }

    /// Asks the remaining servers, because a snippet uses a name that no known server has; waits at most `timeout`.
    /// Returns whether any has answered.
    async fn ask_the_others(&mut self, timeout: Duration) -> Result<bool, Failure> {
        let config = self.config;
        let is_new = |server: &&Server| {
            let name = &server.connection.name;
            !self.lists.has(name) && !self.reasons.contains_key(name)
        };
        let others: Vec<&Server> = config.servers.iter().filter(is_new).collect();
        let before = self.lists.all().len();
        // These failures are not part of the snippet's error; the catalog contains them.
        match tokio::time::timeout(timeout, self.ask(&others)).await {
            Ok(asked) => drop(asked?),
            Err(_) => self.keep_those_that_answered(&others).await?,
        }
        Ok(self.lists.all().len() > before)
    }

    async fn keep_those_that_answered(&mut self, servers: &[&Server]) -> Result<(), Failure> {
        for server in servers {
            let name = &server.connection.name;
            match self.sessions.start(name).now_or_never() {
                Some(Ok(opened)) => self.keep_opened(name, opened)?,
                Some(Err(error)) => drop(self.reasons.insert(name.clone(), error.report.message())),
                None => drop(self.reasons.insert(name.clone(), STARTING.to_owned())),
            }
        }
        Ok(())
    }
}

/// Snippet functions that search all servers.
const LOOK_UPS: [&str; 2] = ["search_tools", "describe_tools"];

/// The servers that a snippet with these names needs: those whose modules it names, or all if it looks tools up.
pub fn needed<'a>(config: &'a Arc<Config>, names: &BTreeSet<String>) -> Vec<&'a Server> {
    if LOOK_UPS.iter().any(|function| names.contains(*function)) {
        return config.servers.iter().collect();
    }
    named(config, names)
}

/// The servers whose modules are among `names`.
fn named<'a>(config: &'a Arc<Config>, names: &BTreeSet<String>) -> Vec<&'a Server> {
    let modules = codegen::module_names(config.servers.iter().map(|server| server.connection.name.as_str()));
    let is_named =
        |server: &&Server| modules.get(&server.connection.name).is_some_and(|module| names.contains(module));
    config.servers.iter().filter(is_named).collect()
}
