//! One live connection to one server: handshake, tool list, calls, end.
//!
//! Sessions are meant to be short: opened for an execution, closed after it. When to open one, and what may be called
//! on it, is left to the caller.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::join_all};
use rmcp::{
    ClientHandler, Peer, RoleClient, ServiceExt,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientRequest,
        CustomRequest, Implementation, ProtocolVersion, RequestId, ServerPeerInfo,
    },
    service::{PeerRequestOptions, RunningService, ServiceError},
};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    runtime::Handle,
    task::{AbortHandle, JoinHandle},
    time::{sleep, timeout},
};

use crate::{
    config::{ServerConfig, Transport},
    error::{Error, ErrorKind, Evidence, Phase},
    listing::{Collector, Listing, Next},
    process::{Process, STDIN_GRACE, spawn},
    wire::{Answer, Fault, Health, LineTransport, RawRequest, RpcError},
};

/// How long cancellations of calls may take to be written before the connection is closed.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// How long answers that a process wrote before its end may take to be read.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// A live connection. Clones share it; calls may run at the same time.
///
/// Dropping the last clone kills the server's process group at once; [`Session::close`] gives it the chance to end in
/// order.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    config: ServerConfig,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
    server: Arc<ServerPeerInfo>,
    health: Arc<Health>,
    process: KillOnDrop,
    supervisor: AbortHandle,
    closing: AtomicBool,
    /// Cancellations that are being written.
    cancelling: Mutex<Vec<JoinHandle<()>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

/// Owns a process: kills its group when connecting fails or is given up, and when a session is dropped. Others hold
/// the process only to watch it.
struct KillOnDrop(Arc<Process>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// This side's answers to what a server may ask.
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let itself = Implementation::new("toolsmith", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), itself)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// A whole `CallToolResult` as the server sent it.
#[derive(Debug, Clone)]
pub struct CallResult {
    raw: Box<RawValue>,
    is_error: bool,
}

impl CallResult {
    /// The result's JSON, always an object: `content`, `structuredContent`, `isError`, `_meta` and whatever else.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The same, without a copy.
    pub fn into_raw(self) -> Box<RawValue> {
        self.raw
    }

    /// Whether the tool itself says that it has failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

impl Session {
    /// Starts the server and shakes hands, within the configured time for connecting.
    ///
    /// If it fails, or the future is dropped, the process and its group are killed.
    pub async fn connect(config: &ServerConfig) -> Result<Self, Error> {
        let started = tokio::time::Instant::now();
        let fail = |kind| Error::new(&config.name, kind);
        let spawned = start(config).await?;
        let host =
            |error: io::Error| fail(ErrorKind::Host { reason: format!("its pipes cannot be used: {error}") });
        let process = Process::adopt(spawned.group, spawned.stderr).map_err(host)?;
        let process = KillOnDrop(Arc::new(process));
        let stdin = tokio::process::ChildStdin::from_std(spawned.stdin).map_err(host)?;
        let stdout = tokio::process::ChildStdout::from_std(spawned.stdout).map_err(host)?;
        let health = Arc::new(Health::default());
        let transport = LineTransport::new(stdout, stdin, Arc::clone(&health));

        let left = config.connect_timeout.saturating_sub(started.elapsed());
        // Pinned here, to look at the process before its pipes are closed.
        let mut handshake = std::pin::pin!(Client.serve(transport));
        let service = match timeout(left, &mut handshake).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => {
                return Err(fail(refused(&error, &health, &process.0).await));
            }
            Err(_) => {
                return Err(fail(ErrorKind::Timeout {
                    phase: Phase::Initialize,
                    limit: config.connect_timeout,
                    evidence: with_stray(process.0.evidence(), &health),
                }));
            }
        };
        let peer = service.peer().clone();
        let Some(server) = peer.peer_info() else {
            return Err(fail(ErrorKind::Protocol { reason: "it did not introduce itself".to_owned() }));
        };
        Ok(Self {
            inner: Arc::new(Inner {
                config: config.clone(),
                peer,
                server,
                health,
                supervisor: supervise(Arc::clone(&process.0), &service),
                process,
                service: Mutex::new(Some(service)),
                closing: AtomicBool::new(false),
                cancelling: Mutex::default(),
            }),
        })
    }

    /// The server's name in the configuration.
    pub fn name(&self) -> &str {
        &self.inner.config.name
    }

    /// The name and version that the server gives itself; claims, not facts.
    pub fn server_info(&self) -> Option<(&str, &str)> {
        let info = self.inner.server.server_info.as_ref()?;
        Some((&info.name, &info.version))
    }

