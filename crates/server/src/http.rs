//! The server over streamable HTTP: its routes and its shutdown.
//!
//! Other modules have their own parts: `http::challenge` and `http::endpoint` access, `http::accept` the
//! media types that clients take, `http::head` the refusal of heads, `http::health` the thread that accepts
//! connections, `http::connections` and `http::table` the limits of connections, `http::body` the bodies,
//! `http::sessions` those of sessions, `http::overload` the refusal of executions, `http::cors` the answers to browsers,
//! `http::metrics_listener` an address for metrics alone, and `http::local` one for pages of this machine.

mod accept;
mod body;
mod body_budget;
mod challenge;
mod connections;
mod cors;
mod endpoint;
mod head;
mod health;
mod holder;
pub mod local;
mod metrics_listener;
mod numbers;
mod overload;
pub mod probe;
pub(crate) mod sessions;
mod table;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::Response;
use axum::routing::{any, get};
use gateway::failure::Failure;
use identity::SingleToken;
use report::Kind;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::caller::Abilities;
use super::resource::Resource;
use super::scrape;
use super::session::ClientSession;
use super::shutdown;
use super::state::ServerState;

pub use body_budget::BODY_LIMIT;
pub(crate) use body_budget::IN_ALL as HELD_BODIES;
pub(crate) use metrics_listener::MetricsListener;
pub use sessions::session_end;
pub(crate) use table::ADMITTED as CONNECTIONS;
use table::Table;

use endpoint::Endpoint;

/// The path of the endpoint.
pub(crate) const PATH: &str = "/mcp";

/// Time limit for sending the last responses after everything has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Serves until `stop`, then until running work has ended; `service` handles one client.
pub async fn serve<Handler: ServerHandler>(
    state: Arc<ServerState>,
    service: impl Fn(Arc<ClientSession>) -> Handler + Send + Sync + 'static,
    address: SocketAddr,
    token: Option<SingleToken>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Kind::Network, format!("can't listen on {address}: {error}"))
            .caused_by(error)
            .hint("choose another address with --http")
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    state.history.serve_others();
    // Ends streams and sessions.
    let end = CancellationToken::new();
    let endpoint = Endpoint::new(state.clone(), service, (address, token), end.clone());
    let idle = tokio::spawn(endpoint.sessions.clone().end_idle());
    let closing = CancellationToken::new();
    let table = Table::new(state.metrics.refusals.of(Resource::Connections));
    let accepted = listener
        .into_std()
        .and_then(|listener| health::start(listener, table, probes(endpoint.clone()), closing.clone()))
        .map_err(failed)?;
    let accepting = tokio::spawn(connections::receive(accepted, routes(endpoint.clone()), closing.clone()));
    let measuring = tokio::spawn(state.pulse.clone().measure());
    state.terminal.eprint(&format!("serving MCP at http://{address}{PATH}"));
    // Connects to servers before the first client arrives.
    state.live(Abilities::default());
    stop.cancelled().await;
    shutdown::leave(&state).await;
    shutdown::finish(&state, true, std::future::pending()).await;
    // Handlers have ended; their last responses are being sent.
    let _ = timeout(LAST_ANSWERS, endpoint.answers.wait()).await;
    end.cancel();
    closing.cancel();
    idle.abort();
    measuring.abort();
    accepting.await.map_err(Failure::system)
}

fn routes<Handler: ServerHandler>(endpoint: Arc<Endpoint<Handler>>) -> axum::Router {
    axum::Router::new()
        .route(PATH, any(endpoint::answer::<Handler>))
        .route(&format!("{PATH}/"), any(endpoint::answer::<Handler>))
        .route(scrape::PATH, get(endpoint::metrics::<Handler>))
        .route(challenge::METADATA, get(metadata::<Handler>))
        .route(&format!("{}/{{*resource}}", challenge::METADATA), get(metadata::<Handler>))
        .route("/readyz", get(ready::<Handler>))
        .with_state(endpoint.clone())
        .layer(middleware::from_fn_with_state(endpoint.clone(), endpoint::unless_refused::<Handler>))
        .merge(probes(endpoint))
}

/// The answer to probes of health, which needs no event loop.
fn probes<Handler: ServerHandler>(endpoint: Arc<Endpoint<Handler>>) -> axum::Router {
    axum::Router::new()
        .route(health::PATH, get(health::answer))
        .with_state(endpoint.state.pulse.clone())
        .layer(middleware::from_fn_with_state(endpoint, endpoint::unless_refused::<Handler>))
}

/// The metadata that tells clients where to get a token.
async fn metadata<Handler: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<Handler>>>,
    request: Request,
) -> Response {
    let settings = endpoint.state.settings.borrow().clone();
    challenge::metadata(&settings.config.serve, request.uri().path(), PATH)
}

/// Reports whether snippets can be run and the servers are known. Contains nothing confidential.
async fn ready<Handler: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<Handler>>>,
) -> (StatusCode, String) {
    match endpoint.state.unready() {
        None => (StatusCode::OK, "ready\n".to_owned()),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}
