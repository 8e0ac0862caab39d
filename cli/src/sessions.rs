//! The sessions of one execution: fresh ones, opened for the servers that the program can call.
//!
//! A server that is opened is asked for its tools at once. If they are not the ones that the program was compiled
//! against, the session is refused, and the caller compiles again with the new list.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, join_all};
use mcp::{ErrorKind, Session};
use runner::{Answer, CallFailure, FailureKind, Refusal, ToolHost};
use serde_json::value::RawValue;

use crate::config::{Config, Permission, Server};
use crate::guard::{Guards, ToolGuard};
use crate::masker::Masker;
use crate::permission::{Grants, Policy, Wanted};
use crate::pins::Pins;
use crate::terminal;
use crate::tool_list::ToolList;

/// A session with the tools that its server offers.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) tools: Arc<ToolList>,
    pub(crate) warnings: Vec<String>,
}

type Opening = Shared<BoxFuture<'static, Result<Opened, String>>>;

/// The sessions of one execution.
pub(crate) struct Sessions {
    servers: BTreeMap<String, Server>,
    /// The tools that programs are compiled against, by server.
    expected: BTreeMap<String, Arc<ToolList>>,
    /// Servers whose other tools may have changed: only the tool that is called is compared.
    pinned: BTreeSet<String>,
    opening: Mutex<HashMap<String, Opening>>,
    guards: Guards,
    pins: Pins,
    /// The secrets that no error tells.
    masker: Masker,
    /// Who may call what; without one nothing may be called.
    policy: Option<Arc<Policy>>,
    grants: Grants,
}

impl Sessions {
    /// No session yet, to any of the configured servers.
    pub(crate) fn new(config: &Config) -> Self {
        let masker = Masker::of(config);
        terminal::mask(masker.clone());
        let servers = config.servers.iter().map(|server| (server.connection.name.clone(), server.clone()));
        Sessions {
            servers: servers.collect(),
            expected: BTreeMap::new(),
            pinned: BTreeSet::new(),
            opening: Mutex::default(),
            guards: Guards::default(),
            pins: Pins::default(),
            masker,
            policy: None,
            grants: Grants::default(),
        }
    }

    /// From now on, no tool is called that is not as it is pinned.
    pub(crate) fn hold_to(&mut self, pins: Pins) {
        self.pins = pins;
    }

    /// From now on, calls may be made that `policy` permits.
    pub(crate) fn permit(&mut self, policy: Arc<Policy>) {
        self.policy = Some(policy);
    }

    /// From now on, a session with `server` is refused unless it offers `tools`.
    pub(crate) fn expect(&mut self, server: &str, tools: Arc<ToolList>) {
        self.expected.insert(server.to_owned(), tools);
    }

    /// As [`Sessions::expect`], but tool by tool: one that has changed is refused when it is called.
    pub(crate) fn pin(&mut self, server: &str, tools: Arc<ToolList>) {
        self.pinned.insert(server.to_owned());
        self.expect(server, tools);
    }

    /// The session with `server` and its tools, connected in the background if there is none.
    pub(crate) fn start(&self, server: &str) -> Opening {
        let mut opening = self.opening();
        if let Some(opening) = opening.get(server) {
            return opening.clone();
        }
        let Some(server) = self.servers.get(server) else {
            let message = format!("the server {server} is not configured");
            return std::future::ready(Err(message)).boxed().shared();
        };
        let config = server.connection.clone();
        // A task of its own: whoever waits may give up without ending the attempt for others.
        let masker = self.masker.clone();
        let task = tokio::spawn(async move { connect(&config, &masker).await });
        let started = task
            .map(|done| done.unwrap_or_else(|error| Err(format!("the connection was given up: {error}"))))
            .boxed()
            .shared();
        opening.insert(server.connection.name.clone(), started.clone());
        started
    }

    /// The tools of the open sessions that are not those that were expected.
    pub(crate) fn changed(&self) -> Vec<(String, Arc<ToolList>)> {
        let opening = self.opening();
        let opened =
            opening.iter().filter_map(|(name, opening)| Some((name, opening.peek()?.as_ref().ok()?)));
        opened
            .filter(|(name, opened)| self.expected.get(*name).is_some_and(|tools| *tools != opened.tools))
            .map(|(name, opened)| (name.clone(), opened.tools.clone()))
            .collect()
    }

    /// Ends all sessions, and waits until their processes are gone.
    pub(crate) async fn close(self) {
        let opening = std::mem::take(&mut *self.opening());
        let sessions = opening.into_values().filter_map(|opening| opening.peek().cloned());
        join_all(sessions.flatten().map(|opened| opened.session.close())).await;
    }

