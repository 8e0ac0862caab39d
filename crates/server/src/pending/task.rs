//! Work that goes on as a task of its client (MCP extension `io.modelcontextprotocol/tasks`, SEP-2663): the client polls
//! it, answers its questions, and may cancel it.
//!
//! With `serve.sharedState`, each state of a task is also an object in the store of the replicas, so that any of them
//! answers. Answers and cancellations that another replica accepts are objects too, which the replica that does the work
//! looks for. The work itself never moves and never runs twice.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value, json};
use system::event_loop::off_loop;
use system::{calendar, random};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::client_task::{Entry, Task, TaskEnd, TaskTerms, address, answer_address, cancel_address};
use super::running::RESULT;
use super::{CANCELLED_TIME, PendingRequest, PendingRequests, WORK_OF_CLIENT};
use crate::quota::Reserved;
use crate::shared_state::SharedState;

/// The interval at which a replica looks for what other replicas have accepted for its tasks.
const LOOK: Duration = Duration::from_secs(2);

/// The interval at which it confirms that a task is still worked on, and the time after which the others give it up.
const CONFIRM: Duration = Duration::from_secs(30);
const LOST: Duration = Duration::from_secs(150);

/// Limit on a state of a task in the store, in bytes: that of everything that waits for one client.
const SHARED_BYTES: usize = WORK_OF_CLIENT.bytes;

impl PendingRequests {
    /// Lets work go on as a task of its client. The result is the task; the work is returned if there is no room to hold
    /// it, or its answer is already a question.
    pub(super) async fn become_task(
        self: &Arc<Self>,
        work: PendingRequest,
    ) -> Result<Value, Box<PendingRequest>> {
        let terms = &work.terms;
        let (Some(TaskTerms { owner, .. }), Ok(id)) = (&terms.task, random::id()) else {
            return Err(Box::new(work));
        };
        let reserved = self.quota.try_reserve(terms.caller.client(), terms.bytes.saturating_add(RESULT));
        let Ok(reserved) = reserved else { return Err(Box::new(work)) };
        if !terms.caller.answers_with_task() {
            return Err(Box::new(work));
        }
        terms.caller.detach();
        let task = Arc::new(Task::new(id.clone(), owner.clone(), terms.caller.clone()));
        let mut created = task.state();
        created["resultType"] = json!("task");
        task.share(self.shared.as_deref()).await;
        let driver = drive(Arc::downgrade(self), task.clone(), self.shared.clone(), (work, reserved));
        // Held while the driver starts, so that it finds its entry at its end.
        let mut tasks = self.tasks.lock();
        tasks.insert(id, Entry { task, _driver: AbortOnDropHandle::new(tokio::spawn(driver)) });
        Ok(created)
    }

    /// The state of a task of this owner.
    ///
    /// # Errors
    /// If there is none, or that can't be found out.
    pub(crate) async fn task(&self, id: &str, owner: &str) -> Result<Value, ErrorData> {
        match self.own_task(id, owner) {
            Some(task) => {
                task.close_questions();
                Ok(task.state())
            }
            None => self.task_elsewhere(id, owner).await,
        }
    }

    /// Passes on the answers to questions of a task.
    ///
    /// # Errors
    /// As for [`PendingRequests::task`].
    pub(crate) async fn update_task(
        &self,
        id: &str,
        owner: &str,
        responses: &Map<String, Value>,
    ) -> Result<(), ErrorData> {
        if let Some(task) = self.own_task(id, owner) {
            task.answer(responses);
            task.share(self.shared.as_deref()).await;
            return Ok(());
        }
        let state = self.task_elsewhere(id, owner).await?;
        let open = responses.iter().filter(|(key, _)| state["inputRequests"].get(key.as_str()).is_some());
        for (key, response) in open {
            self.send_elsewhere(owner, &answer_address(id, key), &response.to_string()).await?;
        }
        Ok(())
    }

    /// Cancels a task; one that has ended stays as it is.
    ///
    /// # Errors
    /// As for [`PendingRequests::task`].
    pub(crate) async fn cancel_task(&self, id: &str, owner: &str) -> Result<(), ErrorData> {
        if let Some(task) = self.own_task(id, owner) {
            task.cancel.cancel();
            return Ok(());
        }
        self.task_elsewhere(id, owner).await?;
        self.send_elsewhere(owner, &cancel_address(id), "").await
    }

