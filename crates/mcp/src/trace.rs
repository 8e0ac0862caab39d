//! Logs the traffic of a connection for debugging: through `tracing`, under the target [`TARGET`].
//!
//! Values of configured headers and tokens are omitted. Bodies may contain anything that servers and callers put into
//! them; the subscriber must mask the secrets that it knows.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use parking_lot::RwLock;
use reqwest::{
    Method, Response, Url,
    header::{HeaderMap, SET_COOKIE},
};

use crate::text::shown;

/// The target of the events.
pub const TARGET: &str = "mcp::wire";

/// Limit on the logged part of a message, in bytes.
const LOGGED_BYTES: usize = 64 * 1024;

/// The servers whose logging is switched from what their configurations say.
static SWITCHED: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Whether a server was ever switched: most processes never do, and skip the lock.
static ANY: AtomicBool = AtomicBool::new(false);

/// Toggles the logging of a server's connections in this process, including open ones. Returns whether the configured
/// setting applies again.
pub fn switch_trace(server: &str) -> bool {
    let mut switched = SWITCHED.write();
    ANY.store(true, Ordering::Relaxed);
    let is_configured = switched.remove(server);
    if !is_configured {
        switched.insert(server.to_owned());
    }
    is_configured
}

/// Logs the traffic of one server, if enabled.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    server: String,
    is_on: bool,
}

impl Trace {
    pub(crate) fn new(server: &str, is_on: bool) -> Self {
        Self { server: server.to_owned(), is_on }
    }

    fn is_on(&self) -> bool {
        self.is_on != (ANY.load(Ordering::Relaxed) && SWITCHED.read().contains(&self.server))
    }

    /// Logs a line that the server's process wrote to standard error. Returns whether it did.
    pub(crate) fn wrote(&self, line: &str) -> bool {
        let is_on = self.is_on();
        if is_on {
            tracing::debug!(target: TARGET, "{}: wrote {line}", self.server);
        }
        is_on
    }

    /// Logs a message to the server.
    pub(crate) fn sent(&self, message: &[u8]) {
        if self.is_on() {
            let message = shown(&String::from_utf8_lossy(message), LOGGED_BYTES);
            tracing::debug!(target: TARGET, "{}: sent {message}", self.server);
        }
    }

    /// Logs a message from the server.
    pub(crate) fn received(&self, message: &str) {
        if self.is_on() {
            let message = shown(message, LOGGED_BYTES);
            tracing::debug!(target: TARGET, "{}: received {message}", self.server);
        }
    }

    /// Logs an HTTP request. Values that are marked as sensitive are omitted.
    pub(crate) fn request(&self, method: &Method, url: &Url, headers: &HeaderMap) {
        if self.is_on() {
            // Queries may contain keys.
            let (origin, path) = (url.origin().ascii_serialization(), url.path());
            tracing::debug!(target: TARGET, "{}: {method} {origin}{path} {headers:?}", self.server);
        }
    }

    /// Logs the head of a response, and its time.
    pub(crate) fn response(&self, response: &Response, started: Instant) {
        if self.is_on() {
            let mut headers = response.headers().clone();
            if let Some(value) = headers.get_mut(SET_COOKIE) {
                value.set_sensitive(true);
            }
            let (status, took) = (response.status(), started.elapsed());
            tracing::debug!(target: TARGET, "{}: HTTP {status} after {took:?} {headers:?}", self.server);
        }
    }

    /// Logs the end of a request, and its time.
    pub(crate) fn done(&self, what: &str, is_answered: bool, started: Instant) {
        if self.is_on() {
            let (how, took) = (if is_answered { "answered" } else { "failed" }, started.elapsed());
            tracing::debug!(target: TARGET, "{}: {what} {how} after {took:?}", self.server);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Trace, switch_trace};

    #[test]
    fn a_switch_toggles_one_server_only() {
        let (quiet, loud, other) = (
            Trace::new("a server of this test", false),
            Trace::new("a server of this test", true),
            Trace::new("another server of this test", false),
        );
        assert!(!switch_trace("a server of this test"));
        assert!(quiet.is_on() && !loud.is_on() && !other.is_on());
        assert!(switch_trace("a server of this test"));
        assert!(!quiet.is_on() && loud.is_on() && !other.is_on());
    }
}
