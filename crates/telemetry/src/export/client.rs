//! The HTTP client that sends an export to the collector.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::header::{HeaderName, HeaderValue};
use tokio::runtime::{Builder, Runtime};

/// Time limit of an export.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a collector's response, in bytes.
const ANSWER: usize = 64 * 1024;

/// A client with its own event loop: exports are sent from a thread without one.
pub(crate) struct Client {
    client: reqwest::Client,
    runtime: Runtime,
    /// Whether the collector's failure was reported.
    is_reported: AtomicBool,
}

impl Client {
    pub(crate) fn new() -> io::Result<Self> {
        // Another part of this process may have installed one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
        let client = builder.build().map_err(io::Error::other)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Client { client, runtime, is_reported: AtomicBool::new(false) })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sending = self.client.request(parts.method, parts.uri.to_string());
        // The client's errors quote the address, which may contain a password.
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
                return Err(format!("the response has more than {ANSWER} bytes").into());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(response.body(bytes.into())?)
    }

    /// Reports the first of consecutive failures.
    fn report(&self, reason: Option<String>) {
        match reason {
            Some(reason) if !self.is_reported.swap(true, Ordering::Relaxed) => {
                terminal::say(format_args!("toolsmith: warning: telemetry can't be exported: {reason}\n"));
            }
            Some(_) => {}
            None => self.is_reported.store(false, Ordering::Relaxed),
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let done = self.runtime.block_on(self.send(request));
        self.report(match &done {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector responded with {}", response.status())),
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

/// A header that can't be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("{0:?} is not a valid header name")]
    Name(String),
    #[error("the header {0:?} has a value that can't be sent")]
    Value(String),
}

/// Whether these are valid headers; the exporter would silently drop invalid ones.
pub(crate) fn check(headers: &HashMap<String, String>) -> Result<(), HeaderError> {
    for (name, value) in headers {
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::Name(name.clone()))?;
        HeaderValue::from_str(value).map_err(|_| HeaderError::Value(name.clone()))?;
    }
    Ok(())
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Client")
    }
}
