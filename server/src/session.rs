//! A client, as long as it stays: its peer, what it wants to be told, what it has allowed, its sessions with servers.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use gateway::permission::SessionAnswers;
use queue::Received;
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use runner::Grants;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::answer_shapes::AnswerShapes;
use super::caller::{Abilities, Ask, Caller, Terms, left_out, notify, send_log};
use super::catalog_watcher::CatalogWatcher;
use super::client_host::{ClientHost, ServerNotice};
use super::execution_slots::Client;
use super::level::Level;
use super::state::ServerState;
use super::upstreams::Upstreams;

/// How a client reaches this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTransport {
    /// By pipes: there is one client, as long as the process lives.
    Stdio,
    /// Over HTTP: in a session of its own, or without one.
    Http,
    /// Within this process: an agent.
    InProcess(AgentIsolation),
}

/// How an agent of this process is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentIsolation {
    /// It is the only one, and what it is offered is its own.
    Alone,
    /// It is one of many, which share what they are offered; its sessions with servers are its own.
    Among,
}

impl ClientTransport {
    /// One word for the audit log.
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
    /// What it is called here; nobody guesses it.
    pub(crate) id: String,
    pub(crate) transport: ClientTransport,
    pub(crate) answers: SessionAnswers,
    /// What the answers of tools looked like.
    pub(crate) seen: AnswerShapes,
    level: Mutex<Option<Level>>,
    live: OnceLock<Arc<CatalogWatcher>>,
    /// Sessions with servers for direct tools, where these are not what is watched.
    own: OnceLock<Arc<Upstreams>>,
    /// Where its programs leave files to each other.
    scratch: Mutex<Option<(u64, sandbox::Scratch)>>,
    /// Whether it has shaken hands: what it says holds from one request to the next.
    has_begun: OnceLock<()>,
    tells: Mutex<Vec<JoinHandle<()>>>,
    state: Arc<ServerState>,
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        let tells = std::mem::take(self.tells.get_mut().unwrap_or_else(PoisonError::into_inner));
        tells.iter().for_each(JoinHandle::abort);
        // In order, where there is a runtime to do so.
        let own = self.own.take().or_else(|| {
            self.transport.is_alone().then(|| Some(self.live.get()?.upstreams.clone())).flatten()
        });
        if let (Some(own), Ok(runtime)) = (own, tokio::runtime::Handle::try_current()) {
            self.state.afterwards.spawn_on(async move { own.close().await }, &runtime);
        }
    }
}

impl ClientSession {
    pub(crate) fn new(id: String, transport: ClientTransport, state: Arc<ServerState>) -> Arc<Self> {
        Arc::new(Self::begun_by(id, transport, state))
    }

    /// The session of an agent of this process.
    pub(crate) fn of_agent(id: String, company: AgentIsolation, state: Arc<ServerState>) -> Arc<Self> {
        Arc::new(Self::begun_by(id, ClientTransport::InProcess(company), state))
    }

    fn begun_by(id: String, transport: ClientTransport, state: Arc<ServerState>) -> Self {
        ClientSession {
            id,
            transport,
            answers: SessionAnswers::default(),
            seen: AnswerShapes::default(),
            level: Mutex::default(),
            live: OnceLock::new(),
            own: OnceLock::new(),
            scratch: Mutex::default(),
            has_begun: OnceLock::new(),
            tells: Mutex::default(),
            state,
        }
    }

