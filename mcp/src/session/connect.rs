//! How a session begins: the connection, and which of the protocol's two eras the server lives in.
//!
//! Over HTTP a server is first asked in the newer way (`server/discover`), which older servers refuse at once. A local
//! server is first asked in the older way: those that know only that one may hang or die when asked otherwise, and those
//! that know only the newer one refuse, and are started again.

use std::{future::Future, sync::Arc, time::Duration};

use futures::future::join_all;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    service::{ClientInitializeError, RunningService},
    transport::{
        IntoTransport,
        streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout_at},
};

use super::{Inner, Session, process::LocalServer, with_stray};
use crate::{
    client::{Client, HANDSHAKE_VERSION, STATELESS_VERSION},
    error::{Challenge, Error, ErrorKind, Evidence, Phase},
    host::{Host, NoHost, Notice},
    http::{DISCOVERY_TIMEOUT, HttpClient, HttpFailure, Sender},
    server_config::{Command, Remote, ServerConfig, Transport},
    sse::SseTransport,
    trace::Trace,
    wire::{Fault, Health, LineTransport, MemoryBudget, ResponseRouter, RpcError},
};

/// How many requests are under way at once to one server over HTTP.
const MAX_CONCURRENT: usize = 256;

/// How many messages wait within the library: each has at most the size of a notification or a request.
const MESSAGES_WAITING: usize = 4;

impl Session {
    /// Connects to the server and agrees on a protocol version, within the configured time for connecting.
    ///
    /// If it fails, or the future is dropped, a local server's process and its group are killed.
    pub async fn connect(config: &ServerConfig) -> Result<Self, Error> {
        Self::connect_with(config, Arc::new(NoHost)).await
    }

    /// The same, with a `host` that answers what the server asks of a client.
    pub async fn connect_with(config: &ServerConfig, host: Arc<dyn Host>) -> Result<Self, Error> {
        let attempt = Attempt {
            config,
            client: Client::new(config, host),
            deadline: Instant::now() + config.connect_timeout,
        };
        match &config.transport {
            Transport::Stdio(command) => attempt.local(command).await,
            Transport::Http(remote) => attempt.http(remote).await,
            Transport::Sse(remote) => attempt.sse(remote).await,
        }
    }

    /// The same, with a server that is asked in the newer way alone (`server/discover`): for tests and fuzz targets.
    #[doc(hidden)]
    pub async fn discover_over<R, W>(
        config: &ServerConfig,
        host: Arc<dyn Host>,
        (read, write): (R, W),
    ) -> Result<Self, Error>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let deadline = Instant::now() + config.connect_timeout;
        let attempt = Attempt { config, client: Client::new(config, host), deadline };
        let health = attempt.health();
        let transport = LineTransport::new(read, write, attempt.router(&health));
        let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![STATELESS_VERSION] };
        attempt.shake_hands(transport, lifecycle, health, None).await
    }

    /// The same with a server at the other end of `read` and `write`; `config` says what it is called and how long
    /// requests may take, and its transport is not used.
    pub async fn connect_over<R, W>(
        config: &ServerConfig,
        host: Arc<dyn Host>,
        (read, write): (R, W),
    ) -> Result<Self, Error>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let attempt = Attempt {
            config,
            client: Client::new(config, host),
            deadline: Instant::now() + config.connect_timeout,
        };
        let health = attempt.health();
        let transport = LineTransport::new(read, write, attempt.router(&health));
        attempt.shake_hands(transport, ClientLifecycleMode::Initialize, health, None).await
    }
}

/// Connects to all servers at the same time; the outcomes come in the order of `configs`, when the last one is there.
pub async fn connect_all(configs: &[ServerConfig]) -> Vec<(String, Result<Session, Error>)> {
    join_all(configs.iter().map(connect_named)).await
}

async fn connect_named(config: &ServerConfig) -> (String, Result<Session, Error>) {
    (config.name.clone(), Session::connect(config).await)
}

/// An attempt to connect.
struct Attempt<'a> {
    config: &'a ServerConfig,
    client: Client,
    deadline: Instant,
}

