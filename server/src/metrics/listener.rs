//! Answers scrapes: `/metrics` on a listener of its own, or at the address of `--http`.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use gateway::failure::Failure;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use report::Kind;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::gauges;
use crate::http;
use crate::state::ServerState;

/// The path of the metrics.
pub(crate) const PATH: &str = "/metrics";

/// The prefix of all names.
const PREFIX: &str = "toolsmith";

/// OpenMetrics 1.0, which Prometheus has read since version 2.5.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A listener for scrapes alone. It checks no token, so its address decides who can reach it.
pub(crate) struct MetricsListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsListener {
    /// Starts listening if a listener is configured; `serves_http` tells whether there is another address.
    ///
    /// # Errors
    /// If the address can't be used, or if the metrics have no address at all.
    pub(crate) async fn of(state: &ServerState, serves_http: bool) -> Result<Option<Self>, Failure> {
        let Some(metrics) = state.settings.borrow().config.serve.metrics.clone() else { return Ok(None) };
        let users_have_identities = http::has_identities(&state.settings.borrow().config.serve);
        match metrics.address {
            Some(address) => Self::bind(address).await.map(Some),
            None if serves_http && users_have_identities => Err(Failure::new(
                Kind::Configuration,
                "serve.metrics has no address, and users with identities must not see the numbers of others",
            )
            .hint("set serve.metrics.address, for example to 127.0.0.1:9464")),
            None if serves_http => Ok(None),
            None => Err(Failure::new(
                Kind::Configuration,
                "serve.metrics has no address, and without --http there is no other",
            )
            .hint("set serve.metrics.address, for example to 127.0.0.1:9464")),
        }
    }

    async fn bind(address: SocketAddr) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(Kind::Network, format!("can't listen for metrics on {address}: {error}"))
                .caused_by(error)
                .hint("choose another address in serve.metrics.address")
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(MetricsListener { listener, address })
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self, state: Arc<ServerState>) {
        state.terminal.eprint(&format!("serving metrics at http://{}{PATH}", self.address));
        let scrape = move || {
            let state = state.clone();
            async move { answer(&state) }
        };
        let routes = axum::Router::new().route(PATH, get(scrape));
        http::accept(self.listener, routes, CancellationToken::new()).await;
    }
}

/// The current values, as the answer to a scrape.
pub(crate) fn answer(state: &Arc<ServerState>) -> Response {
    let mut registry = Registry::default();
    gauges::register_process(&mut registry);
    let own = registry.sub_registry_with_prefix(PREFIX);
    state.metrics.register(own);
    gauges::register_server(own, state);
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}
