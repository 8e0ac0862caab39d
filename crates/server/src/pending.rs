//! Holds work whose request has been answered: it waits until a client without sessions comes back with an answer (MCP
//! 2026-07-28, multi-round-trip requests), or goes on until its client comes back for the result, or as a task.
//!
//! For a question, the client gets a state that is authenticated, expires, and is bound to its request, so it can
//! neither forge one nor use one for another request. With `serve.sharedState`, any replica accepts it. Work that waits can't
//! move: another replica refuses its state with the reason.

mod client_task;
mod running;
mod task;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use system::random;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::caller::{Ask, Caller};
use super::quota::{Amount, Quota, Reserved};
use super::resource::{Refusals, Resource};
use super::shared_state::SharedState;

pub(crate) use client_task::TaskTerms;

/// The time that cancelled work may take to end before it is dropped.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// Limit on waiting work, with the sizes of requests and questions; a quarter for one client. A request has at most 4
/// MiB, so a client may hold several of the largest.
pub(crate) const WORK: Amount = Amount { count: 256, bytes: 64 << 20 };
pub(crate) const WORK_OF_CLIENT: Amount = Amount { count: WORK.count / 4, bytes: WORK.bytes / 4 };

/// The time that a request waits on if there is no room to hold its execution, before it tries again.
const RETRY: Duration = Duration::from_secs(5);

/// Limit on used states that are remembered until they expire; beyond it, states are refused. Each was an execution
/// that asked, at a rate far below a hundred a second.
const USED_LIMIT: usize = 1 << 16;

/// The reason why a used state is refused.
const USED: &str =
    "the requestState was already used and is valid only once; make the request again without it";

/// The key of the question in `inputRequests`.
const QUESTION: &str = "question";

/// The prefix of states; servers have their own states.
const MARK: &str = "toolsmith.";

/// Work that may ask questions, and may go on after the answer to its request.
pub(crate) struct PendingRequest {
    handle: JoinHandle<Result<Value, ErrorData>>,
    /// Is cancelled when the work has ended.
    ended: CancellationToken,
    terms: WorkTerms,
}

