//! The start of a session: the connection, and the choice between the protocol's two eras.
//!
//! Over HTTP the newer protocol is tried first (`server/discover`), which older servers reject at once. With a local
//! server the older protocol is tried first: servers that support only that one may hang or crash on the newer one, and
//! servers that support only the newer one reject it, and are started again.

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
    http::{DISCOVERY_TIMEOUT, HttpClient, HttpFailure, LoginHelp, Sender},
    in_process::{self, OpenError, Tools},
    keyring, secrets,
    server_config::{Command, OpenApi, Remote, ServerConfig, Transport},
    sse::SseTransport,
    trace::Trace,
    wire::{Fault, Health, LineTransport, MemoryBudget, ResponseRouter, RpcError},
};

/// Limit on concurrent requests to one server over HTTP.
const MAX_CONCURRENT: usize = 256;

/// Buffer size between both ends of a session within this process, in bytes.
const PIPE: usize = 64 << 10;

/// Limit on messages that wait within the library: each is at most as large as a notification or a request.
const MESSAGES_WAITING: usize = 4;

impl Session {
    /// Connects to the server and negotiates a protocol version, within the connect timeout.
    ///
    /// If it fails, or the future is dropped, a local server's process and its group are killed.
    pub async fn connect(config: &ServerConfig) -> Result<Self, Error> {
        Self::connect_with(config, Arc::new(NoHost)).await
    }

    /// Like [`Session::connect`], with a `host` that handles the server's requests and notifications.
    pub async fn connect_with(config: &ServerConfig, host: Arc<dyn Host>) -> Result<Self, Error> {
        let config = &*keyring::resolved(config).await?;
        let attempt = Attempt {
            config,
            client: Client::new(config, host),
            deadline: Instant::now() + config.connect_timeout,
        };
        match &config.transport {
            Transport::Stdio(command) => attempt.local(command).await,
            Transport::Http(remote) => attempt.http_or_sse(remote).await,
            Transport::Sse(remote) => attempt.sse_or_http(remote).await,
            Transport::OpenApi(api) => attempt.api(api).await,
            Transport::InProcess(server) => attempt.within(server.open(config.connect_timeout)).await,
        }
    }

    /// Connects over a pair of streams with the newer protocol only (`server/discover`): for tests and fuzz targets.
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