    /// The server's own words on how to use it; untrusted text.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.server.instructions.as_deref()
    }

    /// The protocol version that was agreed on.
    pub fn protocol_version(&self) -> &str {
        self.inner.server.protocol_version.as_str()
    }

    /// The number of the process group that the server leads.
    pub fn process_group(&self) -> i32 {
        self.inner.process.0.group_id()
    }

    /// Whether the connection has ended, by whichever side.
    pub fn is_closed(&self) -> bool {
        self.inner.peer.is_transport_closed()
    }

    /// Asks for all tools, page by page, within the request time per page and the connect time for all.
    ///
    /// What is malformed in the list is left out or replaced, with a warning; see [`Listing`].
    pub async fn list_tools(&self) -> Result<Listing, Error> {
        let mut collector = Collector::default();
        if self.inner.server.capabilities.tools.is_none() {
            collector.warn("the server does not declare the `tools` capability".to_owned());
            return Ok(collector.finish());
        }
        let limit = self.inner.config.connect_timeout;
        match timeout(limit, self.collect_pages(&mut collector)).await {
            Ok(Ok(())) => Ok(collector.finish()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.timed_out(Phase::ListTools, limit)),
        }
    }

    async fn collect_pages(&self, collector: &mut Collector) -> Result<(), Error> {
        let mut params = Vec::new();
        loop {
            let page = self.request("tools/list", params, Phase::ListTools).await?;
            let next =
                collector.add_page(&page).map_err(|reason| self.fail(ErrorKind::Protocol { reason }))?;
            match next {
                Next::Done => return Ok(()),
                Next::Page(cursor) => params = vec![("cursor", self.encode(&cursor)?)],
            }
        }
    }

    /// Calls a tool, within the request time. `arguments` must be a JSON object; it is sent as it is.
    ///
    /// When the time is up or the future is dropped, the server is told with `notifications/cancelled`, and a late
    /// answer is ignored. A tool's own failure is not an error but a result; see [`CallResult::is_error`].
    pub async fn call(&self, tool: &str, arguments: Box<RawValue>) -> Result<CallResult, Error> {
        if !arguments.get().trim_start().starts_with('{') {
            return Err(self.fail(ErrorKind::Arguments { tool: tool.to_owned() }));
        }
        let params = vec![("name", self.encode(tool)?), ("arguments", arguments)];
        let raw = self.request("tools/call", params, Phase::Call(tool.to_owned())).await?;
        #[derive(Deserialize)]
        struct Members {
            #[serde(rename = "isError", default)]
            is_error: Option<bool>,
        }
        match serde_json::from_str::<Members>(raw.get()) {
            Ok(members) if raw.get().starts_with('{') => {
                Ok(CallResult { is_error: members.is_error.unwrap_or(false), raw })
            }
            _ => Err(self.fail(ErrorKind::Protocol {
                reason: format!("the answer of tool `{tool}` is no CallToolResult"),
            })),
        }
    }

    /// Ends the session for all its clones: closes the server's standard input, gives it
    /// [`STDIN_GRACE`](crate::STDIN_GRACE) to exit, sends SIGTERM to its group, gives it
    /// [`TERM_GRACE`](crate::TERM_GRACE), then kills what is left of the group. Pending calls fail.
    pub async fn close(self) {
        self.inner.closing.store(true, Ordering::Relaxed);
        let cancelling =
            std::mem::take(&mut *self.inner.cancelling.lock().unwrap_or_else(PoisonError::into_inner));
        // A server that does not read has not asked for the courtesy.
        let _ = timeout(CANCEL_GRACE, join_all(cancelling)).await;
        let service = self.inner.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(service) = service {
            // Takes no time, unless the server does not read and a request is stuck in the pipe.
            let _ = timeout(STDIN_GRACE, service.cancel()).await;
        }
        self.inner.process.0.end().await;
    }

    async fn request(
        &self,
        method: &'static str,
        params: Vec<(&'static str, Box<RawValue>)>,
        phase: Phase,
    ) -> Result<Box<RawValue>, Error> {
        let raw = Arc::new(RawRequest::new(params));
        let mut request = CustomRequest::new(method, None);
        request.extensions.insert(Arc::clone(&raw));
        let exchange = async {
            let handle = self
                .inner
                .peer
                .send_cancellable_request(
                    ClientRequest::CustomRequest(request),
                    PeerRequestOptions::no_options(),
                )
                .await?;
            let mut cancel = CancelOnDrop { inner: &self.inner, request: Some(handle.id.clone()) };
            let outcome = handle.await_response().await;
            cancel.request = None;
            outcome.map(drop)
        };
        let limit = self.inner.config.request_timeout;
        match timeout(limit, exchange).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.undelivered(&error, phase).await),
            Err(_) => return Err(self.timed_out(phase, limit)),
        }
        match raw.take_answer() {
            Some(Answer::Result(result)) => Ok(result),
            Some(Answer::Error(error)) => Err(self.fail(rpc(phase, error))),
            None => Err(self.ended(phase).await),
        }
    }

    fn encode(&self, text: &str) -> Result<Box<RawValue>, Error> {
        to_raw_value(text).map_err(|error| {
            self.fail(ErrorKind::Host { reason: format!("a request cannot be encoded: {error}") })
        })
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(self.name(), kind)
    }

    fn timed_out(&self, phase: Phase, limit: Duration) -> Error {
        self.fail(ErrorKind::Timeout {
            phase,
            limit,
            evidence: with_stray(self.inner.process.0.evidence(), &self.inner.health),
        })
    }

    /// Why a request got no answer.
    async fn undelivered(&self, error: &ServiceError, phase: Phase) -> Error {
        if let ServiceError::TransportSend(error) = error
            && let Some(error) = error.error.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::QuotaExceeded
        {
            return self.fail(ErrorKind::Host { reason: format!("the request was not sent: {error}") });
        }
        self.ended(phase).await
    }

    /// Why no answer can come any more.
    async fn ended(&self, phase: Phase) -> Error {
        if let Some(fault) = self.inner.health.fault() {
            return self.fail(fault_kind(fault));
        }
        if self.inner.closing.load(Ordering::Relaxed) {
            return self.fail(ErrorKind::SessionClosed { phase });
        }
        let evidence = self.inner.process.0.final_evidence().await;
        self.fail(ErrorKind::Closed { phase, evidence: with_stray(evidence, &self.inner.health) })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("server", &self.name())
            .field("process_group", &self.process_group())
            .finish_non_exhaustive()
    }
}

