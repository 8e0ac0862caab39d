//! What goes over a connection, told to whoever debugs it: through `tracing`, under the target [`TARGET`].
//!
//! Values of configured headers and tokens are left out. Bodies may hold whatever servers and callers put into them:
//! whoever collects these events masks the secrets that it knows.

use std::time::Instant;

use reqwest::{
    Method, Response, Url,
    header::{HeaderMap, SET_COOKIE},
};

use crate::text::shown;

/// The target of the events.
pub const TARGET: &str = "mcp::wire";

/// Most bytes of a message that are told.
const TOLD_BYTES: usize = 64 * 1024;

/// Tells what goes over the connection of one server, or nothing.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    server: String,
    is_on: bool,
}

impl Trace {
    pub(crate) fn new(server: &str, is_on: bool) -> Self {
        Self { server: server.to_owned(), is_on }
    }

    /// A message on its way to the server.
    pub(crate) fn sent(&self, message: &[u8]) {
        if self.is_on {
            let message = shown(&String::from_utf8_lossy(message), TOLD_BYTES);
            tracing::debug!(target: TARGET, "{}: sent {message}", self.server);
        }
    }

    /// A message that came from the server.
    pub(crate) fn received(&self, message: &str) {
        if self.is_on {
            let message = shown(message, TOLD_BYTES);
            tracing::debug!(target: TARGET, "{}: received {message}", self.server);
        }
    }

    /// A request over HTTP. Values that are marked as sensitive are left out.
    pub(crate) fn request(&self, method: &Method, url: &Url, headers: &HeaderMap) {
        if self.is_on {
            // Queries may hold keys.
            let (origin, path) = (url.origin().ascii_serialization(), url.path());
            tracing::debug!(target: TARGET, "{}: {method} {origin}{path} {headers:?}", self.server);
        }
    }

    /// The head of an answer, and how long it took.
    pub(crate) fn response(&self, response: &Response, begun: Instant) {
        if self.is_on {
            let mut headers = response.headers().clone();
            headers.get_mut(SET_COOKIE).into_iter().for_each(|value| value.set_sensitive(true));
            let (status, took) = (response.status(), begun.elapsed());
            tracing::debug!(target: TARGET, "{}: HTTP {status} after {took:?} {headers:?}", self.server);
        }
    }

    /// What became of a request, and how long it took.
    pub(crate) fn done(&self, what: &str, is_answered: bool, begun: Instant) {
        if self.is_on {
            let (how, took) = (if is_answered { "answered" } else { "failed" }, begun.elapsed());
            tracing::debug!(target: TARGET, "{}: {what} {how} after {took:?}", self.server);
        }
    }
}
