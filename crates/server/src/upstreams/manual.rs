//! The user's control of sessions: connect, disconnect, reconnect, inspect.

use std::collections::BTreeSet;
use std::sync::Arc;

use config::Server;
use mcp::{ConnectionState, ManagedSession, Session, Status};
use parking_lot::MutexGuard;
use tokio::sync::watch;

use super::{Upstream, Upstreams};

impl Upstreams {
    /// Counts changes of [`Upstreams::status`].
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether the user has disconnected the server.
    pub fn is_away(&self, server: &str) -> bool {
        self.away().contains(server)
    }

    /// Ends the session with a server in order. It has no session and offers no tools until the user connects it again.
    pub async fn disconnect(&self, server: &str) {
        self.away().insert(server.to_owned());
        self.end(server).await;
        self.has_changed();
    }

    /// Connects a server for the user: returns the present session, or starts a new one.
    ///
    /// # Errors
    /// If it can't be connected.
    pub async fn connect(&self, server: &Server) -> Result<Session, mcp::Error> {
        self.away().remove(&server.connection.name);
        let session = self.session(server).await;
        self.has_changed();
        session
    }

    /// Ends the session with a server in order, and starts another one.
    ///
    /// # Errors
    /// If it can't be connected.
    pub async fn reconnect(&self, server: &Server) -> Result<Session, mcp::Error> {
        self.end(&server.connection.name).await;
        self.connect(server).await
    }

    /// The status of a server, with its session if it is connected.
    pub async fn current(&self, server: &str) -> Option<(Status, Option<Session>)> {
        let managed = self.keepers().get(server).map(|kept| kept.managed.clone())?;
        let status = managed.status();
        let session = match status.state {
            ConnectionState::Ready => managed.session().await.ok(),
            _ => None,
        };
        Some((status, session))
    }

    async fn end(&self, server: &str) {
        let kept: Option<Upstream> = self.keepers().remove(server);
        // A task that waits for the session at this moment keeps it a little longer.
        let managed: Option<Arc<ManagedSession>> = kept.map(|kept| kept.managed.clone());
        if let Some(Ok(managed)) = managed.map(Arc::try_unwrap) {
            managed.close().await;
        }
    }

    fn has_changed(&self) {
        self.changed.notify_one();
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn away(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.away.lock()
    }
}
