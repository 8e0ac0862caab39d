//! The sessions with servers that several executions use: those of a client's direct tools for `session: shared`, and
//! those of a subject with servers that keep nothing between requests (`session: auto`).

use std::collections::BTreeSet;
use std::sync::Arc;

use config::{Server, SessionMode};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::sessions::{Opened, SharedSessions, Unopened};
use runner::Cache;
use terminal::Masker;

use super::upstreams::Upstreams;

/// The sessions that the executions of a client use together, or with those of other clients of its subject.
pub(crate) struct ExecutionSessions {
    /// The client's own, for servers with `session: shared`.
    pub(crate) of_client: Option<Arc<Upstreams>>,
    /// The subject's; a client without a subject uses its own.
    pub(crate) of_subject: Option<Arc<Upstreams>>,
    /// The servers that keep nothing between requests, by name.
    pub(crate) stateless: BTreeSet<String>,
    pub(crate) cache: Cache,
    /// Masks secrets in errors.
    pub(crate) masker: Masker,
}

impl ExecutionSessions {
    /// The owner of the session with a server; `None` if each execution has its own.
    fn owner(&self, server: &Server) -> Option<&Arc<Upstreams>> {
        match server.session {
            SessionMode::Fresh => None,
            SessionMode::Shared => self.of_client.as_ref(),
            SessionMode::Auto if self.stateless.contains(&server.connection.name) => self.of_subject.as_ref(),
            SessionMode::Auto => None,
        }
    }
}

impl SharedSessions for ExecutionSessions {
    fn has(&self, server: &Server) -> bool {
        self.owner(server).is_some()
    }

    fn session<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<Option<Opened>, Unopened>> {
        async move {
            let Some(owner) = self.owner(server) else { return Ok(None) };
            let opened = owner.session_with_tools(server, &self.cache).await;
            let (session, tools, warnings) = opened.map_err(|error| Unopened::of(&error, &self.masker))?;
            // The server may have changed since it was last connected.
            if server.session == SessionMode::Auto && !session.is_stateless() {
                return Ok(None);
            }
            Ok(Some(Opened { session, tools, warnings, is_whole: true, page: None, is_shared: true }))
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
