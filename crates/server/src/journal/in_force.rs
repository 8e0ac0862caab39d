//! Refuses what the current configuration no longer allows.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gateway::permission::rules::NotInForce;
use identity::Identity;
use runner::{Begin, FailureKind, Refused, Sink};

use crate::settings_in_force::SettingsInForce;
use crate::snapshot::Settings;
use crate::state::ServerState;

/// Checks sessions and calls against the current configuration.
pub(crate) struct InForce {
    pub(crate) state: Arc<ServerState>,
    /// The settings that the execution was started with.
    pub(crate) settings: Arc<Settings>,
    /// The subject that has started it.
    pub(crate) identity: Option<Arc<Identity>>,
}

impl Sink for InForce {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        let now = SettingsInForce::new(&self.state, &self.settings, self.identity.as_deref());
        let checked = match begin {
            // A missing session would be started; a server that has been removed must not be.
            Begin::Session { server } => now.check(server, None),
            Begin::Call { call, .. } => now.check(call.server, Some(call.tool)),
            _ => Ok(()),
        };
        let refused = |gone: NotInForce| Refused {
            kind: FailureKind::Denied,
            reason: "configuration",
            message: gone.to_string(),
        };
        ready(checked.map_err(refused)).boxed()
    }
}
