//! A client and the state that lasts between its requests: log level, permissions, sessions with servers.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock, Weak};

use answer::client_profile::ClientProfile;
use answer::shapes::AnswerShapes;
use axum::http::request::Parts;
use flows::{Labels, Rules, State};
use gateway::permission::{Reason, SessionAnswers};
use identity::{Identity, Subject};
use parking_lot::Mutex;
use queue::Received;
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use runner::Grants;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::caller::{Abilities, Ask, Caller, Terms, client_of, left_out, notify, send_log};
use super::catalog_watcher::CatalogWatcher;
use super::client_host::{ClientHost, ServerNotice};
use super::definitions;
use super::execution_slots::Client;
use super::level::Level;
use super::state::ServerState;
use super::upstreams::Upstreams;

/// The connection of a client to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTransport {
    /// Over standard input and output: the only client of the process.
    Stdio,
    /// Over HTTP, with or without a session.
    Http,
    /// Within this process: an agent.
    InProcess(AgentIsolation),
}

/// Whether an agent of this process shares its offered tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentIsolation {
    /// It is the only agent, with its own sessions for watching servers.
    Alone,
    /// It is one of many that share the offered tools; its sessions for calls are its own.
    Among,
}

impl ClientTransport {
    /// The name in the audit log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ClientTransport::Stdio => "stdio",
            ClientTransport::Http => "http",
            ClientTransport::InProcess(_) => "in-process",
        }
    }

    /// Whether the client is the only one of this process.
    fn is_alone(self) -> bool {
        matches!(self, ClientTransport::Stdio | ClientTransport::InProcess(AgentIsolation::Alone))
    }
}

/// A client.
pub struct ClientSession {
    /// Its id, which can't be guessed.
    pub(crate) id: String,
    pub(crate) transport: ClientTransport,
    /// The only one whose requests it serves, if they have a subject.
    pub subject: Option<Arc<Subject>>,
    pub(crate) answers: SessionAnswers,
    /// The answers that its requests have received.
    flows: State,
    /// The shapes of tools' answers so far.
    pub(crate) seen: AnswerShapes,
    level: Mutex<Option<Level>>,
    live: OnceLock<Arc<CatalogWatcher>>,
    /// Sessions with servers for direct tools, if separate from the watched ones.
    own: OnceLock<Arc<Upstreams>>,
    /// Scratch space that its programs share.
    scratch: Mutex<Option<(u64, sandbox::Scratch)>>,
    /// Whether the handshake is done: then its declarations apply to all later requests.
    is_initialized: OnceLock<()>,
    notifiers: Mutex<Vec<JoinHandle<()>>>,
    state: Arc<ServerState>,
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        let notifiers = std::mem::take(self.notifiers.get_mut());
        notifiers.iter().for_each(JoinHandle::abort);
        // Closes the sessions in order if a runtime is available.
        let own = self.own.take().or_else(|| {
            self.transport.is_alone().then(|| Some(self.live.get()?.upstreams.clone())).flatten()
        });
        if let (Some(own), Ok(runtime)) = (own, tokio::runtime::Handle::try_current()) {
            self.state.afterwards.spawn_on(async move { own.close().await }, &runtime);
        }
    }
}

