//! Receives events of subagents: an HTTP server on the loopback interface, protected by a token.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use agent::{EventBatch, MAX_BATCH, MOST_EVENTS};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Handles events. It must not take long.
type EventHandler = Arc<dyn Fn(EventBatch) + Send + Sync>;

/// Receives events until it is dropped.
#[derive(Debug)]
pub(crate) struct EventListener {
    address: String,
    serving: JoinHandle<()>,
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Clone)]
struct Shared {
    /// The hash of the expected header: hashes of this kind are compared in constant time.
    expected: blake3::Hash,
    handler: EventHandler,
}

impl EventListener {
    /// Listens on a free loopback port. Events must have the `token`: letters and digits that can't be guessed.
    ///
    /// # Errors
    /// If no port is available.
    pub(crate) async fn start(
        token: &str,
        handler: impl Fn(EventBatch) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = format!("http://{token}@{}/events", listener.local_addr()?);
        let expected = blake3::hash(format!("Bearer {token}").as_bytes());
        let routes = Router::new()
            .route("/events", post(take))
            .layer(DefaultBodyLimit::max(MAX_BATCH))
            .with_state(Shared { expected, handler: Arc::new(handler) });
        let serving = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        Ok(EventListener { address, serving })
    }

    /// The address with the token, as passed on in [`ADDRESS_VARIABLE`](agent::ADDRESS_VARIABLE).
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

async fn take(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> (StatusCode, &'static str) {
    let shown = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    if blake3::hash(shown) != shared.expected {
        return (StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
    }
    match serde_json::from_slice::<EventBatch>(&body) {
        Ok(batch) if batch.events.len() > MOST_EVENTS => {
            (StatusCode::PAYLOAD_TOO_LARGE, "too many events in one request\n")
        }
        Ok(batch) => {
            (shared.handler)(batch);
            (StatusCode::NO_CONTENT, "")
        }
        Err(_) => (StatusCode::BAD_REQUEST, "the body is not { leftOut, events }\n"),
    }
}
