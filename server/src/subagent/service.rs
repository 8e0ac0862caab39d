//! The MCP server as one client sees it: one tool, and logs of what it does.

use std::sync::Arc;

#[expect(deprecated, reason = "logging is still in use")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::task::{Subagent, Task};
use super::tool::{self, Arguments};
use crate::answer;
use crate::caller::Abilities;
use crate::definitions::of_era;
use crate::level::Level;
use crate::pending::{PendingRequest, RequestState, binding};
use crate::protocol_types;
use crate::session::{ClientSession, is_stateless};
use crate::shutdown;
use crate::telemetry::TraceContext;
use gateway::propagation::{self, depth};

/// Serves one client.
#[derive(Clone)]
pub(super) struct McpService {
    subagent: Arc<Subagent>,
    session: Arc<ClientSession>,
}

impl McpService {
    pub(super) fn new(subagent: Arc<Subagent>, session: Arc<ClientSession>) -> Self {
        McpService { subagent, session }
    }

    /// The result, unless the process ends first.
    async fn called(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let workshop = &self.subagent.workshop;
        let _answering = workshop.answering.token();
        let (end, cancel) = (shutdown::of_request(workshop, &context), context.ct.clone());
        let mut answer = std::pin::pin!(self.call(request, context));
        tokio::select! {
            biased;
            answer = &mut answer => answer,
            () = end => {
                cancel.cancel();
                answer.await
            }
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let (subagent, workshop) = (&self.subagent, &self.subagent.workshop);
        let name = subagent.described.name.as_str();
        if request.name != name {
            let message = format!("unknown tool {:?}; there is {name}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        if workshop.draining.is_cancelled() && request.request_state.is_none() {
            return Err(ErrorData::internal_error("toolsmith is stopping; nothing new is begun", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let binding = binding(name, Some(&arguments));
        let bytes = arguments.to_string().len();
        if let Some(state) = request.request_state {
            let responses = serde_json::to_value(request.input_responses).unwrap_or_default();
            return self.comes_back(&state, &responses, &binding, &context).await;
        }
        let arguments = match Arguments::read(name, arguments) {
            Ok(arguments) => arguments,
            Err(wrong) => return Ok(answer::failure(&wrong)),
        };
        let meta = &context.meta.0.0;
        if let Some(refusal) = depth::refusal(meta, &workshop.settings.borrow().config) {
            return Ok(answer::failure(&refusal));
        }
        let (caller, asks) = self.session.caller(&context);
        // A request ends with its answer, but what asks goes on with the next one.
        let cancel = if asks.is_some() { workshop.stop.child_token() } else { context.ct.clone() };
        let task = Task {
            arguments,
            caller: caller.clone(),
            cancel: cancel.clone(),
            parent_run: propagation::run_of(meta).map(str::to_owned),
            depth: depth::of_call(meta),
            context: TraceContext::parse(meta),
        };
        let work = futures::FutureExt::boxed(subagent.clone().answer(task));
        match asks {
            Some(asks) => {
                let work = PendingRequest::start(bytes, work, asks, caller, cancel);
                workshop.held.drive(work, &binding, &context.ct).await
            }
            None => work.await,
        }
    }

    /// Goes on with a task that has asked the client, with what it answers.
    async fn comes_back(
        &self,
        state: &str,
        responses: &Value,
        binding: &[u8],
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let held = &self.subagent.workshop.held;
        let not_ours = || ErrorData::invalid_params("the requestState is not one of this server", None);
        match held.open::<Value>(state, binding).ok_or_else(not_ours)?? {
            RequestState::Held(name) => {
                let work = held.take(&name, responses.as_object())?;
                work.caller.comes_back(context, self.session.level(context));
                held.drive(work, binding, &context.ct).await
            }
            RequestState::Sealed { .. } => Err(not_ours()),
        }
    }
}

#[expect(deprecated, reason = "logging is still in use")]
impl ServerHandler for McpService {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({ "tools": {}, "logging": {} });
        // Written here, so it has the form.
        let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let result = self.negotiate_initialize(&request)?;
        // Servers are asked before the first task comes.
        self.subagent.workshop.live(Abilities::of(context.client_capabilities().as_ref()));
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = json!({ "tools": [tool::definition(&self.subagent)] });
        protocol_types::read(of_era("tools/list", listed, is_stateless(&context)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let stateless = is_stateless(&context);
        let result = self.called(request, context).await?;
        protocol_types::call(of_era("tools/call", result, stateless))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let name = serde_json::to_value(request.level).unwrap_or_default();
        if let Some(level) = name.as_str().and_then(Level::of) {
            self.session.set_level(level);
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if matches!(request.method.as_str(), "tools/call" | "tools/list" | "logging/setLevel") {
            let message = format!("the parameters of {} have not their form", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("the method {} is not known here", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = subscription.cancelled() => {}
            () = self.subagent.workshop.draining.cancelled() => {}
        }
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // The library compares what a client says twice, in headers and in the request.
        let is_it = name == self.subagent.described.name;
        is_it.then(|| serde_json::from_value(tool::definition(&self.subagent)).ok()).flatten()
    }
}