/// A session's scratch space that can't be created.
#[derive(Debug, thiserror::Error)]
#[error("scratch space for the session can't be created: {0}")]
pub(crate) struct ScratchError(#[source] sandbox::SpawnError);

impl ClientSession {
    pub(crate) fn new(id: String, transport: ClientTransport, state: Arc<ServerState>) -> Arc<Self> {
        Self::of_subject(id, transport, None, state)
    }

    /// The session of a client of this subject.
    pub(crate) fn of_subject(
        id: String,
        transport: ClientTransport,
        subject: Option<Arc<Subject>>,
        state: Arc<ServerState>,
    ) -> Arc<Self> {
        Arc::new(ClientSession {
            id,
            transport,
            subject,
            answers: SessionAnswers::default(),
            flows: State::default(),
            seen: AnswerShapes::default(),
            level: Mutex::default(),
            live: OnceLock::new(),
            own: OnceLock::new(),
            scratch: Mutex::default(),
            is_initialized: OnceLock::new(),
            notifiers: Mutex::default(),
            state,
        })
    }

    /// Whether it is an agent of this process: it may list resources of all servers, and reads them with permission.
    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.transport, ClientTransport::InProcess(_))
    }

    /// Returns the reason why its user can't be asked, if the client does not support questions. The user of this
    /// process's own agent has no terminal then.
    pub(crate) fn absence(&self) -> Reason {
        match self.transport {
            ClientTransport::InProcess(AgentIsolation::Alone) => Reason::NoTerminal,
            _ => Reason::NoElicitation,
        }
    }

    /// Whether the client stays the same from one request to the next.
    pub(crate) fn lasts(&self) -> bool {
        self.transport.is_alone() || self.is_initialized.get().is_some()
    }

    /// The owner of its executions' outputs and of its cached results. Clients without a session share an owner with
    /// the other ones of their subject: an address there can be read by each of them that knows it, but it can't be
    /// guessed and is not listed.
    pub(crate) fn owner(&self) -> Cow<'_, str> {
        match &self.subject {
            _ if self.lasts() => Cow::Borrowed(&self.id),
            Some(subject) => Cow::Owned(subject.key()),
            None => Cow::Borrowed(""),
        }
    }

    /// The answers that its requests have received, and the flows that its user has allowed. Clients without a session
    /// share them like their cached results, to the end of this process.
    pub(crate) fn flows(&self) -> State {
        match self.lasts() || self.is_agent() {
            true => self.flows.clone(),
            false => self.state.flows_of(&self.owner()),
        }
    }

    /// Its model has received answers before that are not known here.
    pub fn has_unknown_answers(&self) {
        self.flows.receive_unknown();
    }

    /// The labels of what it has received, under the present configuration.
    pub fn flow_labels(&self) -> Labels {
        Rules::new(&self.state.settings.borrow().config.flows).received(&self.flows)
    }

    /// The handshake is done: starts notifying the client of changes.
    pub(crate) fn begin(self: &Arc<Self>, context: &RequestContext<RoleServer>) {
        if self.is_initialized.set(()).is_err() {
            return;
        }
        let abilities = self.state.abilities(context);
        let live = self.live_for(abilities, context);
        let client = client_of(context);
        self.keep_notifier(tokio::spawn(notify_of_changes(
            live.clone(),
            (client, context.peer.clone()),
            Arc::downgrade(self),
        )));
        if self.transport.is_alone() {
            self.keep_notifier(tokio::spawn(forward_notices(
                live.upstreams.host().clone(),
                context.peer.clone(),
            )));
        }
    }

    fn keep_notifier(&self, task: JoinHandle<()>) {
        self.notifiers.lock().push(task);
    }

    /// The tools offered to clients with these capabilities.
    pub fn live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        if self.transport.is_alone() {
            self.live.get_or_init(|| self.state.new_live(abilities)).clone()
        } else if self.lasts() {
            self.live.get_or_init(|| self.state.live(abilities)).clone()
        } else {
            self.state.live(abilities)
        }
    }

    /// Like [`ClientSession::live`], limited to what the subject of a request may call.
    pub(crate) fn live_for(
        &self,
        abilities: Abilities,
        context: &RequestContext<RoleServer>,
    ) -> Arc<CatalogWatcher> {
        let whole = self.live(abilities);
        let Some(identity) = identity_of(context) else { return whole };
        let access = identity.access(&self.state.settings.borrow().config.serve);
        match access {
            Ok(None) => whole,
            Ok(Some(tools)) => self.state.restricted(abilities, &whole, tools),
            // Denied since the request was accepted.
            Err(_) => self.state.restricted(abilities, &whole, Vec::new()),
        }
    }

    /// The sessions with servers for direct tools. A client with a session has its own, and so has a subject.
    pub(crate) fn upstreams(&self, abilities: Abilities, peer: &Peer<RoleServer>) -> Arc<Upstreams> {
        if self.transport.is_alone() || !self.lasts() {
            return match &self.subject {
                Some(subject) => self.state.upstreams_of(abilities, subject),
                None => self.live(abilities).upstreams.clone(),
            };
        }
        let start = || {
            let host = ClientHost::new(
                abilities,
                gateway::session_host::SessionHost::notifier(&**self.live(abilities).upstreams.host()),
            );
            self.keep_notifier(tokio::spawn(forward_notices(host.clone(), peer.clone())));
            let subject = self.subject.as_ref().map(|subject| self.state.tokens.of(subject));
            Upstreams::of_subject(host, self.state.settings.clone(), subject)
        };
        self.own.get_or_init(start).clone()
    }

    /// The grants for programs of this client. A client with a session has one scratch space for all of them.
    ///
    /// # Errors
    /// If scratch space can't be created.
    pub(crate) fn grants(&self, granted: &Grants) -> Result<Grants, ScratchError> {
        let mut grants = granted.clone();
        if let Some(bytes) = granted.scratch.filter(|_| self.lasts()) {
            let mut scratch = self.scratch.lock();
            // A different size needs a new space.
            let kept = scratch.as_ref().filter(|(size, _)| *size == bytes).map(|(_, kept)| kept.clone());
            let space = match kept {
                Some(kept) => kept,
                None => sandbox::Scratch::new(bytes).map_err(ScratchError)?,
            };
            *scratch = Some((bytes, space.clone()));
            grants.shared_scratch = Some(space);
        }
        Ok(grants)
    }

    /// The caller for this request, and the receiver of questions if they are asked by the response.
    pub(crate) fn caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> (Arc<Caller>, Option<mpsc::Receiver<Ask>>) {
        let level = self.level(context);
        let terms = Terms {
            client: self.client(context),
            timeout: self.state.settings.borrow().config.serve.question_timeout,
            open: self.state.questions.clone(),
            has_page: self.state.answers_on_page(),
        };
        if !is_stateless(context) {
            return (Arc::new(Caller::new(context, level, terms)), None);
        }
        let (sender, asks) = mpsc::channel(1);
        (Arc::new(Caller::asked_by_response(context, level, terms, sender)), Some(asks))
    }

    /// The client for quotas: the subject, otherwise the session, or the address for clients without one, which is the
    /// only thing known about them across requests.
    fn client(&self, context: &RequestContext<RoleServer>) -> Client {
        if let Some(subject) = &self.subject {
            return Client { key: subject.key(), alone: false, is_subject: true };
        }
        let address = super::peer_address::of(context).filter(|_| is_stateless(context));
        let key = address.map_or_else(|| self.id.clone(), |address| address.ip().to_canonical().to_string());
        Client { key, alone: self.transport.is_alone(), is_subject: false }
    }

    /// The minimum level of log messages that the client requested.
    pub(crate) fn level(&self, context: &RequestContext<RoleServer>) -> Option<Level> {
        if is_stateless(context) {
            // It must request them in each request (MCP 2026-07-28, "Logging").
            return context.meta.0.0.get("io.modelcontextprotocol/logLevel")?.as_str().and_then(Level::of);
        }
        Some(self.level.lock().unwrap_or_default())
    }

    /// Sets the minimum level of log messages for this client.
    pub fn set_level(&self, level: Level) {
        *self.level.lock() = Some(level);
    }
}

