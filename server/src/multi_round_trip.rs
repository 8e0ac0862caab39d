//! A `tools/call` that may take several requests (MCP 2026-07-28, multi-round-trip requests): what it asks goes out with
//! an answer, and the client makes the call again, with the state of that answer and what was asked for.
//!
//! What waits meanwhile is `pending`'s job.

use std::sync::Arc;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::caller::{Ask, Caller};
use super::pending::{PendingRequest, RequestState, binding};
use super::session::ClientSession;
use super::state::ServerState;

/// One request of such a call.
pub(crate) struct MultiRoundTripCall<'a> {
    server_state: &'a Arc<ServerState>,
    session: &'a ClientSession,
    context: &'a RequestContext<RoleServer>,
    /// The tool.
    pub(crate) name: String,
    /// What states of the call are bound to.
    pub(crate) binding: Vec<u8>,
    /// What the client answers to what it was asked.
    pub(crate) responses: Option<Map<String, Value>>,
    state: Option<String>,
    /// Bytes of the arguments.
    bytes: usize,
}

/// What the state of a request says.
pub(crate) enum Resumption<T> {
    /// There is none: the call begins.
    New,
    /// It is somebody else's.
    Foreign,
    /// Nothing waits here; this is what is known, and it holds once.
    Sealed(u64, T),
    /// Work waited for the request, and this has come of it.
    Answered(Value),
}

/// What the work of a call is done with.
pub(crate) struct CallScope {
    /// The request under way.
    pub(crate) caller: Arc<Caller>,
    /// Ends the work.
    pub(crate) cancel: CancellationToken,
    asks: Option<mpsc::Receiver<Ask>>,
}

impl<'a> MultiRoundTripCall<'a> {
    /// The call that these parameters are for.
    ///
    /// # Errors
    /// Where they name no tool, or nothing new is begun any more.
    pub(crate) fn new(
        server_state: &'a Arc<ServerState>,
        session: &'a ClientSession,
        context: &'a RequestContext<RoleServer>,
        parameters: &Map<String, Value>,
    ) -> Result<Self, ErrorData> {
        let Some(name) = parameters.get("name").and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params("params.name must be the name of a tool", None));
        };
        let state = parameters.get("requestState").and_then(Value::as_str).map(str::to_owned);
        if server_state.draining.is_cancelled() && state.is_none() {
            return Err(ErrorData::internal_error("toolsmith is stopping; nothing new is begun", None));
        }
        let arguments = parameters.get("arguments");
        Ok(MultiRoundTripCall {
            server_state,
            session,
            context,
            name: name.to_owned(),
            binding: binding(name, arguments),
            responses: parameters.get("inputResponses").and_then(Value::as_object).cloned(),
            state,
            bytes: arguments.map_or(0, |arguments| arguments.to_string().len()),
        })
    }

    /// Goes on where the state says.
    ///
    /// # Errors
    /// Why the state does not hold, or what the work has failed with.
    pub(crate) async fn resume<T: DeserializeOwned>(&self) -> Result<Resumption<T>, ErrorData> {
        let Some(state) = &self.state else { return Ok(Resumption::New) };
        let held = &self.server_state.held;
        Ok(match held.open::<T>(state, &self.binding).transpose()? {
            None => Resumption::Foreign,
            Some(RequestState::Sealed { once, known }) => Resumption::Sealed(once, known),
            Some(RequestState::Held(name)) => {
                let work = held.take(&name, self.responses.as_ref())?;
                work.caller.comes_back(self.context, self.session.level(self.context));
                Resumption::Answered(held.drive(work, &self.binding, &self.context.ct).await?)
            }
        })
    }

    /// What work for this call is done with.
    pub(crate) fn scope(&self) -> CallScope {
        let (caller, asks) = self.session.caller(self.context);
        // A request ends with its answer, but what asks goes on with the next one.
        let is_longer = asks.is_some();
        let cancel = if is_longer { self.server_state.stop.child_token() } else { self.context.ct.clone() };
        CallScope { caller, cancel, asks }
    }

    /// Does the work, up to its result or to what it asks first.
    ///
    /// # Errors
    /// What the work fails with, or why it can't wait.
    pub(crate) async fn drive(
        &self,
        scope: CallScope,
        work: impl Future<Output = Result<Value, ErrorData>> + Send + 'static,
    ) -> Result<Value, ErrorData> {
        let CallScope { caller, cancel, asks } = scope;
        let Some(asks) = asks else { return work.await };
        let work = PendingRequest::start(self.bytes, work, asks, caller, cancel);
        self.server_state.held.drive(work, &self.binding, &self.context.ct).await
    }
}
