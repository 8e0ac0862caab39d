//! The current configuration, for work that was started under an older one: a request keeps the tools it was offered,
//! but makes no call that could not be started now.

use std::sync::Arc;

use config::Config;
use gateway::permission::rules::{self, NotInForce};
use identity::Identity;
use tokio::sync::watch;

use super::snapshot::Settings;
use super::state::ServerState;

/// The settings that work was started with, and the current ones.
pub(crate) struct SettingsInForce<'a> {
    /// The subject that has started it.
    identity: Option<&'a Identity>,
    used: &'a Arc<Settings>,
    latest: &'a watch::Receiver<Arc<Settings>>,
    /// The tools that the command line allows.
    allow: &'a [String],
}

impl<'a> SettingsInForce<'a> {
    /// For work that was started with the settings `used`.
    pub(crate) fn new(
        state: &'a ServerState,
        used: &'a Arc<Settings>,
        identity: Option<&'a Identity>,
    ) -> Self {
        SettingsInForce { identity, used, latest: &state.settings, allow: &state.allow }
    }

    /// Checks right before a request that the server may still be used and the tool still be called.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn check(&self, server: &str, tool: Option<&str>) -> Result<(), NotInForce> {
        let now = self.latest.borrow().clone();
        if Arc::ptr_eq(&now, self.used) {
            return Ok(());
        }
        if let Some(identity) = self.identity {
            still_permitted(identity, &now.config, server, tool)?;
        }
        rules::check(&self.used.config, &now.config, self.allow, server, tool)
    }
}

/// Checks that a subject may still use a server, or call a tool.
fn still_permitted(
    identity: &Identity,
    now: &Config,
    server: &str,
    tool: Option<&str>,
) -> Result<(), NotInForce> {
    let access = identity.access(&now.serve).map_err(|why| NotInForce::User { reason: why.to_string() })?;
    let (Some(tools), Some(tool)) = (access, tool) else { return Ok(()) };
    match config::permits(&tools, server, tool) {
        true => Ok(()),
        false => Err(NotInForce::Denied { server: server.to_owned(), tool: tool.to_owned() }),
    }
}
