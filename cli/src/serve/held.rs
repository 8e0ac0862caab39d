//! Work that waits for a client without sessions to come back with an answer (MCP 2026-07-28, multi-round-trip
//! requests).
//!
//! The client gets a state that is authenticated, expires, and is bound to its request: it can neither make one up nor
//! use one for something else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::caller::{Ask, Caller};
use super::random;

/// How long a client may take to come back.
pub(crate) const RETURN_TIME: Duration = Duration::from_secs(600);

/// How long work may take to end when it is cancelled, before it is dropped.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// How much work waits at once; more is refused.
const MOST_WAITING: usize = 256;

/// The key of the question in `inputRequests`.
const QUESTION: &str = "question";

/// What states begin with: servers have states of their own.
const MARK: &str = "toolsmith.";

/// Work that may ask.
pub(crate) struct Work {
    handle: JoinHandle<Result<Value, ErrorData>>,
    asks: mpsc::Receiver<Ask>,
    pub(crate) caller: Arc<Caller>,
    /// Ends it in order. It is none of the request's, which ends with each answer.
    cancel: CancellationToken,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl Work {
    pub(crate) fn start(
        work: impl Future<Output = Result<Value, ErrorData>> + Send + 'static,
        asks: mpsc::Receiver<Ask>,
        caller: Arc<Caller>,
        cancel: CancellationToken,
    ) -> Self {
        Work { handle: tokio::spawn(work), asks, caller, cancel }
    }
}

/// Work by name, with who gets the answer.
type Waiting = HashMap<String, (Work, oneshot::Sender<Result<Value, String>>)>;

/// All work that waits.
pub(crate) struct Held {
    codec: RequestStateCodec,
    waiting: Mutex<Waiting>,
}

/// What a state says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State<T> {
    /// Work waits for the answer, under this name.
    Held(String),
    /// Nothing waits; this is all that is known.
    Sealed(T),
}

impl Held {
    /// With a key that only this process knows.
    pub(crate) fn new() -> Result<Self, String> {
        let key = random::bytes::<32>().map_err(|error| error.to_string())?;
        let codec = RequestStateCodec::try_new(&key[..]).map_err(|error| error.to_string())?;
        Ok(Held { codec, waiting: Mutex::default() })
    }

    /// A state for the request that `binding` stands for.
    pub(crate) fn seal<T: Serialize>(&self, state: &State<T>, binding: &[u8]) -> String {
        let options = SealOptions::new().associated_data(binding).ttl(RETURN_TIME);
        let state = serde_json::to_vec(state).unwrap_or_default();
        format!("{MARK}{}", self.codec.seal_with(&state, &options))
    }

    /// What a state says; `None` where it is somebody else's.
    ///
    /// # Errors
    /// Why it does not hold.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        state: &str,
        binding: &[u8],
    ) -> Option<Result<State<T>, ErrorData>> {
        let sealed = state.strip_prefix(MARK)?;
        let opened = self.codec.open_with(sealed, binding).map_err(|error| {
            let message =
                format!("the requestState does not hold: {error}; make the request again without it");
            ErrorData::invalid_params(message, None)
        });
        Some(opened.and_then(|state| {
            serde_json::from_slice(&state).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
        }))
    }

    /// Waits for the end of the work, or for what it asks: then it is held, and the result says what is asked.
    pub(crate) async fn drive(
        self: &Arc<Self>,
        mut work: Work,
        binding: &[u8],
        cancel: &CancellationToken,
    ) -> Result<Value, ErrorData> {
        let result = |ended: Result<_, tokio::task::JoinError>| {
            ended.unwrap_or_else(|error| Err(ErrorData::internal_error(error.to_string(), None)))
        };
        let ask = tokio::select! {
            biased;
            ended = &mut work.handle => return result(ended),
            () = cancel.cancelled() => {
                work.cancel.cancel();
                let ended = tokio::time::timeout(CANCELLED_TIME, &mut work.handle).await;
                return ended.map_or_else(|_| Err(ErrorData::internal_error("cancelled", None)), result);
            }
            Some(ask) = work.asks.recv() => ask,
        };
        let name = random::name().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut waiting = self.waiting();
        if waiting.len() >= MOST_WAITING {
            let message = format!("{MOST_WAITING} requests wait for their clients already; try again later");
            return Err(ErrorData::internal_error(message, None));
        }
        waiting.insert(name.clone(), (work, ask.answer));
        drop(waiting);
        let (held, forgotten) = (Arc::downgrade(self), name.clone());
        tokio::spawn(async move {
            tokio::time::sleep(RETURN_TIME).await;
            if let Some(held) = held.upgrade() {
                held.waiting().remove(&forgotten);
            }
        });
        let state = self.seal(&State::<()>::Held(name), binding);
        Ok(input_required(&json!({ QUESTION: { "method": ask.method, "params": ask.parameters } }), &state))
    }

    /// The work that waits under a name, with the answer to what it asked.
    ///
    /// # Errors
    /// Where nothing waits there any more, or there is no answer.
    pub(crate) fn take(&self, name: &str, responses: Option<&Map<String, Value>>) -> Result<Work, ErrorData> {
        let Some(response) = responses.and_then(|responses| responses.get(QUESTION)) else {
            let message = format!("inputResponses has no {QUESTION:?}, which was asked for");
            return Err(ErrorData::invalid_params(message, None));
        };
        let Some((work, answer)) = self.waiting().remove(name) else {
            let message = "what was asked for is no longer waited for; make the request again";
            return Err(ErrorData::invalid_params(message, None));
        };
        // Whoever asked may have given up meanwhile.
        let _ = answer.send(Ok(response.clone()));
        Ok(work)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A result that asks.
pub(crate) fn input_required(requests: &Value, state: &str) -> Value {
    json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state })
}

/// What a state of a request is bound to: what is called, and with what.
pub(crate) fn binding(tool: &str, arguments: Option<&Value>) -> Vec<u8> {
    let arguments = arguments.map(Value::to_string).unwrap_or_default();
    json!(["tools/call", tool, blake3::hash(arguments.as_bytes()).to_hex().to_string()])
        .to_string()
        .into_bytes()
}