    /// Whether it is an agent of this process: resources of all servers are offered to it, and read with permission.
    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.transport, ClientTransport::InProcess(_))
    }

    /// Whether the client stays the same from one request to the next.
    pub(crate) fn lasts(&self) -> bool {
        self.transport.is_alone() || self.has_begun.get().is_some()
    }

    /// Whose the outputs of executions are. Clients without a session have them in common: whoever knows an address,
    /// which nobody guesses, may read there, and no list names it.
    pub(crate) fn owner(&self) -> &str {
        if self.lasts() { &self.id } else { "" }
    }

    /// The client has shaken hands: from now on it is told what changes.
    pub(crate) fn begin(self: &Arc<Self>, context: &RequestContext<RoleServer>) {
        if self.has_begun.set(()).is_err() {
            return;
        }
        let abilities = Abilities::of(context.client_capabilities().as_ref());
        let live = self.live(abilities);
        self.tell(tokio::spawn(tell_changes(live.clone(), context.peer.clone(), Arc::downgrade(self))));
        if self.transport.is_alone() {
            self.tell(tokio::spawn(tell_told(live.upstreams.host().clone(), context.peer.clone())));
        }
    }

    fn tell(&self, task: JoinHandle<()>) {
        self.tells.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// What is offered to a client that can do this much.
    pub fn live(&self, abilities: Abilities) -> Arc<CatalogWatcher> {
        if self.transport.is_alone() {
            self.live.get_or_init(|| self.state.new_live(abilities)).clone()
        } else if self.lasts() {
            self.live.get_or_init(|| self.state.live(abilities)).clone()
        } else {
            self.state.live(abilities)
        }
    }

    /// The sessions with servers for direct tools: the client's own, where there is a client that stays.
    pub(crate) fn upstreams(&self, abilities: Abilities, peer: &Peer<RoleServer>) -> Arc<Upstreams> {
        if self.transport.is_alone() || !self.lasts() {
            return self.live(abilities).upstreams.clone();
        }
        let begin = || {
            let host = ClientHost::new(
                abilities,
                gateway::session_host::SessionHost::notifier(&**self.live(abilities).upstreams.host()),
            );
            self.tell(tokio::spawn(tell_told(host.clone(), peer.clone())));
            Upstreams::new(host)
        };
        self.own.get_or_init(begin).clone()
    }

    /// What programs of this client may work on: scratch space is one for all of them, where the client stays.
    ///
    /// # Errors
    /// Why there is no scratch space.
    pub(crate) fn grants(&self, granted: &Grants) -> Result<Grants, String> {
        let mut grants = granted.clone();
        if let Some(bytes) = granted.scratch.filter(|_| self.lasts()) {
            let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            // Another size is another space.
            let kept = scratch.as_ref().filter(|(size, _)| *size == bytes).map(|(_, kept)| kept.clone());
            let space = match kept {
                Some(kept) => kept,
                None => {
                    let made = sandbox::Scratch::new(bytes);
                    made.map_err(|error| format!("there is no scratch space for the session: {error}"))?
                }
            };
            *scratch = Some((bytes, space.clone()));
            grants.shared_scratch = Some(space);
        }
        Ok(grants)
    }

    /// Who calls, and what arrives of questions that are asked by answers.
    pub(crate) fn caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> (Arc<Caller>, Option<mpsc::Receiver<Ask>>) {
        let level = self.level(context);
        let terms = Terms {
            client: self.client(context),
            timeout: self.state.settings.borrow().config.serve.question_timeout,
            open: self.state.questions.clone(),
        };
        if !is_stateless(context) {
            return (Arc::new(Caller::new(context, level, terms)), None);
        }
        let (sender, asks) = mpsc::channel(1);
        (Arc::new(Caller::asked_by_answers(context, level, terms, sender)), Some(asks))
    }

    /// Who has its share of what all clients share: the session; of clients without sessions, the address, which is all
    /// that is known of them from one request to the next.
    fn client(&self, context: &RequestContext<RoleServer>) -> Client {
        let address = super::peer_address::of(context).filter(|_| is_stateless(context));
        let key = address.map_or_else(|| self.id.clone(), |address| address.ip().to_canonical().to_string());
        Client { key, alone: self.transport.is_alone() }
    }

    /// The least level of log messages that the client wants in a request.
    pub(crate) fn level(&self, context: &RequestContext<RoleServer>) -> Option<Level> {
        if is_stateless(context) {
            // It says so in each request that it wants any (MCP 2026-07-28, "Logging").
            return context.meta.0.0.get("io.modelcontextprotocol/logLevel")?.as_str().and_then(Level::of);
        }
        Some(self.level.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_default())
    }

    /// From now on, the client wants log messages of this level and above.
    pub(crate) fn set_level(&self, level: Level) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }
}

/// Whether a request belongs to no session of the protocol's (MCP 2026-07-28).
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Tells a client that lists have changed.
async fn tell_changes(live: Arc<CatalogWatcher>, peer: Peer<RoleServer>, session: Weak<ClientSession>) {
    let mut current = live.watch();
    let mut known = current.borrow_and_update().clone();
    for (server, failure) in &known.absent {
        tell_absent(&peer, server, failure).await;
    }
    while current.changed().await.is_ok() {
        let now = current.borrow_and_update().clone();
        if let Some(session) = session.upgrade()
            && let Some(own) = session.own.get()
        {
            own.retain(now.config());
        }
        if !known.offers_the_same(&now) {
            notify(&peer, "notifications/tools/list_changed", json!({})).await;
        }
        for (place, kind) in ["prompts", "resources"].into_iter().enumerate() {
            if known.beside_tools[place] != now.beside_tools[place] {
                notify(&peer, &format!("notifications/{kind}/list_changed"), json!({})).await;
            }
        }
        for (server, failure) in &now.absent {
            if known.absent.get(server) != Some(failure) {
                tell_absent(&peer, server, failure).await;
            }
        }
        known = now;
    }
}

async fn tell_absent(peer: &Peer<RoleServer>, server: &str, failure: &str) {
    let data = json!(format!("the server {server} is not there: {failure}"));
    send_log(peer, Level::Warning, "toolsmith", data).await;
}

/// Tells a client what servers tell.
async fn tell_told(host: Arc<ClientHost>, peer: Peer<RoleServer>) {
    let mut told = host.told();
    while let Some(Received { missed, item }) = told.receive().await {
        if missed > 0 {
            send_log(&peer, Level::Warning, "toolsmith", json!(left_out(missed))).await;
        }
        if let Some(told) = item {
            tell(&peer, told).await;
        }
    }
}

async fn tell(peer: &Peer<RoleServer>, told: ServerNotice) {
    match told {
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
        // Tools have a list here that is put together first.
        ServerNotice::ListChanged(mcp::ListKind::Tools) => {}
    }
}
