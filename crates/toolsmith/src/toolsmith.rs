//! The servers and tools over which snippets run.

use std::sync::Arc;

use config::Config;
use gateway::permission::SessionAnswers;
use runner::{Cache, Engine};
use terminal::Masker;

use crate::permission;

/// Runs snippets over the tools of servers and of this program. Clones use the same servers, tools and answers.
#[derive(Clone)]
pub struct Toolsmith {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) config: Arc<Config>,
    pub(crate) masker: Masker,
    pub(crate) cache: Cache,
    pub(crate) engine: Engine,
    /// The tools that are allowed without a question, as globs of `server.tool`.
    pub(crate) allowed: Vec<String>,
    pub(crate) permission: Option<permission::Ask>,
    /// The tools that were allowed for as long as this exists.
    pub(crate) answers: SessionAnswers,
    /// The answers that were received, and the flows that were allowed.
    pub(crate) flows: flows::State,
}

impl std::fmt::Debug for Toolsmith {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let servers: Vec<&str> =
            self.inner.config.servers.iter().map(|server| server.connection.name.as_str()).collect();
        formatter.debug_struct("Toolsmith").field("servers", &servers).finish_non_exhaustive()
    }
}
