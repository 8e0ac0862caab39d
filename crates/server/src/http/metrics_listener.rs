//! A listener for scrapes of the metrics alone.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::routing::get;
use gateway::failure::Failure;
use identity::has_identities;
use report::Kind;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connections;
use crate::scrape::{self, PATH};
use crate::state::ServerState;

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
        let users_have_identities = has_identities(&state.settings.borrow().config.serve);
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
            async move { scrape::answer(&state) }
        };
        let routes = axum::Router::new().route(PATH, get(scrape));
        connections::accept_and_serve(self.listener, routes, CancellationToken::new()).await;
    }
}
