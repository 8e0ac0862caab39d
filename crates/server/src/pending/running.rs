//! Executions that go on after the answer to their request, until their client comes back for the result.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

use super::{PendingRequest, PendingRequests, Running, WorkTerms};
use crate::level::Level;

/// Size that is reserved for the result of work that goes on, in bytes: far more than most have, and a client may hold
/// sixteen of them.
pub(super) const RESULT: usize = 1 << 20;

/// The reason why a request can't wait for an execution.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRunning {
    /// None goes on under this id; results are kept for this time.
    #[error(
        "no execution {id:?} waits for you here: its answer was sent, or it ended more than {} s ago, or it belongs to \
         another session or replica; it is not run again. What it did is in the user's history (`toolsmith history`)",
        kept.as_secs_f64()
    )]
    Unknown { id: String, kept: Duration },
    /// Another request waits for it, or its question to the user is open.
    #[error(
        "the execution {id:?} goes on, and another call waits for it or for its question; that call gets the answer"
    )]
    Awaited { id: String },
}

impl PendingRequest {
    /// Continues an execution for another request of its client, whose tool may declare an output schema.
    pub(crate) fn continue_with(
        &mut self,
        context: &RequestContext<RoleServer>,
        level: Option<Level>,
        has_schema: bool,
    ) {
        self.terms.caller.continue_with(context, level);
        if let Some(going_on) = &mut self.terms.going_on {
            going_on.has_schema = has_schema;
        }
    }
}

impl PendingRequests {
    /// Lets work go on until its client comes back for the result, which is kept for the time to answer a question
    /// after the work has ended. The result says how to come back; the work is returned if there is no room to hold it.
    pub(super) fn let_run(self: &Arc<Self>, work: PendingRequest) -> Result<Value, Box<PendingRequest>> {
        let WorkTerms { bytes, caller, going_on: Some(going_on), .. } = &work.terms else {
            return Err(Box::new(work));
        };
        let Ok(reserved) = self.quota.try_reserve(caller.client(), bytes.saturating_add(RESULT)) else {
            return Err(Box::new(work));
        };
        caller.detach();
        let (id, owner, has_schema) = (going_on.id.clone(), going_on.owner.clone(), going_on.has_schema);
        let session_end = going_on.session_end.clone().unwrap_or_default();
        let ended = work.ended.clone();
        self.running().insert(id.clone(), Running { owner, work: Some((work, reserved)) });
        let (held, return_time, forgotten) = (Arc::downgrade(self), self.return_time(), id.clone());
        tokio::spawn(async move {
            let is_late = async {
                ended.cancelled().await;
                tokio::time::sleep(return_time).await;
            };
            tokio::select! {
                () = is_late => {}
                () = session_end.cancelled() => {}
            }
            let running = held.upgrade().and_then(|held| held.running().remove(&forgotten));
            if let Some((work, _reserved)) = running.and_then(|running| running.work) {
                work.terms.cancel.cancel();
                work.end().await;
            }
        });
        Ok(answer::still_running(&id, has_schema))
    }

    /// Forgets work whose result is sent.
    pub(super) fn forget(&self, work: &PendingRequest) {
        if let Some(going_on) = &work.terms.going_on {
            self.running().remove(&going_on.id);
        }
    }

    /// Takes the execution that goes on under this id, for a request of its owner.
    ///
    /// # Errors
    /// If there is none, or another request waits for it.
    pub(crate) fn take_running(&self, id: &str, owner: &str) -> Result<PendingRequest, NotRunning> {
        let mut all = self.running();
        let running = all.get_mut(id).filter(|running| running.owner == owner);
        let id = || id.to_owned();
        let running = running.ok_or_else(|| NotRunning::Unknown { id: id(), kept: self.return_time() })?;
        let (work, _) = running.work.take().ok_or_else(|| NotRunning::Awaited { id: id() })?;
        Ok(work)
    }

    pub(super) fn running(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock()
    }
}
