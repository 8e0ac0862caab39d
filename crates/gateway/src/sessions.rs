//! The sessions of one execution, opened for the servers that its program can call.
//!
//! A server is asked for its tools as soon as it is connected. If they differ from those that the program was
//! compiled against, the session is refused, and the caller compiles again with the new list.

mod attempt;
mod connection;
mod resource_lists;
mod resources;
mod shared;
mod spares;
mod tool_host;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use config::{Config, Permission, Server, SessionMode};
use futures::FutureExt;
use futures::future::join_all;
use mcp::{CallOptions, ErrorKind, ServerConfig, Transport};
use parking_lot::{Mutex, MutexGuard};
use report::Report;
use runner::{Answer, CallFailure, FailureKind, ToolHost as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use terminal::Masker;

use crate::call_guard::{Guards, ToolGuard};
use crate::calls::{CallServices, CheckedCall};
use crate::first_start;
use crate::login_hook::LoginHook;
use crate::permission::{ExecutionAnswers, PermissionPolicy, Refusal as Refused, RequestedTool};
use crate::pins::Pins;
use crate::propagation::PassedOn;
use crate::reference::Lookup;
use crate::session_host::SessionHost;
use crate::tool_list::ToolList;
use crate::{view_mark, waiting};

use attempt::{Attempt, Opening};
pub use connection::{Opened, Unopened};
use resource_lists::ResourceLists;
pub use shared::SharedSessions;
use spares::Taken;
pub use spares::{CHECK_INTERVAL, QUIET, Room, SpareSessions};

/// The sessions of one execution.
pub struct Sessions {
    config: Arc<Config>,
    /// The tools that programs are compiled against, by server.
    expected: BTreeMap<String, Arc<ToolList>>,
    /// Servers whose unused tools may differ: only a called tool is compared. With the advice for one that does.
    pinned: BTreeMap<String, &'static str>,
    opening: Mutex<HashMap<String, Attempt>>,
    guards: Guards,
    pins: Pins,
    /// Masks secrets in errors.
    masker: Masker,
    /// Answers servers' questions.
    host: Arc<dyn SessionHost>,
    /// Offers the user the login that a server requires.
    logs_in: Option<Arc<dyn LoginHook>>,
    /// Decides about calls; without it no call is allowed.
    policy: Option<Arc<PermissionPolicy>>,
    /// The user's answers for this execution.
    answers: ExecutionAnswers,
    /// Answers programs' lookups of tools; without it lookups fail.
    lookup: Option<Arc<Lookup>>,
    /// The resources that servers have listed.
    listed: ResourceLists,
    /// The cache of results, and the statistics.
    services: CallServices,
    /// The client on whose behalf calls are made, in the cache of results.
    client: String,
    /// Sessions that were opened before; without them, each session is opened when it is needed.
    spares: Option<Arc<SpareSessions>>,
    /// The client in whose turn they are adopted.
    adopter: String,
    /// The data that calls pass on to servers.
    passed_on: PassedOn,
    /// The niceness of servers that are started for the execution.
    niceness: u8,
    /// The sessions that executions share.
    shared: Option<Arc<dyn SharedSessions>>,
}

impl Sessions {
    /// Creates the sessions of an execution, none open yet; `masker` has the secrets of the configuration.
    pub fn new(config: Arc<Config>, masker: Masker, host: Arc<dyn SessionHost>) -> Self {
        Sessions {
            services: CallServices::new(host.notifier()),
            client: String::new(),
            config,
            expected: BTreeMap::new(),
            pinned: BTreeMap::new(),
            opening: Mutex::default(),
            guards: Guards::default(),
            pins: Pins::default(),
            masker,
            host,
            logs_in: None,
            policy: None,
            answers: ExecutionAnswers::default(),
            lookup: None,
            listed: ResourceLists::default(),
            spares: None,
            adopter: String::new(),
            passed_on: PassedOn::default(),
            niceness: 0,
            shared: None,
        }
    }

    /// The names of the configured servers.
    fn servers(&self) -> impl Iterator<Item = &String> {
        self.config.servers.iter().map(|server| &server.connection.name)
    }

    /// Offers the user at the terminal the logins that servers require.
    pub(crate) fn offer_logins(&mut self, hook: Arc<dyn LoginHook>) {
        self.logs_in = Some(hook);
    }

    /// Refuses calls of tools that differ from their pins.
    pub fn hold_to(&mut self, pins: Pins) {
        self.pins = pins;
    }

    /// Allows the calls that `policy` permits.
    pub fn permit(&mut self, policy: Arc<PermissionPolicy>) {
        self.policy = Some(policy);
    }

    /// Uses the cache of results and the statistics of this process, on behalf of a client.
    pub fn share(&mut self, services: CallServices, client: &str) {
        self.services = services;
        client.clone_into(&mut self.client);
    }

    /// Adopts spare sessions, in turns between clients.
    pub fn adopt_from(&mut self, spares: Arc<SpareSessions>, client: &str) {
        self.spares = Some(spares);
        client.clone_into(&mut self.adopter);
    }

    /// Passes this on to servers in calls.
    pub fn pass_on(&mut self, passed_on: PassedOn) {
        self.passed_on = passed_on;
    }

    /// Lets the servers that are started for it yield to other work: 0 not at all, 19 use only idle processor time.
    pub fn yield_processors(&mut self, niceness: u8) {
        self.niceness = niceness;
    }

    /// Uses these sessions with the servers that they have.
    pub fn use_shared(&mut self, shared: Arc<dyn SharedSessions>) {
        self.shared = Some(shared);
    }

    /// The servers with `session: shared` whose open sessions other executions use as well, by name. State of these may
    /// remain.
    pub fn shared_servers(&self) -> Vec<String> {
        let opening = self.opening();
        let is_marked = |name: &String| {
            self.config.server(name).is_some_and(|server| server.session == SessionMode::Shared)
        };
        let shared = opening.iter().filter(|(name, attempt)| {
            is_marked(name) && attempt.opened().is_some_and(|opened| opened.is_shared)
        });
        let mut names: Vec<String> = shared.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    /// Lets programs look up tools.
    pub fn look_up_in(&mut self, lookup: Arc<Lookup>) {
        self.lookup = Some(lookup);
    }

    /// Refuses a session with `server` unless it offers `tools`.
    pub(crate) fn expect(&mut self, server: &str, tools: Arc<ToolList>) {
        self.expected.insert(server.to_owned(), tools);
    }

    /// States the expected tools, like `expect`, but checks each tool: a changed tool is refused when it is called, with
    /// this advice.
    pub fn pin(&mut self, server: &str, tools: Arc<ToolList>, advice: &'static str) {
        self.pinned.insert(server.to_owned(), advice);
        self.expect(server, tools);
    }

    /// The session with `server` and its tools; starts connecting in the background if there is none.
    pub fn start(&self, server: &str) -> Opening {
        let mut opening = self.opening();
        if let Some(attempt) = opening.get(server) {
            return attempt.opening.clone();
        }
        let Some(server) = self.config.server(server) else {
            let message = format!("the server {server} is not configured");
            return std::future::ready(Err(Unopened::new(message))).boxed().shared();
        };
        first_start::report(server, &self.host.notifier());
        let attempt = self.attempt(server);
        let opening_now = attempt.opening.clone();
        opening.insert(server.connection.name.clone(), attempt);
        opening_now
    }

    fn attempt(&self, server: &Server) -> Attempt {
        let (connection, host) = (&server.connection, self.host.clone());
        if let Some(shared) = self.shared.clone().filter(|shared| shared.has(server)) {
            let (server, own) = (server.clone(), self.connecting(connection));
            return Attempt::start(async move {
                let Some(opened) = shared.session(&server).await? else { return own.await };
                // Servers with a session send their own requests, which no execution can claim.
                let session = match opened.session.is_stateless() {
                    true => opened.session.for_host(host),
                    false => opened.session,
                };
                Ok(Opened { session, is_shared: true, ..opened })
            });
        }
        let taken = self.spares.as_ref().and_then(|spares| spares.take(connection, &*host, &self.adopter));
        let expected = self.expected.get(&connection.name).cloned();
        // A list that is the expected one has been parsed already.
        let parsed = move |opened: Opened| {
            let expected = expected.filter(|expected| expected.digest() == opened.tools.digest());
            Opened { tools: expected.unwrap_or(opened.tools), ..opened }
        };
        let promising = taken.as_ref().and_then(Taken::promising).map(parsed.clone());
        let own = self.connecting(connection);
        let connecting = async move {
            let adopted = match taken {
                Some(taken) => taken.adopt(&host).await,
                None => None,
            };
            match adopted {
                Some(opened) => Ok(parsed(opened)),
                None => own.await.map(parsed),
            }
        };
        match promising {
            Some(open) => Attempt::start_checking(open, connecting),
            None => Attempt::start(connecting),
        }
    }

    /// Opens an own session with a server.
    fn connecting(
        &self,
        connection: &ServerConfig,
    ) -> impl Future<Output = Result<Opened, Unopened>> + Send + use<> {
        let (masker, host, offers) = (self.masker.clone(), self.host.clone(), self.logs_in.clone());
        let mut config = connection.clone();
        if let Transport::Stdio(command) = &mut config.transport {
            command.niceness = self.niceness;
        }
        async move {
            let connecting = Box::pin(connection::connect(&config, &masker, host.clone(), offers));
            waiting::start(&*host, &config, connecting).await
        }
    }

    /// The tools of open sessions that differ from the expected ones.
    pub(crate) fn changed(&self) -> Vec<(String, Arc<ToolList>)> {
        let opening = self.opening();
        let opened =
            opening.iter().filter_map(|(name, attempt)| Some((name, attempt.opening.peek()?.as_ref().ok()?)));
        opened
            .filter(|(name, opened)| self.expected.get(*name).is_some_and(|tools| *tools != opened.tools))
            .map(|(name, opened)| (name.clone(), opened.tools.clone()))
            .collect()
    }

    /// Closes all sessions, and waits until their processes have ended. Cancels connection attempts. Writes the
    /// statistics.
    pub async fn close(self) {
        let attempts = std::mem::take(&mut *self.opening());
        self.report_use(&attempts);
        let closing = attempts.into_values().map(Attempt::close);
        tokio::join!(join_all(closing), self.services.statistics.flush());
    }

    /// Reports the used servers, so that spare sessions are opened for the next execution. An execution that ends
    /// early, because its snippet does not compile for example, may still be opening its sessions.
    fn report_use(&self, attempts: &HashMap<String, Attempt>) {
        let Some(spares) = &self.spares else { return };
        for (name, attempt) in attempts {
            let opened = match attempt.ended() {
                // The server does not start.
                Some(Err(_)) => continue,
                // The next execution uses it too.
                Some(Ok(opened)) if opened.is_shared => continue,
                Some(Ok(opened)) => Some(opened),
                None => None,
            };
            if let Some(server) = self.config.server(name) {
                spares.used(&server.connection, &*self.host, opened);
            }
        }
    }

    fn opening(&self) -> MutexGuard<'_, HashMap<String, Attempt>> {
        self.opening.lock()
    }

    /// The open session with `server`: the one that may be used, if that is known.
    fn opened(&self, server: &str) -> Option<Opened> {
        let opening = self.opening();
        let attempt = opening.get(server)?;
        attempt.usable.peek().or_else(|| attempt.opening.peek())?.as_ref().ok().cloned()
    }

    /// The session with `server`, as soon as it may be used.
    async fn usable(&self, server: &str) -> Result<Opened, CallFailure> {
        let usable = self.current(server);
        let unavailable = |message| CallFailure { kind: FailureKind::Unavailable, message };
        let usable = usable.ok_or_else(|| unavailable(format!("there is no session with {server}")))?;
        usable.await.map_err(|error| unavailable(error.report.for_model()))
    }

    /// The session with `server` that is open, or being opened. One that has ended is replaced if the next is as good.
    fn current(&self, server: &str) -> Option<Opening> {
        let mut opening = self.opening();
        if opening.get(server)?.is_replaceable()
            && let Some(settings) = self.config.server(server)
        {
            opening.insert(server.to_owned(), self.attempt(settings));
        }
        Some(opening.get(server)?.usable.clone())
    }

    /// A tool as its server offers it in this execution.
    fn requested(&self, server: &str, tool: &str) -> RequestedTool {
        RequestedTool::new(server, tool, self.opened(server).as_ref().map(|opened| &*opened.tools))
    }

    /// Checks a call before it is sent; `offered` are the server's tools.
    fn guard(
        &self,
        server: &str,
        tool: &str,
        offered: &ToolList,
        arguments: &RawValue,
    ) -> Result<(), CallFailure> {
        let settings = self.config.server(server);
        let pinned = self.expected.get(server).zip(self.pinned.get(server));
        let check_input = settings.is_none_or(|settings| settings.check_input);
        let guard = || {
            let held = self.pins.holds_back(server, tool, offered);
            ToolGuard::new(tool, offered, pinned.map(|(tools, advice)| (&**tools, *advice)), check_input)
                .held(held)
        };
        self.guards.check(server, tool, guard, arguments)
    }

    /// A direct call of a user or a client: with permission, and with the same checks as calls of programs.
    pub async fn call_directly(
        &self,
        server: &str,
        tool: &str,
        arguments: Box<RawValue>,
    ) -> Result<Answer, CallFailure> {
        self.decide_call(server, tool, &arguments, Refused::report).await?;
        self.call(server, tool, arguments, Map::new()).await
    }

    /// Whether a call is permitted; `report` words a refusal.
    async fn decide_call(
        &self,
        server: &str,
        tool: &str,
        arguments: &RawValue,
        report: fn(&Refused) -> Report,
    ) -> Result<(), CallFailure> {
        let policy = self.policy()?;
        let asks = matches!(policy.holds(server, tool), Permission::Ask | Permission::AskEach)
            || policy.asks_about_flows(server, tool);
        if asks && let Ok(opened) = self.usable(server).await {
            // Invalid arguments are refused without asking.
            self.guard(server, tool, &opened.tools, arguments)?;
        }
        let requested = || self.requested(server, tool);
        let decided = policy.decide_call((server, tool), requested, arguments, &self.answers).await;
        decided.map_err(|refusal| CallFailure { kind: refusal.kind(), message: report(&refusal).for_model() })
    }

    /// Calls a tool of an open server, with `meta` as MCP's `_meta`.
    async fn call_with(
        &self,
        server: &str,
        tool: &str,
        arguments: Box<RawValue>,
        meta: Map<String, Value>,
    ) -> Result<Answer, CallFailure> {
        let Opened { session, tools, .. } = self.usable(server).await?;
        self.guard(server, tool, &tools, &arguments)?;
        let call = self.services.prepare(CheckedCall {
            config: &self.config,
            client: &self.client,
            server,
            tool,
            offered: Some(&tools),
            arguments: &arguments,
            questions: self.host.questions(),
        });
        let mark = view_mark::mark((server, tool), &tools, &arguments, &*self.host);
        let send = Box::pin(async {
            let as_task = tools.runs_only_as_task(tool);
            match session.call_with(tool, arguments, CallOptions::with_meta(meta).as_task(as_task)).await {
                Ok(result) => {
                    Ok(Answer { is_error: result.is_error(), result: result.into_raw(), cached: None })
                }
                Err(error) => Err(self.failure(&error)),
            }
        });
        let answer = waiting::answer(&*self.host, server, tool, call.make(send)).await?;
        Ok(Answer { result: view_mark::marked(answer.result, mark), ..answer })
    }

    /// The failure of a request to a server, with secrets masked.
    fn failure(&self, error: &mcp::Error) -> CallFailure {
        let kind = match &*error.kind {
            ErrorKind::Timeout { .. } => FailureKind::Timeout,
            ErrorKind::Rpc { .. } => FailureKind::Rejected,
            ErrorKind::Protocol { .. } => FailureKind::Protocol,
            _ => FailureKind::Unavailable,
        };
        CallFailure { kind, message: self.masker.mask(&error.to_string()).into_owned() }
    }

    fn policy(&self) -> Result<&PermissionPolicy, CallFailure> {
        // A caller that makes no calls sets no policy.
        let message = || "no tool may be called here".to_owned();
        self.policy.as_deref().ok_or_else(|| CallFailure { kind: FailureKind::Denied, message: message() })
    }

    /// Masks secrets in errors.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Tools whose arguments could not be checked, with reasons.
    pub fn unchecked(&self) -> Vec<String> {
        self.guards.unchecked()
    }
}

#[cfg(test)]
mod tests;