/// Connects to all servers at the same time; the outcomes come in the order of `configs`, when the last one is there.
pub async fn connect_all(configs: &[ServerConfig]) -> Vec<(String, Result<Session, Error>)> {
    join_all(configs.iter().map(connect_named)).await
}

async fn connect_named(config: &ServerConfig) -> (String, Result<Session, Error>) {
    (config.name.clone(), Session::connect(config).await)
}

/// Starts the process on a thread where waiting for a slow file system holds nobody up.
async fn start(config: &ServerConfig) -> Result<crate::process::Spawned, Error> {
    let fail = |kind| Error::new(&config.name, kind);
    let Transport::Stdio(command) = config.transport.clone() else {
        return Err(fail(ErrorKind::Spawn { reason: "it is no local server".to_owned() }));
    };
    let starting = tokio::task::spawn_blocking(move || spawn(&command));
    match timeout(config.connect_timeout, starting).await {
        Ok(Ok(Ok(spawned))) => Ok(spawned),
        Ok(Ok(Err(reason))) => Err(fail(ErrorKind::Spawn { reason })),
        Ok(Err(error)) => {
            Err(fail(ErrorKind::Spawn { reason: format!("the start was interrupted: {error}") }))
        }
        Err(_) => Err(fail(ErrorKind::Timeout {
            phase: Phase::Spawn,
            limit: config.connect_timeout,
            evidence: Evidence::default(),
        })),
    }
}

/// Ends the connection when the process has ended, even if an orphan of it holds the pipes open.
fn supervise(process: Arc<Process>, service: &RunningService<RoleClient, Client>) -> AbortHandle {
    let connection = service.cancellation_token();
    tokio::spawn(async move {
        process.exited().await;
        process.kill_orphans();
        // What the process wrote before its end is still being read; then the end of the stream comes by itself.
        sleep(DRAIN_GRACE).await;
        connection.cancel();
    })
    .abort_handle()
}

/// Why there was no handshake.
async fn refused(
    error: &rmcp::service::ClientInitializeError,
    health: &Health,
    process: &Process,
) -> ErrorKind {
    match health.fault() {
        Some(fault @ Fault::Protocol(_)) => fault_kind(fault),
        Some(Fault::Refused(error)) => rpc(Phase::Initialize, error.clone()),
        None => {
            let evidence = with_stray(process.final_evidence().await, health);
            let reason = if evidence.exit.is_some() {
                "the process ended before it answered `initialize`; check that its command and arguments start an MCP server".to_owned()
            } else {
                format!("the process ended its output before it answered `initialize` ({error})")
            };
            ErrorKind::Initialize { reason, evidence }
        }
    }
}

fn with_stray(mut evidence: Evidence, health: &Health) -> Evidence {
    (evidence.stray_lines, evidence.first_stray_line) = health.stray();
    evidence
}

fn fault_kind(fault: &Fault) -> ErrorKind {
    match fault {
        Fault::Protocol(reason) => ErrorKind::Protocol { reason: reason.clone() },
        Fault::Refused(error) => rpc(Phase::Initialize, error.clone()),
    }
}

fn rpc(phase: Phase, error: RpcError) -> ErrorKind {
    ErrorKind::Rpc { phase, code: error.code, message: error.message, data: error.data }
}

/// Tells the server that nobody waits for an answer any more.
struct CancelOnDrop<'a> {
    inner: &'a Inner,
    request: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let reason = Some("the caller no longer waits for the answer".to_owned());
        let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(request), reason));
        let peer = self.inner.peer.clone();
        let mut sending = Box::pin(async move { drop(peer.send_notification(notification.into()).await) });
        // The first poll hands the notification over. Closing the session waits until it is written.
        let written = tokio::task::coop::unconstrained(&mut sending).now_or_never().is_some();
        if let (false, Ok(runtime)) = (written, Handle::try_current()) {
            let mut cancelling = self.inner.cancelling.lock().unwrap_or_else(PoisonError::into_inner);
            cancelling.retain(|task| !task.is_finished());
            cancelling.push(runtime.spawn(sending));
        }
    }
}
