//! A task of a client: its state as the client sees it, its open questions, and its objects in the store of the replicas.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::join_all;
use parking_lot::Mutex;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use system::calendar;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::caller::{Ask, Caller};
use crate::shared_state::SharedState;

/// The interval at which clients are asked to poll.
const POLL: Duration = Duration::from_secs(1);

/// The terms on which work may become a task.
pub(crate) struct TaskTerms {
    /// Its owner, the only one who may ask about it.
    pub(crate) owner: String,
    /// The time after which it becomes one; `None` if only the server that it calls decides.
    pub(crate) after: Option<Duration>,
}

/// A task.
pub(super) struct Task {
    pub(super) id: String,
    pub(super) owner: String,
    created: SystemTime,
    caller: Arc<Caller>,
    /// Is cancelled when the client asks for that.
    pub(super) cancel: CancellationToken,
    progress: Mutex<TaskProgress>,
}

/// A task, and what works on it and then keeps its result.
pub(super) struct Entry {
    pub(super) task: Arc<Task>,
    pub(super) _driver: AbortOnDropHandle<()>,
}

/// How far a task is.
struct TaskProgress {
    updated: SystemTime,
    /// The open questions, and how many there were so far.
    questions: BTreeMap<String, Ask>,
    asked: usize,
    /// The end, and the time for which it is kept.
    end: Option<(TaskEnd, Duration)>,
}

/// The end of a task.
pub(super) enum TaskEnd {
    Completed(Value),
    Failed(ErrorData),
    Cancelled,
}

impl Task {
    /// A task that begins now, with an id that can't be guessed.
    pub(super) fn new(id: String, owner: String, caller: Arc<Caller>) -> Self {
        let now = SystemTime::now();
        let questions = BTreeMap::new();
        let progress = TaskProgress { updated: now, questions, asked: 0, end: None };
        Task {
            id,
            owner,
            created: now,
            caller,
            cancel: CancellationToken::new(),
            progress: Mutex::new(progress),
        }
    }

    /// MCP's `DetailedTask`.
    pub(super) fn state(&self) -> Value {
        let progress = self.progress.lock();
        let mut state = json!({
            "taskId": self.id,
            "createdAt": calendar::timestamp(self.created),
            "lastUpdatedAt": calendar::timestamp(progress.updated),
            // As long as it takes; its own limits end it.
            "ttlMs": null,
            "pollIntervalMs": milliseconds(POLL),
        });
        match &progress.end {
            Some((end, kept)) => {
                let age = progress.updated.duration_since(self.created).unwrap_or_default();
                state["ttlMs"] = milliseconds(age + *kept);
                match end {
                    TaskEnd::Completed(result) => {
                        state["status"] = json!("completed");
                        state["result"] = result.clone();
                    }
                    TaskEnd::Failed(error) => {
                        state["status"] = json!("failed");
                        state["statusMessage"] = json!(error.message);
                        state["error"] = json!(error);
                    }
                    TaskEnd::Cancelled => state["status"] = json!("cancelled"),
                }
            }
            None if progress.questions.is_empty() => {
                state["status"] = json!("working");
                if let Some(message) = self.caller.last_message() {
                    state["statusMessage"] = json!(message);
                }
            }
            None => {
                state["status"] = json!("input_required");
                let question = |(key, ask): (&String, &Ask)| {
                    (key.clone(), json!({ "method": ask.method, "params": ask.parameters }))
                };
                state["inputRequests"] = progress.questions.iter().map(question).collect();
            }
        }
        state
    }

    /// Opens a question to the client, under a key that no other question of the task has.
    pub(super) fn ask(&self, ask: Ask) {
        let mut progress = self.progress.lock();
        progress.asked += 1;
        progress.updated = SystemTime::now();
        let key = format!("question-{}", progress.asked);
        progress.questions.insert(key, ask);
    }

    /// Passes on the answers to open questions; others are ignored.
    pub(super) fn answer(&self, responses: &Map<String, Value>) {
        let mut progress = self.progress.lock();
        for (key, response) in responses {
            if let Some(ask) = progress.questions.remove(key) {
                // The client may have stopped waiting.
                let _ = ask.answer.send(response.clone());
                progress.updated = SystemTime::now();
            }
        }
    }

    /// Closes the questions that nobody waits for any more.
    pub(super) fn close_questions(&self) {
        self.progress.lock().questions.retain(|_, ask| !ask.answer.is_closed());
    }

    pub(super) fn open_questions(&self) -> Vec<String> {
        self.progress.lock().questions.keys().cloned().collect()
    }

    pub(super) fn end(&self, end: TaskEnd, kept: Duration) {
        let mut progress = self.progress.lock();
        progress.questions.clear();
        progress.updated = SystemTime::now();
        progress.end = Some((end, kept));
    }

    /// Writes the state to the store of the replicas. This replica has it in any case.
    pub(super) async fn share(&self, shared: Option<&SharedState>) {
        let Some(shared) = shared else { return };
        let record = json!({ "at": calendar::timestamp(SystemTime::now()), "task": self.state() });
        if let Err(error) = shared.keep(&self.owner, &address(&self.id), &record.to_string()).await {
            tracing::debug!(%error, "a task is not shared with other replicas");
        }
    }

    /// Takes over what other replicas have accepted.
    pub(super) async fn look(&self, shared: &SharedState, max_bytes: usize) {
        let find = |part: String| async move {
            let found = shared.find(&self.owner, &part, max_bytes).await.ok().flatten();
            found.map(|(text, _)| text)
        };
        if find(cancel_address(&self.id)).await.is_some() {
            self.cancel.cancel();
        }
        let answers = self.open_questions().into_iter().map(|key| async {
            let text = find(answer_address(&self.id, &key)).await?;
            Some((key, serde_json::from_str(&text).ok()?))
        });
        self.answer(&join_all(answers).await.into_iter().flatten().collect());
    }
}

/// The addresses of a task in the store: its state, its cancellation, the answer to one of its questions.
pub(super) fn address(id: &str) -> String {
    format!("task:{id}")
}

pub(super) fn cancel_address(id: &str) -> String {
    format!("task:{id}:cancel")
}

pub(super) fn answer_address(id: &str, key: &str) -> String {
    format!("task:{id}:answer:{key}")
}

fn milliseconds(time: Duration) -> Value {
    json!(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
