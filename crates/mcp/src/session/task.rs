//! Calls that a server answers with a task: follows the task to its end, answers its requests for input, and cancels it
//! if nobody waits for it any more.
//!
//! There are two forms. In the extension (SEP-2663, MCP 2026-07-28) `tasks/get` carries everything. In MCP 2025-11-25 a
//! call asks for a task, and `tasks/result` carries the result.

use std::{borrow::Cow, collections::HashSet, sync::Arc, time::Duration};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use rmcp::{
    model::{ClientRequest, CustomRequest, NumberOrString, ProgressToken},
    service::PeerRequestOptions,
};
use serde::Deserialize;
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use system::event_loop::off_loop;
use tokio::{
    runtime::Handle,
    time::{sleep, timeout},
};

use super::{
    Inner, Session,
    connect::rpc_kind,
    deadline::{Deadline, PROGRESS_FACTOR},
    exchange::{Parameters, Terms},
};
use crate::{
    client::{Progress, TaskWatch},
    error::{Error, ErrorKind, Phase},
    progress::ProgressMade,
    server_config::NO_TIME_LIMIT,
    text::shown,
    wire::{MAX_REQUEST_BYTES, RawRequest, RpcError, TASKS},
};

/// The interval between polls if the server suggests none: doubled after each poll, from the first to the last.
const FIRST_POLL: Duration = Duration::from_millis(100);
const LAST_POLL: Duration = Duration::from_secs(2);

/// Limits on the interval that a server suggests: a shorter one would make it busy, and after a longer one a call would
/// notice late that it has ended.
const SHORTEST_POLL: Duration = Duration::from_millis(250);
const LONGEST_POLL: Duration = Duration::from_secs(30);

/// Consecutive polls that may fail, because the server restarts for example, and the shortest wait after one.
const MAX_FAILED_POLLS: usize = 10;
const FAILED_POLL: Duration = Duration::from_secs(1);

/// Limit on the requests for input of one task.
const MAX_INPUTS: usize = 64;

/// Limit on the length of a task's id, in bytes: it is sent in a header too.
const MAX_ID_BYTES: usize = 1024;

/// Time limit for the server to acknowledge a cancellation.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// Limit on quotes from a server, in bytes.
const QUOTED_BYTES: usize = 200;

/// The form of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The extension.
    Extension,
    /// MCP 2025-11-25.
    Core,
}

/// A task that a server has created for a call.
struct Created {
    form: Form,
    state: State,
}

/// The state of a task: MCP's `DetailedTask`, or `Task` of 2025-11-25.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    task_id: String,
    status: String,
    #[serde(default)]
    status_message: Option<String>,
    #[serde(default)]
    last_updated_at: Option<String>,
    #[serde(default, alias = "pollInterval")]
    poll_interval_ms: Option<f64>,
    #[serde(default, alias = "ttl")]
    ttl_ms: Option<f64>,
    #[serde(default)]
    input_requests: Option<Map<String, Value>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

impl Created {
    /// The task in the answer to a call, if it is one.
    ///
    /// # Errors
    /// Returns the reason if the answer declares a task that it does not describe.
    fn of(answer: &RawValue) -> Result<Option<Self>, String> {
        // The kind of a result, and the members of a task, begin with it: other answers are not parsed.
        if memchr::memmem::find(answer.get().as_bytes(), b"\"task").is_none() {
            return Ok(None);
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer<'a> {
            #[serde(borrow, default)]
            result_type: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            task: Option<&'a RawValue>,
            #[serde(borrow, default)]
            content: Option<&'a RawValue>,
        }
        let Ok(read) = serde_json::from_str::<Answer<'_>>(answer.get()) else { return Ok(None) };
        let (form, described) = match (read.result_type.as_deref(), read.task) {
            (Some("task"), _) => (Form::Extension, answer),
            (None, Some(task)) if read.content.is_none() => (Form::Core, task),
            _ => return Ok(None),
        };
        match State::read(described) {
            Ok(state) => Ok(Some(Created { form, state })),
            // The data of a tool, in a result without MCP's members.
            Err(_) if form == Form::Core => Ok(None),
            Err(reason) => Err(reason),
        }
    }
}

impl State {
    fn read(raw: &RawValue) -> Result<Self, String> {
        let state: State = serde_json::from_str(raw.get())
            .map_err(|error| format!("its task is not in MCP's form: {error}"))?;
        if state.task_id.is_empty() || state.task_id.len() > MAX_ID_BYTES {
            return Err(format!("the id of its task does not have 1 to {MAX_ID_BYTES} bytes"));
        }
        Ok(state)
    }

