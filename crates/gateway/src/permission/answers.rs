//! Answers kept for an execution or a session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;

use super::refusal::Reason;
use super::requested_tool::RequestedTool;

/// The tools allowed for the rest of a session.
pub type SessionAnswers = Arc<Mutex<BTreeSet<RequestedTool>>>;

/// The tools that one execution was allowed to call before it ran, and how often its calls have been refused since, with
/// the last reason.
#[derive(Debug, Default)]
pub struct ExecutionAnswers {
    allowed: Mutex<BTreeSet<(String, String)>>,
    refusals: Mutex<BTreeMap<(String, String), (u32, Reason)>>,
}

impl ExecutionAnswers {
    pub(super) fn allow(&self, tool: &RequestedTool) {
        self.allowed.lock().insert(tool.key());
    }

    /// Counts `times` refusals.
    pub(super) fn refuse(&self, tool: &RequestedTool, times: u32, reason: Reason) {
        let mut refusals = self.refusals.lock();
        let known = refusals.entry(tool.key()).or_insert((0, reason));
        *known = (known.0 + times, reason);
    }

    /// The last reason, if a tool was refused so often.
    pub(super) fn refused(&self, tool: &RequestedTool, times: u32) -> Option<Reason> {
        let refusals = self.refusals.lock();
        refusals.get(&tool.key()).filter(|(count, _)| *count >= times).map(|(_, reason)| *reason)
    }

    pub(super) fn allows(&self, server: &str, tool: &str) -> bool {
        let key = (server.to_owned(), tool.to_owned());
        self.allowed.lock().contains(&key)
    }
}
