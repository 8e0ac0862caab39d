//! A `tools/call` that may take several requests (MCP 2026-07-28, multi-round-trip requests): the response to one
//! contains questions, and the client repeats the call with the answers and the state from that response.
//!
//! `pending` holds the work that waits in between.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use system::event_loop::poll_off_loop;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::caller::{Ask, Caller};
use super::definitions::EXECUTE;
use super::http::session_end;
use super::json_size::MessageSizes;
use super::pending::{GoingOn, PendingRequest, RequestState, TaskTerms, WorkTerms, binding};
use super::session::{ClientSession, runs_tasks};
use super::state::ServerState;

/// The time after which an execution becomes a task for a client that knows tasks: most have ended by then, and need no
/// second request.
const TASK_AFTER: Duration = Duration::from_secs(2);

/// One request of such a call.
pub struct MultiRoundTripCall<'a> {
    server_state: &'a Arc<ServerState>,
    session: &'a ClientSession,
    context: &'a RequestContext<RoleServer>,
    /// The tool.
    pub name: String,
    /// The data that states of the call are bound to.
    pub(crate) binding: Vec<u8>,
    /// The client's answers to the questions.
    pub(crate) responses: Option<Map<String, Value>>,
    state: Option<String>,
    /// Size of the arguments in bytes.
    bytes: usize,
}

/// The meaning of a request's state.
pub enum Resumption<T> {
    /// No state: the call is new.
    New,
    /// The state of a server.
    Foreign,
    /// The contents of a sealed state, which is valid once. No work waits.
    Sealed(String, T),
    /// The result of the work that waited for this request.
    Answered(Value),
}

/// The context in which a call is executed.
pub struct CallScope {
    /// The request in progress.
    pub caller: Arc<Caller>,
    /// Cancels the work.
    pub cancel: CancellationToken,
    asks: Option<mpsc::Receiver<Ask>>,
    going_on: Option<GoingOn>,
    task: Option<TaskTerms>,
}