    /// The parts whose change is progress.
    fn progress(&self) -> (&str, Option<&str>, Option<&str>) {
        (&self.status, self.status_message.as_deref(), self.last_updated_at.as_deref())
    }

    /// The description of the state, for an error.
    fn described(&self) -> String {
        let message = self.status_message.as_deref().map(|message| shown(message, QUOTED_BYTES));
        message
            .filter(|message| !message.is_empty())
            .map(|message| format!(": {message}"))
            .unwrap_or_default()
    }
}

/// The requests for input whose answers are awaited, by key.
type Inputs<'a> = FuturesUnordered<BoxFuture<'a, (String, Result<Value, Error>)>>;

/// A task that is followed.
struct Followed<'a> {
    session: &'a Session,
    id: String,
    form: Form,
    phase: Phase,
    /// The keys of the requests for input so far.
    asked: HashSet<String>,
    /// Wakes before the next poll if the server has announced a change.
    changes: TaskWatch,
    token: ProgressToken,
    /// The changes of its state so far, which count as progress.
    steps: u32,
    /// The next interval if the server suggests none.
    poll: Duration,
}

impl Session {
    /// The parameter that asks for a task of 2025-11-25, if the server has these. It keeps the result as long as the
    /// call may take.
    pub(super) fn task_parameter(&self, limit: Duration) -> Result<Parameters, Error> {
        let extensions = self.inner.server.capabilities.extensions.as_ref();
        let declared = extensions.and_then(|extensions| extensions.get(TASKS)?.get("requests"));
        if self.is_stateless() || !declared.is_some_and(|requests| requests["tools"]["call"].is_object()) {
            return Ok(Parameters::new());
        }
        let longest = limit.saturating_mul(PROGRESS_FACTOR);
        let terms = match u64::try_from(longest.as_millis()) {
            Ok(ttl) if longest < NO_TIME_LIMIT => json!({ "ttl": ttl }),
            _ => json!({}),
        };
        Ok(vec![("task".into(), self.encode(&terms)?)])
    }

    /// Sends a call, and follows the task that its answer may be.
    pub(super) async fn exchange_or_follow(
        &self,
        request: &Arc<RawRequest>,
        terms: Terms,
    ) -> Result<Box<RawValue>, Error> {
        let raw = self.exchange(request, terms.clone()).await?;
        let created = off_loop(raw.get().len(), || Created::of(&raw));
        let Some(created) = created.map_err(|reason| self.fail(ErrorKind::Protocol { reason }))? else {
            return Ok(raw);
        };
        if !matches!(terms.phase, Phase::Call(_)) {
            let reason = format!("it answered `{}` with a task", terms.method);
            return Err(self.fail(ErrorKind::Protocol { reason }));
        }
        if let Some(on_task) = &terms.on_task {
            on_task();
        }
        Box::pin(self.follow(created, request, terms)).await
    }

    /// Follows a task to the end: returns the result of its call. The call's limits apply to all of it. `request` is
    /// the call.
    async fn follow(
        &self,
        created: Created,
        request: &RawRequest,
        terms: Terms,
    ) -> Result<Box<RawValue>, Error> {
        let Created { form, state } = created;
        let mut cancel = CancelTask { inner: &self.inner, id: Some(state.task_id.clone()) };
        let client = self.client();
        let own = || ProgressToken(NumberOrString::String(format!("task {}", state.task_id).into()));
        // In 2025-11-25 the token of the call stays valid.
        let token = request.progress_token().unwrap_or_else(own);
        let progress = client.progress_of(token.clone(), terms.progress.clone());
        let deadline = Deadline::new(terms.limit, client.pauses());
        let mut followed = Followed {
            session: self,
            id: state.task_id.clone(),
            form,
            phase: terms.phase.clone(),
            asked: HashSet::new(),
            changes: client.watch_task(&state.task_id),
            token,
            steps: 0,
            poll: FIRST_POLL,
        };
        let ended = tokio::select! {
            biased;
            ended = followed.end(state, &progress) => ended?,
            passed = deadline.passes(&progress, &self.inner.timers) => {
                return Err(self.timed_out(terms.phase, passed));
            }
        };
        cancel.id = None;
        ended
    }
}