    /// Connects to the server at the other end of `read` and `write`. `config` provides the name and the timeouts; its
    /// transport is not used.
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

/// Connects to all servers concurrently; returns the results in the order of `configs`, once all are known.
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

/// The reason why a transport does not reach the server.
struct Unconnected {
    error: Error,
    /// Whether the server reacts like one with another transport.
    may_be_other: bool,
}

impl From<Error> for Unconnected {
    fn from(error: Error) -> Self {
        Self { error, may_be_other: false }
    }
}

impl Attempt<'_> {
    async fn local(&self, command: &Command) -> Result<Session, Error> {
        let refused = match self.started(command, ClientLifecycleMode::Initialize).await {
            Err(error) if matches!(*error.kind, ErrorKind::Rpc { .. }) => error,
            connected => return connected,
        };
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![STATELESS_VERSION] };
        // Users know the error to the handshake from other clients.
        self.started(command, discover).await.map_err(|_| refused)
    }

    async fn started(&self, command: &Command, lifecycle: ClientLifecycleMode) -> Result<Session, Error> {
        let (local, (stdout, stdin)) = LocalServer::start(self.config, command, &self.client).await?;
        let health = self.health();
        let transport = LineTransport::new(stdout, stdin, self.router(&health));
        self.shake_hands(transport, lifecycle, health, Some(local)).await
    }

    /// Connects to the server within this process that calls an API.
    async fn api(&self, api: &OpenApi) -> Result<Session, Error> {
        api.remote.headers.iter().for_each(|(name, value)| secrets::learn_header(name, value));
        self.within(api.server.open(api, self.config.connect_timeout)).await
    }

    /// Connects to the tools of a server within this process.
    async fn within(
        &self,
        opening: impl Future<Output = Result<Arc<dyn Tools>, OpenError>>,
    ) -> Result<Session, Error> {
        let tools = self.in_time(opening, Evidence::default).await?.map_err(|error| {
            let reason = error.to_string();
            self.fail(ErrorKind::Initialize { reason, evidence: Evidence::default() })
        })?;
        let (near, far) = tokio::io::duplex(PIPE);
        // It ends with this end of the stream.
        tokio::spawn(in_process::serve(tools, far));
        let (read, write) = tokio::io::split(near);
        let health = self.health();
        let transport = LineTransport::new(read, write, self.router(&health));
        self.shake_hands(transport, ClientLifecycleMode::Initialize, health, None).await
    }

    /// Connects with streamable HTTP; if its transport is not configured, a server that does not use it may use
    /// server-sent events (MCP, basic/transports, "Backwards Compatibility").
    async fn http_or_sse(&self, remote: &Remote) -> Result<Session, Error> {
        match self.http(remote).await {
            Err(http) if remote.is_assumed && http.may_be_other => {
                self.sse(remote).await.map_err(|sse| self.neither(&http.error, sse.error))
            }
            connected => connected.map_err(|unconnected| unconnected.error),
        }
    }

    /// Connects with server-sent events; if only the address suggests this transport, tries streamable HTTP too.
    async fn sse_or_http(&self, remote: &Remote) -> Result<Session, Error> {
        match self.sse(remote).await {
            Err(sse) if remote.is_assumed && sse.may_be_other => match self.http(remote).await {
                Err(http) if matches!(*http.error.kind, ErrorKind::Unauthorized { .. }) => Err(http.error),
                connected => connected.map_err(|http| self.neither(&http.error, sse.error)),
            },
            connected => connected.map_err(|unconnected| unconnected.error),
        }
    }

    /// The error of a server that neither transport reaches. A login helps with both.
    fn neither(&self, http: &Error, sse: Error) -> Error {
        if matches!(*sse.kind, ErrorKind::Unauthorized { .. }) {
            return sse;
        }
        let reason = |error: &Error| match &*error.kind {
            ErrorKind::Initialize { reason, .. } | ErrorKind::Protocol { reason } => reason.clone(),
            other => other.to_string(),
        };
        let (http, sse) = (reason(http), reason(&sse));
        let reason = if http == sse {
            format!("with streamable HTTP and with server-sent events: {http}")
        } else {
            format!("with streamable HTTP: {http}\nwith server-sent events: {sse}")
        };
        self.fail(ErrorKind::Initialize { reason, evidence: Evidence::default() })
    }

    async fn http(&self, remote: &Remote) -> Result<Session, Unconnected> {
        let auto = ClientLifecycleMode::Auto {
            preferred_versions: vec![STATELESS_VERSION],
            legacy_version: Some(HANDSHAKE_VERSION),
        };
        // A short connect timeout must leave time for the handshake as well.
        let patience = DISCOVERY_TIMEOUT.min(self.config.connect_timeout / 4);
        let health = self.health();
        let client = self.http_client(remote, &health, Some(patience))?;
        let refused = match self.over_http(remote, client.clone(), auto, health).await {
            Err(error)
                if matches!(*error.kind, ErrorKind::Rpc { .. }) && client.left_discovery_unanswered() =>
            {
                error
            }
            connected => {
                let may_be_other = client.may_be_sse();
                return connected.map_err(|error| Unconnected { error, may_be_other });
            }
        };
        // The server rejects the handshake, and may only have been slow.
        let health = self.health();
        let client = self.http_client(remote, &health, None)?;
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![STATELESS_VERSION] };
        Ok(self.over_http(remote, client, discover, health).await.map_err(|_| refused)?)
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
        // A request that waits for others uses up its own time.
        config.max_concurrent_requests = MAX_CONCURRENT;
        config.channel_buffer_capacity = MESSAGES_WAITING;
        let transport = StreamableHttpClientTransport::with_client(client, config);
        self.shake_hands(transport, lifecycle, health, None).await
    }

    async fn sse(&self, remote: &Remote) -> Result<Session, Unconnected> {
        let health = self.health();
        let opening = Box::pin(SseTransport::open(self.sender(remote)?, self.router(&health)));
        let transport = self.in_time(opening, Evidence::default).await?;
        let transport = transport.map_err(|failure| Unconnected {
            may_be_other: failure.is_of_another_transport(),
            error: self.fail(http_kind(Phase::Initialize, failure)),
        })?;
        Ok(self.shake_hands(transport, ClientLifecycleMode::Initialize, health, None).await?)
    }

    fn health(&self) -> Arc<Health> {
        let (client, of_altered) = (self.client.clone(), self.client.clone());
        Arc::new(Health::new(
            move |line| client.notify(&Notice::Stray(line.to_owned())),
            move |why| {
                of_altered.notify(&Notice::Log {
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
        Sender::new(self.config, remote)
            .map_err(|error| self.fail(ErrorKind::Host { reason: error.to_string() }))
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
        // Kept here, so that the process is inspected before its pipes are closed.
        let mut handshake = Box::pin(self.client.clone().serve_with_lifecycle(transport, lifecycle));
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
            return Err(
                self.fail(ErrorKind::Protocol { reason: "it sent no information about itself".to_owned() })
            );
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
            timers: Default::default(),
        };
        Ok(Session { inner: Arc::new(inner), holder: None })
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

/// Returns the reason why the handshake failed.
async fn refused(error: &ClientInitializeError, health: &Health, local: Option<&LocalServer>) -> ErrorKind {
    if let Some(fault) = health.fault() {
        return fault_kind(Phase::Initialize, fault);
    }
    if let ClientInitializeError::JsonRpcError(error) = error {
        let error = RpcError { code: error.code.0.into(), message: error.message.to_string(), data: None };
        return rpc_kind(Phase::Initialize, error);
    }
    let Some(local) = local else {
        let reason = reason_of(error);
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

/// The library's description of a failed handshake over HTTP.
fn reason_of(error: &ClientInitializeError) -> String {
    match error {
        // Both protocols were tried; users know the error to the older one.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => reason_of(fallback),
        ClientInitializeError::ConnectionClosed(_) => {
            "the server ended its answer before the handshake was complete".to_owned()
        }
        other => crate::http::chain(other),
    }
}

/// Converts the fault of a connection to an error.
pub(super) fn fault_kind(phase: Phase, fault: &Fault) -> ErrorKind {
    match fault {
        Fault::Protocol(reason) => ErrorKind::Protocol { reason: reason.clone() },
        Fault::Refused(error) => rpc_kind(Phase::Initialize, error.clone()),
        Fault::Http(failure) => http_kind(phase, failure.clone()),
    }
}

/// Converts an HTTP failure to an error.
pub(super) fn http_kind(phase: Phase, failure: HttpFailure) -> ErrorKind {
    let reason = failure.to_string();
    match failure {
        HttpFailure::Unauthorized { challenge, login: LoginHelp::Possible, .. } => {
            ErrorKind::Unauthorized { phase, challenge: Challenge::new(challenge), reason }
        }
        HttpFailure::Unauthorized { login: LoginHelp::Disabled, .. } => {
            let reason = format!("{reason}; check the configured headers, which it rejects");
            ErrorKind::Http { phase, reason }
        }
        HttpFailure::Unauthorized { login: LoginHelp::Exchanged, .. } => {
            let reason = format!(
                "{reason}; it rejects the token from `oauth.token_url`: compare `oauth.audience` and `oauth.scope` with \
                 what it requires"
            );
            ErrorKind::Http { phase, reason }
        }
        HttpFailure::Unauthorized { login: LoginHelp::Unpublished, .. } => {
            let reason = format!(
                "{reason}; it does not publish how to log in; if it requires a key, configure it under `headers`, such \
                 as `headers: {{ Authorization: \"Bearer ${{KEY}}\" }}`"
            );
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
