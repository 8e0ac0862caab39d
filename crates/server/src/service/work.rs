//! The work of a tool's call: a direct call, an execution, a program to save.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::direct::DirectTool;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::McpService;
use crate::caller::client_of;
use crate::execute::{Arguments, ClientExecution};
use crate::journal::Requester;
use crate::message;
use crate::multi_round_trip::{CallScope, MultiRoundTripCall};
use crate::programs::saving::{SaveProgram, Saving};
use crate::proxy::ProxiedRequest;
use crate::session::identity_of;
use crate::snapshot::Snapshot;

/// The time before a client's own limit at which the answer is sent that an execution still runs: it may take time to
/// arrive.
const ANSWER_MARGIN: Duration = Duration::from_secs(15);

impl McpService {
    /// The call of a direct tool.
    pub(super) async fn direct_call(
        &self,
        tool: DirectTool,
        scope: &CallScope,
        parameters: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<BoxFuture<'static, Result<Value, ErrorData>>, ErrorData> {
        let (caller, cancel) = (scope.caller.clone(), scope.cancel.clone());
        let proxied = ProxiedRequest { cancel, ..self.proxied(caller, context).await };
        let arguments = message::arguments(&context.extensions, parameters.get("arguments"))?;
        let requester = Requester::of(&self.session, context);
        Ok(proxied.call(tool, requester, parameters, arguments).boxed())
    }

    /// Returns the time that an execution of this client may take before its answer says that it still runs.
    pub(super) fn answer_before(&self, context: &RequestContext<RoleServer>) -> Option<Duration> {
        if self.session.is_agent() {
            return None;
        }
        let configured = self.state.settings.borrow().config.serve.answer_before;
        let known = || Some(client_of(context).call_limit?.saturating_sub(ANSWER_MARGIN));
        configured.or_else(known)
    }

    /// The execution of a call, without the user's answer to an earlier question.
    pub(super) fn execution(
        &self,
        id: String,
        call: &MultiRoundTripCall<'_>,
        scope: &CallScope,
        snapshot: Arc<Snapshot>,
        arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> ClientExecution {
        ClientExecution {
            state: self.state.clone(),
            session: self.session.clone(),
            snapshot,
            live: self.session.live_for(self.abilities(context), context),
            peer: context.peer.clone(),
            id,
            caller: scope.caller.clone(),
            requester: Requester::of(&self.session, context),
            identity: identity_of(context),
            arguments,
            program: None,
            given: None,
            cancel: scope.cancel.clone(),
            binding: call.binding.clone(),
        }
    }

    /// A program to save.
    ///
    /// # Errors
    /// Returns an error if the arguments are invalid.
    pub(super) fn saving(
        &self,
        scope: &CallScope,
        snapshot: Arc<Snapshot>,
        arguments: Option<&Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Saving, String> {
        Ok(Saving {
            state: self.state.clone(),
            snapshot,
            live: self.session.live_for(self.abilities(context), context),
            caller: scope.caller.clone(),
            requester: Requester::of(&self.session, context),
            absence: self.session.absence(),
            arguments: SaveProgram::read(arguments.cloned().unwrap_or_else(|| json!({})))?,
            cancel: scope.cancel.clone(),
        })
    }
}
