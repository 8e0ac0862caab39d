//! What is made of any bytes that a client sends, with a handler that notes what it is given: for tests and fuzz targets.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_util::sync::CancellationToken;

use super::table::Table;
use super::token::Token;
use super::{connections, head};

/// The token that is asked for.
pub const TOKEN: &str = "0123456789abcdef";

/// The names of the server that is asked.
pub const HOSTS: [&str; 2] = ["localhost", "127.0.0.1:8080"];

/// Most bytes of a body that are read.
const BODY: usize = 64 << 10;

/// How often the server can go on before the client closes its side: several times for each request of a case.
const TURNS: usize = 100;

/// A request that was not refused for its head.
#[derive(Debug)]
pub struct Admitted {
    /// Its target, as it is read.
    pub target: String,
    /// Its headers, by name in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Whether it shows the token.
    pub is_authorized: bool,
    /// Its body, if all of it has come.
    pub body: Option<Vec<u8>>,
}

/// The requests that are let through, and all that is answered; the client has closed its side.
///
/// # Errors
/// There is no event loop.
pub fn answer(bytes: &[u8]) -> std::io::Result<(Vec<Admitted>, Vec<u8>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noting = seen.clone();
    let note = move |request: Request| {
        let seen = noting.clone();
        async move {
            let (admitted, response) = noted(request).await;
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(admitted);
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
        let serving = connections::serve(server, entry, routes, CancellationToken::new());
        let (mut reader, mut writer) = tokio::io::split(client);
        let mut answered = Vec::new();
        let talking = async {
            // A connection that is closed early takes no more.
            let _ = writer.write_all(bytes).await;
            // A client that has gone is not answered: the server has its turns before that.
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            let _ = writer.shutdown().await;
            let _ = reader.read_to_end(&mut answered).await;
        };
        tokio::join!(serving, talking);
        answered
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((seen, answered))
}

async fn noted(request: Request) -> (Admitted, Response) {
    let (head, body) = request.into_parts();
    let headers: &HeaderMap = &head.headers;
    let is_authorized = Token::fixed(TOKEN).challenge(headers).is_none();
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
