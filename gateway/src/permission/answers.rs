//! Answers kept for an execution or a session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::requested_tool::RequestedTool;

/// What was allowed for the rest of a session.
pub type SessionAnswers = Arc<Mutex<BTreeSet<RequestedTool>>>;

/// The tools that one execution was allowed to call before it ran, and how often its calls have been refused since.
#[derive(Debug, Default)]
pub struct ExecutionAnswers {
    allowed: Mutex<BTreeSet<(String, String)>>,
    refusals: Mutex<BTreeMap<(String, String), u32>>,
}

impl ExecutionAnswers {
    pub(super) fn allow(&self, tool: &RequestedTool) {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.key());
    }

    pub(super) fn refuse(&self, tool: &RequestedTool) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry(tool.key()).or_default() += 1;
    }

    /// Refuses all further calls of a tool without a question.
    pub(super) fn refuse_all(&self, tool: &RequestedTool, refusals: u32) {
        let mut known = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(tool.key(), refusals);
    }

    pub(super) fn refusals(&self, tool: &RequestedTool) -> u32 {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(&tool.key()).copied().unwrap_or_default()
    }

    pub(super) fn allows(&self, server: &str, tool: &str) -> bool {
        let key = (server.to_owned(), tool.to_owned());
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }
}
