//! The server over streamable HTTP: who is let in, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::face::Handler;
use super::random;
use super::session::{ClientSession, Transport};
use super::workshop::Workshop;
use crate::failure::Failure;

/// Where the endpoint is.
pub(crate) const PATH: &str = "/mcp";

/// Most bytes of a request (4 MiB): a snippet has at most a fraction of it.
const BODY_LIMIT: usize = 4 << 20;

/// The token that clients must show.
#[derive(Clone)]
pub(crate) struct Token(Arc<str>);

impl Token {
    pub(crate) fn new(token: &str) -> Self {
        Token(Arc::from(token))
    }

    /// Whether it is this one. Takes as long for any other: both are hashed first.
    fn is(&self, shown: &str) -> bool {
        // Comparing hashes of this kind takes the same time wherever they differ.
        blake3::hash(self.0.as_bytes()) == blake3::hash(shown.as_bytes())
    }
}

/// Serves until `stop`.
pub(crate) async fn serve(
    workshop: Arc<Workshop>,
    address: SocketAddr,
    token: Option<Token>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::host(format!("{address} can't be served at: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let routes = routes(workshop.clone(), address, token, stop.clone());
    workshop.terminal.tell(&format!("serving MCP at http://{address}{PATH}"));
    axum::serve(listener, routes.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(async move { stop.cancelled().await })
        .await
        .map_err(failed)
}

fn routes(
    workshop: Arc<Workshop>,
    address: SocketAddr,
    token: Option<Token>,
    stop: CancellationToken,
) -> axum::Router {
    let serve = workshop.settings.borrow().config.serve.clone();
    let mut hosts = StreamableHttpServerConfig::default().allowed_hosts;
    hosts.push(address.ip().to_string());
    hosts.extend(serve.hosts);
    // Pages of this very address are no others': browsers name it, as they name any.
    let mut origins = serve.origins;
    origins.push(format!("http://{address}"));
    if address.ip().is_loopback() {
        origins.push(format!("http://localhost:{}", address.port()));
    }
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_cancellation_token(stop);
    config.max_request_body_bytes = BODY_LIMIT;
    let make = {
        let workshop = workshop.clone();
        move || {
            let session = ClientSession::new(random::name()?, Transport::Http, workshop.clone());
            Ok(Handler::new(workshop.clone(), session))
        }
    };
    let service = StreamableHttpService::new(make, Arc::new(LocalSessionManager::default()), config);
    axum::Router::new()
        .nest_service(PATH, service)
        .layer(middleware::from_fn_with_state(token, admit))
        .route("/healthz", get(|| async { "ok\n" }))
}

/// The other end of the connection that a request came by.
pub(crate) fn address_of(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| *address)
}

/// Lets in who shows the token (RFC 6750, section 2.1).
async fn admit(State(token): State<Option<Token>>, request: Request, next: Next) -> Response {
    let Some(token) = token else { return next.run(request).await };
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.split_once(' '));
    match shown {
        Some((scheme, shown)) if scheme.eq_ignore_ascii_case("bearer") && token.is(shown.trim()) => {
            next.run(request).await
        }
        _ => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, challenge, "a bearer token is wanted\n").into_response()
        }
    }
}