impl<'a> Followed<'a> {
    /// Waits for the end: the outer error is that it can't be known, and the task should be cancelled.
    async fn end(
        &mut self,
        mut state: State,
        progress: &Progress,
    ) -> Result<Result<Box<RawValue>, Error>, Error> {
        let mut inputs = Inputs::new();
        loop {
            match (state.status.as_str(), self.form) {
                ("completed", Form::Extension) => {
                    let missing = || self.broken("its task is completed and has no result".to_owned());
                    return Ok(state.result.ok_or_else(missing));
                }
                ("failed", Form::Extension) => return Ok(Err(self.failed(&state))),
                ("cancelled", _) => {
                    let reason = format!("its task was cancelled on its side{}", state.described());
                    return Ok(Err(self.session.fail(ErrorKind::Host { reason })));
                }
                ("completed" | "failed" | "input_required", Form::Core) => match self.result().await {
                    Err(error) if is_transient(&error, self.session) => {}
                    ended => return Ok(ended),
                },
                ("input_required", Form::Extension) => self.ask(&mut state, &mut inputs)?,
                ("working", _) => {}
                (other, _) => {
                    let reason = format!("its task has the unknown status `{}`", shown(other, QUOTED_BYTES));
                    return Err(self.broken(reason));
                }
            }
            self.pause(&state, &mut inputs).await?;
            let next = self.state(&state).await?;
            if next.progress() != state.progress() {
                self.report(&next, progress);
            }
            state = next;
        }
    }

    /// Waits for the time of the next poll, and passes answers on to the server meanwhile.
    async fn pause(&mut self, state: &State, inputs: &mut Inputs<'a>) -> Result<(), Error> {
        let interval = match state.poll_interval_ms {
            Some(ms) if ms >= 0.0 => Duration::try_from_secs_f64(ms / 1e3)
                .unwrap_or(LONGEST_POLL)
                .clamp(SHORTEST_POLL, LONGEST_POLL),
            _ => {
                let interval = self.poll;
                self.poll = (interval * 2).min(LAST_POLL);
                interval
            }
        };
        let mut pause = std::pin::pin!(sleep(interval));
        loop {
            tokio::select! {
                biased;
                Some((key, answer)) = inputs.next(), if !inputs.is_empty() => {
                    self.update(&key, &answer?).await?;
                }
                () = self.changes.changed() => return Ok(()),
                () = &mut pause => return Ok(()),
            }
        }
    }

    /// Asks for the inputs that the task requires, each once.
    fn ask(&mut self, state: &mut State, inputs: &mut Inputs<'a>) -> Result<(), Error> {
        for (key, request) in state.input_requests.take().unwrap_or_default() {
            if self.asked.contains(&key) {
                continue;
            }
            if self.asked.len() >= MAX_INPUTS {
                return Err(self.broken(format!("its task asked for input more than {MAX_INPUTS} times")));
            }
            let bytes = request.to_string().len();
            if bytes > MAX_REQUEST_BYTES {
                let limit = MAX_REQUEST_BYTES;
                let reason = format!("its request for input has {bytes} bytes, over the limit of {limit}");
                return Err(self.broken(reason));
            }
            self.asked.insert(key.clone());
            let session = self.session;
            inputs.push(async move { (key, session.input(request).await) }.boxed());
        }
        Ok(())
    }

    /// Sends the answer to a request for input.
    async fn update(&self, key: &str, answer: &Value) -> Result<(), Error> {
        let responses = self.session.encode(&json!({ key: answer }))?;
        self.repeated("tasks/update", || vec![("inputResponses".into(), responses.clone())]).await.map(drop)
    }

    /// The next state.
    async fn state(&self, last: &State) -> Result<State, Error> {
        let answer = self.repeated("tasks/get", Vec::new).await.map_err(|error| match *error.kind {
            ErrorKind::Rpc { code: -32_602, message, .. } => {
                let ttl =
                    last.ttl_ms.map(|ttl| format!("; it keeps a task for {ttl} ms")).unwrap_or_default();
                let reason = format!("it no longer knows the task of this call ({message}{ttl})");
                self.broken(reason)
            }
            _ => error,
        })?;
        let state = off_loop(answer.get().len(), || State::read(&answer)).map_err(|why| self.broken(why))?;
        if state.task_id != self.id {
            return Err(self.broken("it answered `tasks/get` with another task".to_owned()));
        }
        Ok(state)
    }

    /// Sends a request about the task, and again while its connection fails.
    async fn repeated(
        &self,
        method: &'static str,
        parameters: impl Fn() -> Parameters,
    ) -> Result<Box<RawValue>, Error> {
        let mut failed = 0;
        loop {
            match self.request(method, parameters(), None).await {
                Err(error) if failed < MAX_FAILED_POLLS && is_transient(&error, self.session) => failed += 1,
                answered => return answered,
            }
            sleep(FAILED_POLL).await;
        }
    }

