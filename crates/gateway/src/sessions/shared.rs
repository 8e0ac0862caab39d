//! Sessions that all executions of a client share (`session: shared`).

use config::Server;
use futures::future::BoxFuture;

use super::connection::{Opened, Unopened};

/// The sessions that a client's executions share. Their owner keeps them, reconnects them and closes them.
pub trait SharedSessions: Send + Sync + 'static {
    /// The session with a server; waits until it is connected.
    ///
    /// # Errors
    /// If it can't be connected.
    fn session<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<Opened, Unopened>>;
}
