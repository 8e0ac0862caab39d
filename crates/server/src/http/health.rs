//! Accepts connections on a thread of its own, which answers probes of health itself: also while the event loop is busy. It
//! passes all other connections to the loop.
//!
//! The first bytes of a connection decide. If a probe follows another request on a connection, the loop answers it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::Response;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connections::{self, Arrived};
use super::table::{Entry, Table};
use crate::pulse::Pulse;

/// The path of the probe.
pub(super) const PATH: &str = "/healthz";

/// The first bytes of a probe, before a space or a query.
const PROBE: &[u8] = b"GET /healthz";

/// After how long (60 s) a loop that does not turn counts as dead: far longer than any work takes that stays on it.
const DEAD: Duration = Duration::from_secs(60);

/// The pause (50 ms) before reading the rest of the first bytes: clients send them together.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections that the loop has not taken yet. Further ones wait with their tasks, and can be closed for others there.
const UNTAKEN: usize = 16;

/// Starts the thread, which ends after `closing`. The table limits the connections, `routes` answer probes, and the other
/// connections arrive in the result.
///
/// # Errors
/// If there is no thread, or no descriptor for its own loop.
pub(super) fn start(
    listener: TcpListener,
    table: Table,
    routes: Router,
    closing: CancellationToken,
) -> io::Result<mpsc::Receiver<Arrived>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _entered = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    // What follows on a connection would be for the loop.
    let close = |mut answer: Response| async move {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        answer
    };
    let routes = routes.layer(map_response(close));
    let (passed, arrived) = mpsc::channel(UNTAKEN);
    let greet = {
        let closing = closing.clone();
        move |stream, entry, address| {
            greet(stream, (entry, address), routes.clone(), passed.clone(), closing.clone())
        }
    };
    thread::Builder::new()
        .name("health".to_owned())
        .spawn(move || runtime.block_on(connections::accept(listener, Arc::new(table), greet, closing)))?;
    Ok(arrived)
}

/// Answers a probe, or passes the connection on.
async fn greet(
    stream: TcpStream,
    (entry, address): (Arc<Entry>, SocketAddr),
    routes: Router,
    passed: mpsc::Sender<Arrived>,
    closing: CancellationToken,
) {
    let end = connections::end_of_stranger(&entry, &closing);
    let pass = async {
        if is_probe(&stream).await? {
            return Ok::<_, io::Error>(Some(stream));
        }
        let arrived = Arrived { stream: stream.into_std()?, address, entry: entry.clone() };
        // It can't be sent if the loop has ended.
        let _ = passed.send(arrived).await;
        Ok(None)
    };
    let probing = tokio::select! {
        // A client may disconnect at any time.
        passed = pass => passed.ok().flatten(),
        () = end => None,
    };
    if let Some(stream) = probing {
        connections::serve(stream, (entry, address), routes, closing).await;
    }
}

/// Whether the first bytes are those of a probe. They stay to be read.
async fn is_probe(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0; PROBE.len() + 1];
    loop {
        let count = stream.peek(&mut first).await?;
        let first = first.get(..count).unwrap_or_default();
        if count == 0 || !PROBE.starts_with(first) {
            return Ok(matches!(first.strip_prefix(PROBE), Some(b" " | b"?")));
        }
        // The kernel reports that bytes can be read, not that there are more.
        sleep(PAUSE).await;
    }
}

/// The answer to a probe.
pub(super) async fn answer(State(pulse): State<Arc<Pulse>>) -> (StatusCode, String) {
    match pulse.since_turn().filter(|time| *time >= DEAD) {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(time) => {
            let why = format!("the event loop has not turned for {} s\n", time.as_secs());
            (StatusCode::SERVICE_UNAVAILABLE, why)
        }
    }
}

#[cfg(test)]
mod tests;
