//! The end that is told: an HTTP server for this machine alone, behind a token.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::SubagentEvent;

/// Most bytes of an event: its payload, twice as long where each letter is escaped, and what stands around it.
const LONGEST: usize = 512 << 10;

/// Who is told of events. It must not take long.
type EventHandler = Arc<dyn Fn(SubagentEvent) + Send + Sync>;

/// Listens to subagents until it is dropped.
#[derive(Debug)]
pub struct EventListener {
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
    /// The hash of the header that events must come with: hashes of this kind are compared in constant time.
    expected: blake3::Hash,
    told: EventHandler,
}

impl EventListener {
    /// Listens at a free port of this machine; `token` is what events must show, letters and digits that nobody guesses.
    ///
    /// # Errors
    /// Where there is no port.
    pub async fn start(
        token: &str,
        told: impl Fn(SubagentEvent) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = format!("http://{token}@{}/events", listener.local_addr()?);
        let expected = blake3::hash(format!("Bearer {token}").as_bytes());
        let routes = Router::new()
            .route("/events", post(event))
            .layer(DefaultBodyLimit::max(LONGEST))
            .with_state(Shared { expected, told: Arc::new(told) });
        let serving = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        Ok(EventListener { address, serving })
    }

    /// The address with the token, as it is handed on in [`ADDRESS_VARIABLE`](super::ADDRESS_VARIABLE).
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

async fn event(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> (StatusCode, &'static str) {
    let shown = headers.get(header::AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    if blake3::hash(shown) != shared.expected {
        return (StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
    }
    match serde_json::from_slice(&body) {
        Ok(event) => {
            (shared.told)(event);
            (StatusCode::NO_CONTENT, "")
        }
        Err(_) => (StatusCode::BAD_REQUEST, "this is no event\n"),
    }
}