/// The terms of work for a client.
pub(crate) struct WorkTerms {
    /// Size of the request in bytes.
    pub(crate) bytes: usize,
    pub(crate) asks: mpsc::Receiver<Ask>,
    pub(crate) caller: Arc<Caller>,
    /// Cancels the work in order. It is not the request's token, which ends with each response.
    pub(crate) cancel: CancellationToken,
    /// The terms on which the work goes on if it takes long; otherwise its request waits for it.
    pub(crate) going_on: Option<GoingOn>,
    /// The terms on which the work may become a task of its client.
    pub(crate) task: Option<TaskTerms>,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl PendingRequest {
    /// Starts work.
    pub(crate) fn start(
        work: impl Future<Output = Result<Value, ErrorData>> + Send + 'static,
        terms: WorkTerms,
    ) -> Self {
        let ended = CancellationToken::new();
        let guard = ended.clone().drop_guard();
        let work = async move {
            let _ended = guard;
            work.await
        };
        PendingRequest { handle: tokio::spawn(work), ended, terms }
    }

    /// The request that it is done for.
    pub(crate) fn caller(&self) -> &Caller {
        &self.terms.caller
    }

    /// The work becomes a task only if the present request allows that.
    pub(crate) fn keep_task_terms(&mut self, runs_tasks: bool) {
        self.terms.task.take_if(|_| !runs_tasks);
    }

    /// Ends the work: waits, since its question will get no answer, then cancels it if it still runs.
    async fn end(mut self) {
        for is_cancelled in [false, true] {
            if is_cancelled {
                self.terms.cancel.cancel();
            }
            if tokio::time::timeout(CANCELLED_TIME, &mut self.handle).await.is_ok() {
                return;
            }
        }
    }
}

/// The terms on which work goes on after the answer to its request.
pub(crate) struct GoingOn {
    /// The execution's id.
    pub(crate) id: String,
    /// Its owner, the only one who may come back for the result.
    pub(crate) owner: String,
    /// Whether the tool of the present request declares an output schema.
    pub(crate) has_schema: bool,
    /// The time that each request waits for the result.
    pub(crate) limit: Duration,
    /// The end of the client's session, if it has one.
    pub(crate) session_end: Option<CancellationToken>,
}

/// Work that waits for its client.
struct Waiting {
    work: PendingRequest,
    /// Receives the answer.
    answer: oneshot::Sender<Value>,
    _reserved: Reserved,
}

/// An execution that went on after the answer to its request.
struct Running {
    /// The only one who may come back for the result.
    owner: String,
    /// The work, while no request waits for it and no question of it is open.
    work: Option<(PendingRequest, Reserved)>,
}

/// The reason why there is no key for states.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// The kernel provides no random numbers.
    #[error(transparent)]
    Random(#[from] io::Error),
    /// The library rejects the key.
    #[error(transparent)]
    Codec(#[from] RequestStateError),
}

/// All held work.
pub(crate) struct PendingRequests {
    codec: RequestStateCodec,
    /// By the name of the question.
    waiting: Mutex<HashMap<String, Waiting>>,
    /// By the execution's id.
    running: Mutex<HashMap<String, Running>>,
    /// The tasks of clients, by id.
    tasks: Mutex<HashMap<String, client_task::Entry>>,
    quota: Arc<Quota>,
    /// Time limit for clients to come back.
    return_time: Mutex<Duration>,
    /// Identifies this process in states of work that waits here.
    replica: String,
    used: Mutex<Used>,
    shared: Option<Arc<SharedState>>,
}

/// Used states that have not expired, in the order of their use.
#[derive(Default)]
struct Used {
    ids: HashSet<String>,
    by_time: VecDeque<(Instant, String)>,
    /// The longest time limit so far.
    longest: Duration,
}

/// The contents of a state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequestState<T> {
    /// Work waits under this name in one process for the answer; the first request with it takes it.
    Suspended {
        /// The process.
        replica: String,
        /// The name.
        name: String,
    },
    /// No work waits; the state contains everything.
    Sealed {
        /// Its id, for [`PendingRequests::spend`].
        once: String,
        /// The contents.
        known: T,
    },
}

impl PendingRequests {
    /// Uses the key of all replicas, or creates one that only this process knows. Clients have `return_time` to come back.
    /// Refusals are counted.
    pub(crate) fn new(
        return_time: Duration,
        shared: Option<Arc<SharedState>>,
        refusals: &Refusals,
    ) -> Result<Self, KeyError> {
        let codec = match &shared {
            Some(shared) => RequestStateCodec::try_new(shared.request_key())?,
            None => RequestStateCodec::try_new(&random::bytes::<32>()?[..])?,
        };
        let refused = refusals.of(Resource::PendingRequests);
        let quota = Quota::new("requests that wait for their clients", (WORK, WORK_OF_CLIENT), refused);
        Ok(PendingRequests {
            codec,
            waiting: Mutex::default(),
            running: Mutex::default(),
            tasks: Mutex::default(),
            quota,
            return_time: Mutex::new(return_time),
            replica: random::id()?,
            used: Mutex::new(Used { longest: return_time, ..Used::default() }),
            shared,
        })
    }

    /// Changes the time limit for clients to come back.
    pub(crate) fn set_return_time(&self, return_time: Duration) {
        *self.return_time.lock() = return_time;
        let mut used = self.used.lock();
        used.longest = used.longest.max(return_time);
    }

    fn return_time(&self) -> Duration {
        *self.return_time.lock()
    }

    /// A state that may be used once.
    ///
    /// # Errors
    /// If the kernel provides no random numbers.
    pub(crate) fn once<T>(&self, known: T) -> io::Result<RequestState<T>> {
        Ok(RequestState::Sealed { once: random::id()?, known })
    }

