//! What goes over a connection, told to whoever debugs it: through `tracing`, under the target [`TARGET`].
//!
//! Values of configured headers and tokens are left out. Bodies may hold whatever servers and callers put into them:
//! whoever collects these events masks the secrets that it knows.

use std::{
    collections::BTreeSet,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use reqwest::{
    Method, Response, Url,
    header::{HeaderMap, SET_COOKIE},
};

use crate::text::shown;

/// The target of the events.
pub const TARGET: &str = "mcp::wire";

/// Most bytes of a message that are told.
const TOLD_BYTES: usize = 64 * 1024;

/// The servers whose connections are told otherwise than their configurations say.
static SWITCHED: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Whether there is any: most processes never switch, and look no further.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whoever debugs a server changes their mind: its connections in this process, also those that are open, are told from
/// now on where they were not, and the other way round. Says whether its configuration still holds.
pub fn switch_trace(server: &str) -> bool {
    let mut switched = SWITCHED.write().unwrap_or_else(PoisonError::into_inner);
    ANY.store(true, Ordering::Relaxed);
    let holds = switched.remove(server);
    if !holds {
        switched.insert(server.to_owned());
    }
    holds
}

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

    fn is_on(&self) -> bool {
        let is_switched = || SWITCHED.read().unwrap_or_else(PoisonError::into_inner).contains(&self.server);
        self.is_on != (ANY.load(Ordering::Relaxed) && is_switched())
    }

    /// A message on its way to the server.
    pub(crate) fn sent(&self, message: &[u8]) {
        if self.is_on() {
            let message = shown(&String::from_utf8_lossy(message), TOLD_BYTES);
            tracing::debug!(target: TARGET, "{}: sent {message}", self.server);
        }
    }

    /// A message that came from the server.
    pub(crate) fn received(&self, message: &str) {
        if self.is_on() {
            let message = shown(message, TOLD_BYTES);
            tracing::debug!(target: TARGET, "{}: received {message}", self.server);
        }
    }

    /// A request over HTTP. Values that are marked as sensitive are left out.
    pub(crate) fn request(&self, method: &Method, url: &Url, headers: &HeaderMap) {
        if self.is_on() {
            // Queries may hold keys.
            let (origin, path) = (url.origin().ascii_serialization(), url.path());
            tracing::debug!(target: TARGET, "{}: {method} {origin}{path} {headers:?}", self.server);
        }
    }

    /// The head of an answer, and how long it took.
    pub(crate) fn response(&self, response: &Response, begun: Instant) {
        if self.is_on() {
            let mut headers = response.headers().clone();
            headers.get_mut(SET_COOKIE).into_iter().for_each(|value| value.set_sensitive(true));
            let (status, took) = (response.status(), begun.elapsed());
            tracing::debug!(target: TARGET, "{}: HTTP {status} after {took:?} {headers:?}", self.server);
        }
    }

    /// What became of a request, and how long it took.
    pub(crate) fn done(&self, what: &str, is_answered: bool, begun: Instant) {
        if self.is_on() {
            let (how, took) = (if is_answered { "answered" } else { "failed" }, begun.elapsed());
            tracing::debug!(target: TARGET, "{}: {what} {how} after {took:?}", self.server);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Trace, switch_trace};

    #[test]
    fn a_server_is_switched_and_back_and_no_other() {
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
