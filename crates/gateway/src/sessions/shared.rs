//! Sessions that several executions use: with servers that keep nothing between requests, and those of `session: shared`.

use config::Server;
use futures::future::BoxFuture;

use super::connection::{Opened, Unopened};

/// The sessions that executions share. Their owner keeps them, reconnects them and closes them.
pub trait SharedSessions: Send + Sync + 'static {
    /// Whether executions use such a session with a server.
    fn has(&self, server: &Server) -> bool;

    /// The session with a server; waits until it is connected. `None` if the server turns out to keep state, so that an
    /// execution needs its own session.
    ///
    /// # Errors
    /// If it can't be connected.
    fn session<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<Option<Opened>, Unopened>>;
}