    fn opening(&self) -> MutexGuard<'_, HashMap<String, Opening>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self, server: &str) -> Option<Opened> {
        self.opening().get(server)?.peek()?.as_ref().ok().cloned()
    }

    /// A tool as its server offers it in this execution.
    fn wanted(&self, server: &str, tool: &str) -> Wanted {
        Wanted::new(server, tool, self.opened(server).as_ref().map(|opened| &*opened.tools))
    }

    /// Whether a call may leave; `offered` are the server's tools.
    fn guard(
        &self,
        server: &str,
        tool: &str,
        offered: &ToolList,
        arguments: &RawValue,
    ) -> Result<(), CallFailure> {
        let settings = self.servers.get(server);
        let pinned = self.expected.get(server).filter(|_| self.pinned.contains(server));
        let check_input = settings.is_none_or(|settings| settings.check_input);
        let guard = || {
            let held = self.pins.holds_back(server, tool, offered);
            ToolGuard::new(tool, offered, pinned.map(|tools| &**tools), check_input).held(held)
        };
        self.guards.check(server, tool, guard, arguments)
    }

    /// A call that a person or a client makes: with permission, and under the same guards as that of a program.
    pub(crate) async fn call_directly(
        &self,
        server: &str,
        tool: &str,
        arguments: Box<RawValue>,
    ) -> Result<Answer, CallFailure> {
        self.permit_call(server, tool, &arguments).await?;
        self.call(server, tool, arguments).await
    }

    /// The secrets that no error tells.
    pub(crate) fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Tools whose arguments could not be checked, and why.
    pub(crate) fn unchecked(&self) -> Vec<String> {
        self.guards.unchecked()
    }
}

async fn connect(config: &mcp::ServerConfig, masker: &Masker) -> Result<Opened, String> {
    let told = |error: mcp::Error| masker.mask(&error.to_string()).into_owned();
    let session = Session::connect(config).await.map_err(told)?;
    let mut listing = session.list_tools().await.map_err(told)?;
    for warning in &mut listing.warnings {
        *warning = masker.mask(warning).into_owned();
    }
    let tools = listing.tools.into_iter().map(mcp::Tool::repaired).collect();
    Ok(Opened { session, tools: Arc::new(ToolList::new(tools)), warnings: listing.warnings })
}

impl ToolHost for Sessions {
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let opening = self.start(server);
        async move {
            let opened = opening.await?;
            match self.expected.get(server) {
                Some(expected) if !self.pinned.contains(server) && *expected != opened.tools => {
                    Err(format!("the tools of {server} have changed since the program was compiled"))
                }
                _ => Ok(()),
            }
        }
        .boxed()
    }

    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let Some(policy) = &self.policy else {
                let message = NO_POLICY.to_owned();
                return Err(Refusal { message, evidence: serde_json::json!({}) });
            };
            let matters =
                |(server, tool): &&(String, String)| policy.holds(server, tool) != Permission::Allow;
            let manifest = tools.iter().filter(matters).map(|(server, tool)| self.wanted(server, tool));
            let manifest: Vec<Wanted> = manifest.collect();
            let decided = policy.decide(&manifest, &self.grants).await;
            decided.map_err(|refusal| Refusal { message: refusal.message(), evidence: refusal.evidence() })
        }
        .boxed()
    }

    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        let denied = |message| CallFailure { kind: FailureKind::Denied, message };
        async move {
            let policy = self.policy.as_ref().ok_or_else(|| denied(NO_POLICY.to_owned()))?;
            let asks = matches!(policy.holds(server, tool), Permission::Ask | Permission::AskEach);
            if let Some(opened) = self.opened(server).filter(|_| asks) {
                // Nobody is asked about what can't be sent.
                self.guard(server, tool, &opened.tools, arguments)?;
            }
            let wanted = || self.wanted(server, tool);
            let decided = policy.decide_call((server, tool), wanted, arguments, &self.grants).await;
            decided.map_err(|refusal| denied(refusal.message()))
        }
        .boxed()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        async move {
            let Some(Opened { session, tools, .. }) = self.opened(server) else {
                let message = format!("there is no session with {server}");
                return Err(CallFailure { kind: FailureKind::Unavailable, message });
            };
            self.guard(server, tool, &tools, &arguments)?;
            match session.call(tool, arguments).await {
                Ok(result) => Ok(Answer { is_error: result.is_error(), result: result.into_raw() }),
                Err(error) => {
                    let CallFailure { kind, message } = failure(&error);
                    Err(CallFailure { kind, message: self.masker.mask(&message).into_owned() })
                }
            }
        }
        .boxed()
    }
}

/// What is said where tools are called by something that was not made to.
const NO_POLICY: &str = "nothing may be called here";

fn failure(error: &mcp::Error) -> CallFailure {
    let kind = match &*error.kind {
        ErrorKind::Timeout { .. } => FailureKind::Timeout,
        ErrorKind::Rpc { .. } => FailureKind::Rejected,
        ErrorKind::Protocol { .. } => FailureKind::Protocol,
        _ => FailureKind::Unavailable,
    };
    CallFailure { kind, message: error.to_string() }
}