    /// The result of a task of 2025-11-25, which may ask questions before.
    async fn result(&self) -> Result<Box<RawValue>, Error> {
        // The limits of the call apply.
        self.request("tasks/result", Vec::new(), Some(NO_TIME_LIMIT)).await
    }

    async fn request(
        &self,
        method: &'static str,
        mut parameters: Parameters,
        limit: Option<Duration>,
    ) -> Result<Box<RawValue>, Error> {
        parameters.push(("taskId".into(), self.session.encode(&self.id)?));
        let mut ask = self.session.plain(method, parameters);
        ask.about = Some((self.id.clone(), Vec::new()));
        ask.limit = limit.unwrap_or(ask.limit);
        if method == "tasks/result" {
            ask.phase = self.phase.clone();
        }
        self.session.ask(ask).await
    }

    /// Counts a change of the state as progress of the call.
    fn report(&mut self, state: &State, progress: &Progress) {
        self.steps += 1;
        progress.note();
        let message = state.status_message.as_deref().map(|message| shown(message, QUOTED_BYTES));
        let made = ProgressMade { done: f64::from(self.steps), total: None, message };
        self.session.inner.client.progressed(&self.token, made);
    }

    /// The error of a task whose request failed.
    fn failed(&self, state: &State) -> Error {
        match &state.error {
            Some(error) => self.session.fail(rpc_kind(self.phase.clone(), RpcError::decode(error))),
            None => self.broken(format!("its task has failed and says no error{}", state.described())),
        }
    }

    fn broken(&self, reason: String) -> Error {
        self.session.fail(ErrorKind::Protocol { reason })
    }
}

/// Whether a request about a task may be sent again: it changes nothing, or is ignored the second time.
fn is_transient(error: &Error, session: &Session) -> bool {
    matches!(*error.kind, ErrorKind::Http { .. } | ErrorKind::Timeout { .. }) && !session.is_closed()
}

/// Cancels a task when dropped.
struct CancelTask<'a> {
    inner: &'a Inner,
    id: Option<String>,
}

impl Drop for CancelTask<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let Ok(parameter) = to_raw_value(&id) else { return };
        let raw = Arc::new(RawRequest::new(vec![("taskId".into(), parameter)]).about(&id, Vec::new()));
        let mut request = CustomRequest::new("tasks/cancel", None);
        request.extensions.insert(raw);
        let peer = self.inner.peer.clone();
        let cancelling = async move {
            let request = ClientRequest::CustomRequest(request);
            let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            if let Ok(sent) = sent {
                drop(sent.await_response().await);
            }
        };
        let mut cancelling = Box::pin(timeout(CANCEL_LIMIT, cancelling));
        // The first poll queues the request. Closing the session waits until it is written.
        if tokio::task::coop::unconstrained(&mut cancelling).now_or_never().is_none() {
            let mut tasks = self.inner.cancelling.lock();
            tasks.retain(|task| !task.is_finished());
            tasks.push(runtime.spawn(async move { drop(cancelling.await) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(answer: &Value) -> Result<Option<(Form, String)>, String> {
        let raw = to_raw_value(answer).unwrap();
        Ok(Created::of(&raw)?.map(|created| (created.form, created.state.task_id)))
    }

    #[test]
    fn tasks_are_told_from_results() {
        let flat = json!({ "resultType": "task", "taskId": "a", "status": "working", "ttlMs": null });
        assert_eq!(created(&flat), Ok(Some((Form::Extension, "a".to_owned()))));
        let nested = json!({ "task": { "taskId": "b", "status": "working", "ttl": 1, "pollInterval": 5 } });
        assert_eq!(created(&nested), Ok(Some((Form::Core, "b".to_owned()))));
        for result in [
            json!({ "content": [], "task": { "taskId": "a" } }),
            json!({ "resultType": "complete", "taskId": "a" }),
            json!({ "resultType": "input_required" }),
            json!({ "task": { "title": "data of a tool" } }),
            json!(7),
        ] {
            assert_eq!(created(&result), Ok(None), "{result}");
        }
        for broken in [
            json!({ "resultType": "task" }),
            json!({ "resultType": "task", "taskId": "", "status": "working" }),
            json!({ "resultType": "task", "taskId": "a".repeat(1025), "status": "working" }),
            json!({ "resultType": "task", "taskId": 7, "status": "working" }),
        ] {
            assert!(created(&broken).is_err(), "{broken}");
        }
    }
}
