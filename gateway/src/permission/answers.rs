//! Answers that hold for an execution, or for a session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::requested_tool::RequestedTool;

/// What was allowed for as long as a session lasts.
pub type SessionAnswers = Arc<Mutex<BTreeSet<RequestedTool>>>;

/// The tools that one execution was allowed before it ran, and how often calls were refused to it since.
#[derive(Debug, Default)]
pub struct ExecutionAnswers {
    allowed: Mutex<BTreeSet<(String, String)>>,
    refusals: Mutex<BTreeMap<(String, String), u32>>,
}

impl ExecutionAnswers {
    pub(super) fn allow(&self, wanted: &RequestedTool) {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner).insert(wanted.key());
    }

    pub(super) fn refuse(&self, wanted: &RequestedTool) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry(wanted.key()).or_default() += 1;
    }

    pub(super) fn refusals(&self, wanted: &RequestedTool) -> u32 {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(&wanted.key()).copied().unwrap_or_default()
    }

    pub(super) fn allows(&self, server: &str, tool: &str) -> bool {
        let key = (server.to_owned(), tool.to_owned());
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }
}
