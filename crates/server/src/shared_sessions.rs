//! The sessions that all executions of a client share (`session: shared`): those of its direct tools.

use std::sync::Arc;

use config::Server;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::sessions::{Opened, SharedSessions, Unopened};
use runner::Cache;
use terminal::Masker;

use super::upstreams::Upstreams;

/// A client's own sessions with servers.
pub(crate) struct ClientSessions {
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) cache: Cache,
    /// Masks secrets in errors.
    pub(crate) masker: Masker,
}

impl SharedSessions for ClientSessions {
    fn session<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<Opened, Unopened>> {
        async move {
            let opened = self.upstreams.session_with_tools(server, &self.cache).await;
            let (session, tools, warnings) = opened.map_err(|error| Unopened::of(&error, &self.masker))?;
            Ok(Opened { session, tools, warnings, is_whole: true, page: None })
        }
        .boxed()
    }
}

/// The note for a model on servers whose state other executions may have changed; `None` without any.
pub(crate) fn note(servers: &[String]) -> Option<String> {
    (!servers.is_empty()).then(|| {
        format!(
            "note: all executions of this client share one session with {} (session: shared): state of earlier \
             executions may remain",
            servers.join(", ")
        )
    })
}