/// The identity that a request over HTTP has shown, if it has a subject.
pub(crate) fn identity_of(context: &RequestContext<RoleServer>) -> Option<Arc<Identity>> {
    context.extensions.get::<Parts>()?.extensions.get::<Arc<Identity>>().cloned()
}

/// Whether a request uses the protocol without sessions (MCP 2026-07-28).
pub fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Whether the client of a request knows tasks (SEP-2663, "Capability Negotiation"), which each request declares.
pub(crate) fn runs_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_stateless(context) && context.client_capabilities().is_some_and(|able| able.supports_tasks())
}

/// Notifies a client of changed lists and unavailable servers.
async fn notify_of_changes(
    live: Arc<CatalogWatcher>,
    (client, peer): (&ClientProfile, Peer<RoleServer>),
    session: Weak<ClientSession>,
) {
    let mut current = live.watch();
    let mut known = current.borrow_and_update().clone();
    for (server, failure) in &known.absent {
        warn_of_absent(&peer, server, failure).await;
    }
    while current.changed().await.is_ok() {
        let now = current.borrow_and_update().clone();
        if let Some(session) = session.upgrade()
            && let Some(own) = session.own.get()
        {
            own.retain(now.config());
        }
        if definitions::lists_differ(&known, &now, client) {
            notify(&peer, "notifications/tools/list_changed", json!({})).await;
        }
        for (index, kind) in ["prompts", "resources"].into_iter().enumerate() {
            if known.prompts_and_resources[index] != now.prompts_and_resources[index] {
                notify(&peer, &format!("notifications/{kind}/list_changed"), json!({})).await;
            }
        }
        for (server, failure) in &now.absent {
            if known.absent.get(server) != Some(failure) {
                warn_of_absent(&peer, server, failure).await;
            }
        }
        known = now;
    }
}

async fn warn_of_absent(peer: &Peer<RoleServer>, server: &str, failure: &str) {
    let data = json!(format!("the server {server} is unavailable: {failure}"));
    send_log(peer, Level::Warning, "toolsmith", data).await;
}

/// Forwards the notices of servers to a client.
async fn forward_notices(host: Arc<ClientHost>, peer: Peer<RoleServer>) {
    let mut notices = host.notices();
    while let Some(Received { missed, item }) = notices.receive().await {
        if missed > 0 {
            send_log(&peer, Level::Warning, "toolsmith", json!(left_out(missed))).await;
        }
        if let Some(notice) = item {
            forward(&peer, notice).await;
        }
    }
}

async fn forward(peer: &Peer<RoleServer>, notice: ServerNotice) {
    match notice {
        ServerNotice::Log { level, logger, data, .. } => send_log(peer, level, &logger, data).await,
        ServerNotice::ResourceUpdated(uri) => {
            notify(peer, "notifications/resources/updated", json!({ "uri": uri })).await;
        }
        ServerNotice::ListChanged(mcp::ListKind::Resources) => {
            notify(peer, "notifications/resources/list_changed", json!({})).await;
        }
        ServerNotice::ListChanged(mcp::ListKind::Prompts) => {
            notify(peer, "notifications/prompts/list_changed", json!({})).await;
        }
        // A changed tool list leads to a new snapshot first.
        ServerNotice::ListChanged(mcp::ListKind::Tools) => {}
    }
}
