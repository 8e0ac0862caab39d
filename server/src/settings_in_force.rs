//! The configuration that is in force, for what was begun under an older one: a request keeps what it was offered, and
//! makes no call that nobody could begin any more.

use std::sync::Arc;

use gateway::permission::rules;
use tokio::sync::watch;

use super::snapshot::Settings;
use super::state::ServerState;

/// What something was begun with, and what is in force.
pub(crate) struct SettingsInForce<'a> {
    used: &'a Arc<Settings>,
    latest: &'a watch::Receiver<Arc<Settings>>,
    /// What the command line allows.
    allow: &'a [String],
}

impl<'a> SettingsInForce<'a> {
    /// For what was begun with the settings `used`.
    pub(crate) fn new(state: &'a ServerState, used: &'a Arc<Settings>) -> Self {
        SettingsInForce { used, latest: &state.settings, allow: &state.allow }
    }

    /// Whether a server may still be asked, or a tool of it be called. Asked right before.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check(&self, server: &str, tool: Option<&str>) -> Result<(), String> {
        let now = self.latest.borrow().clone();
        if Arc::ptr_eq(&now, self.used) {
            return Ok(());
        }
        rules::check(&self.used.config, &now.config, self.allow, server, tool)
    }
}