    /// Marks a state as used, also for other replicas.
    ///
    /// # Errors
    /// If it was used before, or that can't be found out.
    pub(crate) async fn spend(&self, once: String) -> Result<(), ErrorData> {
        if let Some(shared) = &self.shared {
            match shared.use_once(&once).await {
                Ok(true) => {}
                Ok(false) => return Err(ErrorData::invalid_params(USED, None)),
                Err(error) => {
                    let message = format!(
                        "it can't be found out whether another replica has used the requestState: {error}; try again \
                         later, or make the request again without it"
                    );
                    return Err(ErrorData::internal_error(message, None));
                }
            }
        }
        self.spend_here(once)
    }

    fn spend_here(&self, once: String) -> Result<(), ErrorData> {
        let refused = |message: &str| Err(ErrorData::invalid_params(message.to_owned(), None));
        let mut used = self.used.lock();
        let now = Instant::now();
        // These states have expired.
        while used.by_time.front().is_some_and(|(at, _)| now.duration_since(*at) > used.longest) {
            if let Some((_, id)) = used.by_time.pop_front() {
                used.ids.remove(&id);
            }
        }
        if used.ids.contains(&once) {
            return refused(USED);
        }
        if used.ids.len() >= USED_LIMIT {
            return refused("too many questions were answered in a short time; try again later");
        }
        used.ids.insert(once.clone());
        used.by_time.push_back((now, once));
        Ok(())
    }

    /// Seals a state for the request with this binding.
    pub(crate) fn seal<T: Serialize>(&self, state: &RequestState<T>, binding: &[u8]) -> String {
        let options = SealOptions::new().associated_data(binding).ttl(self.return_time());
        let state = serde_json::to_vec(state).unwrap_or_default();
        format!("{MARK}{}", self.codec.seal_with(&state, &options))
    }

    /// Opens a state; `None` if it is a server's.
    ///
    /// # Errors
    /// If it is invalid, and why.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        state: &str,
        binding: &[u8],
    ) -> Option<Result<RequestState<T>, ErrorData>> {
        let sealed = state.strip_prefix(MARK)?;
        let opened = self.codec.open_with(sealed, binding).map_err(|error| {
            let limit = self.return_time().as_secs_f64();
            let message = match error {
                RequestStateError::Expired => format!(
                    "the requestState has expired: there was no answer within {limit} s \
                     (serve.questionTimeout); make the request again without it"
                ),
                error => {
                    format!("the requestState is invalid: {error}; make the request again without it")
                }
            };
            ErrorData::invalid_params(message, None)
        });
        Some(opened.and_then(|state| {
            serde_json::from_slice(&state).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
        }))
    }

    /// Waits for the end of the work, for its question, or as long as a request may wait. In the latter cases the work
    /// is held, and the result contains the question, or says that the work goes on.
    pub(crate) async fn drive(
        self: &Arc<Self>,
        mut work: PendingRequest,
        binding: &[u8],
        cancel: &CancellationToken,
    ) -> Result<Value, ErrorData> {
        let result = |ended: Result<_, tokio::task::JoinError>| {
            ended.unwrap_or_else(|error| Err(ErrorData::internal_error(error.to_string(), None)))
        };
        let mut limit = match &work.terms.task {
            Some(task) => task.after,
            None => work.terms.going_on.as_ref().map(|going_on| going_on.limit),
        };
        let caller = work.terms.caller.clone();
        let mut may_be_task = work.terms.task.is_some();
        loop {
            let ask = tokio::select! {
                biased;
                ended = &mut work.handle => {
                    self.forget(&work);
                    return result(ended);
                }
                () = cancel.cancelled() => {
                    self.forget(&work);
                    work.terms.cancel.cancel();
                    let ended = tokio::time::timeout(CANCELLED_TIME, &mut work.handle).await;
                    return ended.map_or_else(|_| Err(ErrorData::internal_error("cancelled", None)), result);
                }
                Some(ask) = work.terms.asks.recv() => Some(ask),
                () = caller.task_requested(), if may_be_task => None,
                () = tokio::time::sleep(limit.unwrap_or_default()), if limit.is_some() => None,
            };
            match ask {
                Some(ask) => return self.suspend(work, ask, binding),
                None if work.terms.task.is_some() => match self.become_task(work).await {
                    Ok(result) => return Ok(result),
                    Err(kept) => (work, limit, may_be_task) = (*kept, Some(RETRY), false),
                },
                None => match self.let_run(work) {
                    Ok(result) => return Ok(result),
                    // There is no room for it yet: the request waits on, as long as its client does.
                    Err(kept) => (work, limit) = (*kept, Some(RETRY)),
                },
            }
        }
    }