impl Attempt<'_> {
    async fn local(&self, command: &Command) -> Result<Session, Error> {
        let refused = match self.started(command, ClientLifecycleMode::Initialize).await {
            Err(error) if matches!(*error.kind, ErrorKind::Rpc { .. }) => error,
            connected => return connected,
        };
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![STATELESS_VERSION] };
        // What it said to the handshake is what people know from other clients.
        self.started(command, discover).await.map_err(|_| refused)
    }

    async fn started(&self, command: &Command, lifecycle: ClientLifecycleMode) -> Result<Session, Error> {
        let (local, (stdout, stdin)) = LocalServer::start(self.config, command, &self.client).await?;
        let health = self.health();
        let transport = LineTransport::new(stdout, stdin, self.router(&health));
        self.shake_hands(transport, lifecycle, health, Some(local)).await
    }

    async fn http(&self, remote: &Remote) -> Result<Session, Error> {
        let auto = ClientLifecycleMode::Auto {
            preferred_versions: vec![STATELESS_VERSION],
            legacy_version: Some(HANDSHAKE_VERSION),
        };
        // A short time for connecting has room for the handshake as well.
        let patience = DISCOVERY_TIMEOUT.min(self.config.connect_timeout / 4);
        let health = self.health();
        let client = self.http_client(remote, &health, Some(patience))?;
        let refused = match self.over_http(remote, client.clone(), auto, health).await {
            Err(error)
                if matches!(*error.kind, ErrorKind::Rpc { .. }) && client.left_discovery_unanswered() =>
            {
                error
            }
            connected => return connected,
        };
        // It knows no handshake, and may only have been slow.
        let health = self.health();
        let client = self.http_client(remote, &health, None)?;
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![STATELESS_VERSION] };
        self.over_http(remote, client, discover, health).await.map_err(|_| refused)
    }

    fn http_client(
        &self,
        remote: &Remote,
        health: &Arc<Health>,
        patience: Option<Duration>,
    ) -> Result<HttpClient, Error> {
        let router = self.router(health);
        Ok(HttpClient::new(self.sender(remote)?, router, self.config.request_timeout, patience))
    }

    async fn over_http(
        &self,
        remote: &Remote,
        client: HttpClient,
        lifecycle: ClientLifecycleMode,
        health: Arc<Health>,
    ) -> Result<Session, Error> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str());
        // A request that waits for others would wait within its own time.
        config.max_concurrent_requests = MAX_CONCURRENT;
        config.channel_buffer_capacity = MESSAGES_WAITING;
        let transport = StreamableHttpClientTransport::with_client(client, config);
        self.shake_hands(transport, lifecycle, health, None).await
    }

    async fn sse(&self, remote: &Remote) -> Result<Session, Error> {
        let health = self.health();
        let opening = SseTransport::open(self.sender(remote)?, self.router(&health));
        let transport = self.in_time(opening, Evidence::default).await?;
        let transport = transport.map_err(|failure| self.fail(http_kind(Phase::Initialize, failure)))?;
        self.shake_hands(transport, ClientLifecycleMode::Initialize, health, None).await
    }

    fn health(&self) -> Arc<Health> {
        let (client, of_altered) = (self.client.clone(), self.client.clone());
        Arc::new(Health::new(
            move |line| client.tell(&Notice::Stray(line.to_owned())),
            move |why| {
                of_altered.tell(&Notice::Log {
                    level: "warning".to_owned(),
                    logger: Some("toolsmith".to_owned()),
                    data: why.into(),
                });
            },
        ))
    }

    fn router(&self, health: &Arc<Health>) -> ResponseRouter {
        let trace = Trace::new(&self.config.name, self.config.debug);
        ResponseRouter::new(Arc::clone(health), trace, MemoryBudget::new(self.client.waits()))
    }

    fn sender(&self, remote: &Remote) -> Result<Sender, Error> {
        Sender::new(self.config, remote).map_err(|reason| self.fail(ErrorKind::Host { reason }))
    }

    async fn shake_hands<T, E, A>(
        &self,
        transport: T,
        lifecycle: ClientLifecycleMode,
        health: Arc<Health>,
        mut local: Option<LocalServer>,
    ) -> Result<Session, Error>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        // Pinned here, to look at the process before its pipes are closed.
        let mut handshake = std::pin::pin!(self.client.clone().serve_with_lifecycle(transport, lifecycle));
        let evidence = || {
            let evidence = local.as_ref().map(LocalServer::evidence).unwrap_or_default();
            with_stray(evidence, &health)
        };
        let service = match self.in_time(&mut handshake, evidence).await? {
            Ok(service) => service,
            Err(error) => return Err(self.fail(refused(&error, &health, local.as_ref()).await)),
        };
        if let Some(local) = &mut local {
            local.supervise(&service);
        }
        self.session(service, health, local)
    }

    fn session(
        &self,
        service: RunningService<RoleClient, Client>,
        health: Arc<Health>,
        local: Option<LocalServer>,
    ) -> Result<Session, Error> {
        let peer = service.peer().clone();
        let Some(server) = peer.peer_info() else {
            return Err(self.fail(ErrorKind::Protocol { reason: "it did not introduce itself".to_owned() }));
        };
        let inner = Inner {
            config: self.config.clone(),
            client: self.client.clone(),
            peer,
            server,
            health,
            trace: Trace::new(&self.config.name, self.config.debug),
            local,
            service: Some(service).into(),
            parameter_headers: Default::default(),
            closing: false.into(),
            subscriptions: Default::default(),
            cancelling: Default::default(),
        };
        Ok(Session { inner: Arc::new(inner) })
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = T>,
        evidence: impl FnOnce() -> Evidence,
    ) -> Result<T, Error> {
        timeout_at(self.deadline, work).await.map_err(|_| {
            let limit = self.config.connect_timeout;
            self.fail(ErrorKind::Timeout { phase: Phase::Initialize, limit, evidence: evidence() })
        })
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(&self.config.name, kind)
    }
}

