//! What carries an export to the collector.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::header::{HeaderName, HeaderValue};
use tokio::runtime::{Builder, Runtime};

/// How long an export may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of a collector's answer.
const ANSWER: usize = 64 * 1024;

/// A client with an event loop of its own: exports are sent from a thread that has none.
pub(super) struct Client {
    client: reqwest::Client,
    runtime: Runtime,
    /// Whether the collector's absence was told.
    is_told: AtomicBool,
}

impl Client {
    pub(super) fn new() -> io::Result<Self> {
        // Another part of this process may have chosen one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
        let client = builder.build().map_err(io::Error::other)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Client { client, runtime, is_told: AtomicBool::new(false) })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sending = self.client.request(parts.method, parts.uri.to_string());
        // Errors of the client quote the address, which may hold a password.
        let sent =
            sending.headers(parts.headers).body(body).send().await.map_err(reqwest::Error::without_url);
        let mut answer = sent?;
        let mut response = Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            response = response.header(name, value);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
            if bytes.len() + chunk.len() > ANSWER {
                return Err(format!("an answer of more than {ANSWER} bytes").into());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(response.body(bytes.into())?)
    }

    /// Tells the first failure of a row.
    fn tell(&self, reason: Option<String>) {
        match reason {
            Some(reason) if !self.is_told.swap(true, Ordering::Relaxed) => {
                terminal::say(format_args!("toolsmith: telemetry can't be exported: {reason}\n"));
            }
            Some(_) => {}
            None => self.is_told.store(false, Ordering::Relaxed),
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let done = self.runtime.block_on(self.send(request));
        self.tell(match &done {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answers {}", response.status())),
            Err(error) => Some(chain(error.as_ref())),
        });
        done
    }
}

/// An error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// Whether these can be headers; the exporter would leave out the others without a word.
pub(super) fn check(headers: &HashMap<String, String>) -> Result<(), String> {
    for (name, value) in headers {
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
        HeaderValue::from_str(value)
            .map_err(|_| format!("the header {name:?} has a value that can't be sent"))?;
    }
    Ok(())
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Client")
    }
}