    fn own_task(&self, id: &str, owner: &str) -> Option<Arc<Task>> {
        self.tasks.lock().get(id).map(|entry| entry.task.clone()).filter(|task| task.owner == owner)
    }

    /// The state of a task that another replica has shared.
    async fn task_elsewhere(&self, id: &str, owner: &str) -> Result<Value, ErrorData> {
        let kept = self.return_time().as_secs_f64();
        let unknown = |place: &str| {
            ErrorData::invalid_params(
                format!(
                    "no task {id:?} of yours is known {place}: it ended more than {kept} s ago, or this server has \
                     restarted; it is not run again. What it did is in the user's history (`toolsmith history`)"
                ),
                None,
            )
        };
        let Some(shared) = &self.shared else {
            return Err(unknown("to this process, which shares no state with others (serve.sharedState)"));
        };
        let found = shared.find(owner, &address(id), SHARED_BYTES).await.map_err(|error| {
            let message =
                format!("it can't be found out whether another replica has the task: {error}; try again");
            ErrorData::internal_error(message, None)
        })?;
        let record = found.and_then(|(text, _)| serde_json::from_str::<Value>(&text).ok());
        let mut record = record.ok_or_else(|| unknown("to any replica"))?;
        let limit = SystemTime::now().checked_sub(LOST).map(calendar::timestamp).unwrap_or_default();
        let is_lost = record["at"].as_str().is_none_or(|at| *at < *limit);
        let mut state = record["task"].take();
        if is_lost && matches!(state["status"].as_str(), Some("working" | "input_required")) {
            let message = "the replica that worked on the task has ended; it is not run again. What it did by then is in \
                           the history of that replica (`toolsmith history`)";
            let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None);
            state["status"] = json!("failed");
            state["statusMessage"] = json!(message);
            state["error"] = json!(error);
            state.as_object_mut().map(|members| members.remove("inputRequests"));
        }
        Ok(state)
    }

    async fn send_elsewhere(&self, owner: &str, address: &str, text: &str) -> Result<(), ErrorData> {
        let Some(shared) = &self.shared else { return Ok(()) };
        shared.keep(owner, address, text).await.map_err(|error| {
            let message = format!("the replica that works on the task can't be reached: {error}; try again");
            ErrorData::internal_error(message, None)
        })
    }
}

/// Works on a task to its end, and keeps the result for the time that clients have to come back.
async fn drive(
    held: Weak<PendingRequests>,
    task: Arc<Task>,
    shared: Option<Arc<SharedState>>,
    (work, mut reserved): (PendingRequest, Reserved),
) {
    let shared = shared.as_deref();
    let end = work_on(&task, work, shared).await;
    let Some(kept) = held.upgrade().map(|held| held.return_time()) else { return };
    task.end(end, kept);
    reserved.shrink(off_loop(RESULT, || task.state().to_string().len()));
    task.share(shared).await;
    sleep(kept).await;
    if let Some(held) = held.upgrade() {
        held.tasks.lock().remove(&task.id);
    }
}

/// Waits for the end of the work, and passes its questions on.
async fn work_on(task: &Task, mut work: PendingRequest, shared: Option<&SharedState>) -> TaskEnd {
    let mut confirmed = Instant::now();
    loop {
        tokio::select! {
            biased;
            ended = &mut work.handle => return match ended {
                Ok(Ok(result)) => TaskEnd::Completed(result),
                Ok(Err(error)) => TaskEnd::Failed(error),
                Err(error) => TaskEnd::Failed(ErrorData::internal_error(error.to_string(), None)),
            },
            () = task.cancel.cancelled() => {
                work.terms.cancel.cancel();
                let _ = timeout(CANCELLED_TIME, &mut work.handle).await;
                return TaskEnd::Cancelled;
            }
            Some(ask) = work.terms.asks.recv() => {
                task.ask(ask);
                task.share(shared).await;
                continue;
            }
            () = sleep(LOOK), if shared.is_some() => {}
        }
        let Some(shared) = shared else { continue };
        let open = task.open_questions();
        task.close_questions();
        task.look(shared, SHARED_BYTES).await;
        if task.open_questions() != open || confirmed.elapsed() >= CONFIRM {
            task.share(Some(shared)).await;
            confirmed = Instant::now();
        }
    }
}