/// Why there was no handshake.
async fn refused(error: &ClientInitializeError, health: &Health, local: Option<&LocalServer>) -> ErrorKind {
    if let Some(fault) = health.fault() {
        return fault_kind(Phase::Initialize, fault);
    }
    if let ClientInitializeError::JsonRpcError(error) = error {
        let error = RpcError { code: error.code.0.into(), message: error.message.to_string(), data: None };
        return rpc_kind(Phase::Initialize, error);
    }
    let Some(local) = local else {
        let reason = told(error);
        return ErrorKind::Initialize { reason, evidence: with_stray(Evidence::default(), health) };
    };
    let evidence = with_stray(local.final_evidence().await, health);
    let reason = if evidence.exit.is_some() {
        "the process ended before it answered `initialize`; check that its command and arguments start an MCP server".to_owned()
    } else {
        format!("the process ended its output before it answered `initialize` ({error})")
    };
    ErrorKind::Initialize { reason, evidence }
}

/// What the library says of a handshake over HTTP that failed.
fn told(error: &ClientInitializeError) -> String {
    match error {
        // It was asked in both ways; what it says to the older one is what people know.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => told(fallback),
        ClientInitializeError::ConnectionClosed(_) => {
            "the server ended its answer before it had introduced itself".to_owned()
        }
        other => crate::http::chain(other),
    }
}

/// Why a connection was given up, as an error.
pub(super) fn fault_kind(phase: Phase, fault: &Fault) -> ErrorKind {
    match fault {
        Fault::Protocol(reason) => ErrorKind::Protocol { reason: reason.clone() },
        Fault::Refused(error) => rpc_kind(Phase::Initialize, error.clone()),
        Fault::Http(failure) => http_kind(phase, failure.clone()),
    }
}

/// Why a request could not be carried over HTTP, as an error.
pub(super) fn http_kind(phase: Phase, failure: HttpFailure) -> ErrorKind {
    let reason = failure.to_string();
    match failure {
        HttpFailure::Unauthorized { challenge, by_login: true, .. } => {
            ErrorKind::Unauthorized { phase, challenge: Challenge::new(challenge), reason }
        }
        HttpFailure::Unauthorized { by_login: false, .. } => {
            let reason = format!("{reason}; check the configured headers, which it does not let in");
            ErrorKind::Http { phase, reason }
        }
        HttpFailure::Protocol(reason) => ErrorKind::Protocol { reason },
        _ if phase == Phase::Initialize => ErrorKind::Initialize { reason, evidence: Evidence::default() },
        _ => ErrorKind::Http { phase, reason },
    }
}

pub(super) fn rpc_kind(phase: Phase, error: RpcError) -> ErrorKind {
    ErrorKind::Rpc { phase, code: error.code, message: error.message, data: error.data }
}