impl<'a> MultiRoundTripCall<'a> {
    /// The call that these parameters describe.
    ///
    /// # Errors
    /// If they name no tool, or the server is stopping.
    pub fn new(
        server_state: &'a Arc<ServerState>,
        session: &'a ClientSession,
        context: &'a RequestContext<RoleServer>,
        parameters: &Map<String, Value>,
    ) -> Result<Self, ErrorData> {
        let Some(name) = parameters.get("name").and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params("params.name must be the name of a tool", None));
        };
        let state = parameters.get("requestState").and_then(Value::as_str).map(str::to_owned);
        let arguments = parameters.get("arguments");
        // One that waits for an execution begins nothing.
        let waits = name == EXECUTE && arguments.is_some_and(|arguments| arguments["execution"].is_string());
        if server_state.draining.is_cancelled() && state.is_none() && !waits {
            return Err(ErrorData::internal_error("toolsmith is stopping and accepts no new requests", None));
        }
        Ok(MultiRoundTripCall {
            server_state,
            session,
            context,
            name: name.to_owned(),
            binding: binding(
                name,
                arguments,
                session.subject.as_ref().map(|subject| subject.key()).as_deref(),
            ),
            responses: parameters.get("inputResponses").and_then(Value::as_object).cloned(),
            state,
            bytes: arguments.map_or(0, |arguments| arguments.to_string().len()),
        })
    }

    /// Continues as the state says.
    ///
    /// # Errors
    /// If the state is invalid, or the work failed.
    pub async fn resume<T: DeserializeOwned>(&self) -> Result<Resumption<T>, ErrorData> {
        let Some(state) = &self.state else { return Ok(Resumption::New) };
        let held = &self.server_state.held;
        Ok(match held.open::<T>(state, &self.binding).transpose()? {
            None => Resumption::Foreign,
            Some(RequestState::Sealed { once, known }) => Resumption::Sealed(once, known),
            Some(RequestState::Suspended { replica, name }) => {
                let mut work = held.take((&replica, &name), self.responses.as_ref())?;
                work.keep_task_terms(runs_tasks(self.context));
                work.caller().continue_with(self.context, self.session.level(self.context));
                Resumption::Answered(held.drive(work, &self.binding, &self.context.ct).await?)
            }
        })
    }

    /// The context for this call.
    pub fn scope(&self) -> CallScope {
        let (caller, asks) = self.session.caller(self.context);
        // The request ends with its response, but the work continues with the next request.
        let is_longer = asks.is_some();
        let cancel = if is_longer { self.server_state.stop.child_token() } else { self.context.ct.clone() };
        CallScope { caller, cancel, asks, going_on: None, task: None }
    }

    /// The context for a call of a direct tool, which becomes a task if its server makes it one.
    pub(crate) fn direct_scope(&self) -> CallScope {
        CallScope { task: self.task_terms(None), ..self.scope() }
    }

    /// The context for work of minutes, which becomes a task of a client that knows tasks.
    pub fn task_scope(&self) -> CallScope {
        CallScope { task: self.task_terms(Some(TASK_AFTER)), ..self.scope() }
    }

    /// The terms of a task for this client, if it knows tasks.
    fn task_terms(&self, after: Option<Duration>) -> Option<TaskTerms> {
        // An agent of this process waits as long as it takes.
        let may_be = runs_tasks(self.context) && !self.session.is_agent();
        may_be.then(|| TaskTerms { owner: self.session.owner().into_owned(), after })
    }

    /// The context for an execution, which goes on if it takes longer than `limit`: as a task for a client that knows
    /// tasks, then also without a limit. `has_schema` says whether the tool
    /// declares an output schema.
    pub(crate) fn execution_scope(&self, id: &str, limit: Option<Duration>, has_schema: bool) -> CallScope {
        let after = limit.map_or(TASK_AFTER, |limit| limit.min(TASK_AFTER));
        let scope = CallScope { task: self.task_terms(Some(after)), ..self.scope() };
        let Some(limit) = limit.filter(|_| scope.task.is_none()) else { return scope };
        let (id, owner) = (id.to_owned(), self.session.owner().into_owned());
        let session_end = session_end(&self.context.extensions);
        let cancel = self.server_state.stop.child_token();
        CallScope { cancel, going_on: Some(GoingOn { id, owner, has_schema, limit, session_end }), ..scope }
    }

    /// Waits for an execution that goes on. `has_schema` says whether this tool declares the schema of outcomes.
    ///
    /// # Errors
    /// If the work failed. An unknown id is a result for the model.
    pub(crate) async fn await_execution(&self, id: &str, has_schema: bool) -> Result<Value, ErrorData> {
        let held = &self.server_state.held;
        match held.take_running(id, &self.session.owner()) {
            Ok(mut work) => {
                work.continue_with(self.context, self.session.level(self.context), has_schema);
                let result = held.drive(work, &self.binding, &self.context.ct).await?;
                // A saved program has a schema of its own.
                Ok(if has_schema { answer::with_structured_outcome(result) } else { result })
            }
            Err(unknown) => Ok(answer::failure(&unknown.to_string())),
        }
    }

    /// Does the work, up to its result or its first question. The work on a long request is off the event loop, also if
    /// it becomes a task of its own.
    ///
    /// # Errors
    /// If the work fails, or can't wait.
    pub async fn drive(
        &self,
        scope: CallScope,
        work: impl Future<Output = Result<Value, ErrorData>> + Send + 'static,
    ) -> Result<Value, ErrorData> {
        let CallScope { caller, cancel, asks, going_on, task } = scope;
        let work = poll_off_loop(MessageSizes::of(self.context).request(), work);
        if asks.is_none() && going_on.is_none() && task.is_none() {
            return work.await;
        }
        // The process waits for work that goes on when it ends, as it does for requests.
        let goes_on = going_on.is_some() || task.is_some();
        let answering = goes_on.then(|| self.server_state.answering.token());
        let work = async move {
            let _answering = answering;
            work.await
        };
        // In a session, questions are requests, and nothing is sent here.
        let asks = asks.unwrap_or_else(|| mpsc::channel(1).1);
        let terms = WorkTerms { bytes: self.bytes, asks, caller, cancel, going_on, task };
        let work = PendingRequest::start(work, terms);
        self.server_state.held.drive(work, &self.binding, &self.context.ct).await
    }
}

#[cfg(test)]
mod tests;