    /// Holds work until its question is answered. The result contains the question.
    fn suspend(self: &Arc<Self>, work: PendingRequest, ask: Ask, binding: &[u8]) -> Result<Value, ErrorData> {
        let name = random::id().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let bytes = work.terms.bytes.saturating_add(ask.parameters.to_string().len());
        let reserved = self.quota.reserve(work.terms.caller.client(), bytes);
        let reserved = reserved.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let return_time = self.return_time();
        self.waiting().insert(name.clone(), Waiting { work, answer: ask.answer, _reserved: reserved });
        let (held, forgotten) = (Arc::downgrade(self), name.clone());
        tokio::spawn(async move {
            tokio::time::sleep(return_time).await;
            let waiting = held.upgrade().and_then(|held| held.waiting().remove(&forgotten));
            if let Some(Waiting { work, answer, _reserved }) = waiting {
                // The work learns that there is no answer.
                drop(answer);
                work.end().await;
            }
        });
        let state =
            self.seal(&RequestState::<()>::Suspended { replica: self.replica.clone(), name }, binding);
        Ok(input_required(&json!({ QUESTION: { "method": ask.method, "params": ask.parameters } }), &state))
    }

    /// Takes the work that waits under a name, and passes the answer on to it.
    ///
    /// # Errors
    /// If no work waits under the name, or in another process, or there is no answer.
    pub(crate) fn take(
        &self,
        (replica, name): (&str, &str),
        responses: Option<&Map<String, Value>>,
    ) -> Result<PendingRequest, ErrorData> {
        let Some(response) = responses.and_then(|responses| responses.get(QUESTION)) else {
            let message = format!("inputResponses has no {QUESTION:?}, although that was requested");
            return Err(ErrorData::invalid_params(message, None));
        };
        if replica != self.replica {
            let message = "the program that asked this question has started, and waits on another replica of this \
                           server, if that still runs; send the request to that replica, or make the request again \
                           without requestState, which starts the program anew";
            return Err(ErrorData::invalid_params(message, None));
        }
        let Some(Waiting { work, answer, .. }) = self.waiting().remove(name) else {
            let message = "the question is no longer open; make the request again";
            return Err(ErrorData::invalid_params(message, None));
        };
        // The work may have stopped waiting.
        let _ = answer.send(response.clone());
        Ok(work)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock()
    }
}

/// A result with questions.
pub(crate) fn input_required(requests: &Value, state: &str) -> Value {
    json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state })
}

/// The data that a request's state is bound to: the tool, its arguments, and the subject that calls it.
pub(crate) fn binding(tool: &str, arguments: Option<&Value>, subject: Option<&str>) -> Vec<u8> {
    // The order of members makes no difference.
    let sorted = |arguments: &Value| {
        let mut arguments = arguments.clone();
        arguments.sort_all_objects();
        arguments.to_string()
    };
    let arguments = arguments.map(sorted).unwrap_or_default();
    json!(["tools/call", tool, blake3::hash(arguments.as_bytes()).to_hex().to_string(), subject])
        .to_string()
        .into_bytes()
}

#[cfg(test)]
mod tests;
