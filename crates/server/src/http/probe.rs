//! Answers any bytes with a handler that records what it receives: for tests and fuzz targets.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use identity::{SingleToken, bearer};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_util::sync::CancellationToken;

use super::table::Table;
use super::{connections, head};

/// The required token.
pub const TOKEN: &str = "0123456789abcdef";

/// The names of the server.
pub const HOSTS: [&str; 2] = ["localhost", "127.0.0.1:8080"];

/// Maximum size of a body that is read, in bytes.
const BODY: usize = 64 << 10;

/// The number of scheduler turns that the server gets before the client closes its side: several for each request of a
/// case.
const TURNS: usize = 100;

/// A request whose head was accepted.
#[derive(Debug)]
pub struct Admitted {
    /// Its parsed target.
    pub target: String,
    /// Its headers, by name in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Whether it has the token.
    pub is_authorized: bool,
    /// Its body, if it is complete.
    pub body: Option<Vec<u8>>,
}

/// The accepted requests and all response bytes; the client has closed its side.
///
/// # Errors
/// If there is no event loop.
pub fn answer(bytes: &[u8]) -> std::io::Result<(Vec<Admitted>, Vec<u8>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noting = seen.clone();
    let note = move |request: Request| {
        let seen = noting.clone();
        async move {
            let (admitted, response) = record(request).await;
            seen.lock().push(admitted);
            response
        }
    };
    let hosts = HOSTS.map(str::to_owned);
    let check = move |request, next| {
        let hosts = hosts.clone();
        async move { head::answer(request, |host| head::is_among(host, &hosts), next).await }
    };
    let routes = Router::new().fallback(note).layer(middleware::from_fn(check));
    let answered = runtime.block_on(async {
        let (client, server) = duplex(1 << 20);
        let entry = Arc::new(Table::default()).enter([127, 0, 0, 1].into());
        let serving =
            connections::serve(server, (entry, ([127, 0, 0, 1], 1).into()), routes, CancellationToken::new());
        let (mut reader, mut writer) = tokio::io::split(client);
        let mut answered = Vec::new();
        let talking = async {
            // A connection that was closed early accepts no more.
            let _ = writer.write_all(bytes).await;
            // The server does not answer a closed client, so it gets its turns first.
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            let _ = writer.shutdown().await;
            let _ = reader.read_to_end(&mut answered).await;
        };
        tokio::join!(serving, talking);
        answered
    });
    let seen = std::mem::take(&mut *seen.lock());
    Ok((seen, answered))
}

async fn record(request: Request) -> (Admitted, Response) {
    let (head, body) = request.into_parts();
    let headers: &HeaderMap = &head.headers;
    let is_authorized = bearer(headers).is_some_and(|shown| SingleToken::fixed(TOKEN).is(shown));
    let own = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.as_str().to_owned(), value.as_bytes().to_vec())
    };
    let admitted = Admitted {
        target: head.uri.to_string(),
        headers: headers.iter().map(own).collect(),
        is_authorized,
        body: to_bytes(body, BODY).await.ok().map(|body| body.to_vec()),
    };
    (admitted, StatusCode::NO_CONTENT.into_response())
}
