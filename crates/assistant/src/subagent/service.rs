//! The MCP server of a subagent for one client: one tool, and logs of its runs.

use std::sync::Arc;

use gateway::propagation::{self, process_depth};
#[expect(deprecated, reason = "logging is still in use")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult, ErrorCode,
    GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, TASKS_EXTENSION_ID, Tool,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use server::client_tasks;
use server::definitions::of_era;
use server::json_size::MessageSizes;
use server::level::Level;
use server::multi_round_trip::{MultiRoundTripCall, Resumption};
use server::protocol_types;
use server::session::{ClientSession, is_stateless};
use server::shutdown::RequestEnd;
use system::event_loop::{off_loop, poll_off_loop};
use telemetry::TraceContext;

use super::task::{Subagent, Task};
use super::tool::{self, Arguments};

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

    /// The tool as clients list it.
    fn tool(&self) -> Value {
        tool::definition(&self.subagent.described, self.subagent.final_answer.as_ref())
    }

    /// A request about a task of the client.
    async fn about_task(
        &self,
        method: &str,
        request: serde_json::Result<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Ok(Value::Object(parameters)) = request else {
            return Err(ErrorData::invalid_params("params must be an object", None));
        };
        client_tasks::answer(&self.subagent.state, &self.session, (method, parameters), context).await
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let (subagent, state) = (&self.subagent, &self.subagent.state);
        let invalid = |message: String| ErrorData::invalid_params(message, None);
        let Value::Object(mut parameters) =
            serde_json::to_value(request).map_err(|error| invalid(error.to_string()))?
        else {
            return Err(invalid("params must be an object".to_owned()));
        };
        let call = MultiRoundTripCall::new(state, &self.session, &context, &parameters)?;
        let name = subagent.described.name.as_str();
        if call.name != name {
            return Err(invalid(format!("unknown tool {:?}; the only tool is {name}", call.name)));
        }
        match call.resume::<Value>().await? {
            Resumption::New => {}
            Resumption::Answered(result) => return Ok(result),
            Resumption::Foreign | Resumption::Sealed(..) => {
                return Err(invalid("the requestState was not issued by this server".to_owned()));
            }
        }
        let arguments = parameters.remove("arguments").unwrap_or_else(|| json!({}));
        let arguments = match Arguments::read(name, arguments) {
            Ok(arguments) => arguments,
            Err(wrong) => return Ok(answer::failure(&wrong.for_model())),
        };
        let meta = &context.meta.0.0;
        if let Some(refusal) = process_depth::refusal(meta, &state.settings.borrow().config) {
            return Ok(answer::failure(&refusal.for_model()));
        }
        let scope = call.task_scope();
        let task = Task {
            arguments,
            caller: scope.caller.clone(),
            cancel: scope.cancel.clone(),
            parent_run: propagation::run_of(meta).map(str::to_owned),
            depth: process_depth::of_call(meta),
            subject: self.session.subject.clone(),
            context: TraceContext::parse(meta),
        };
        call.drive(scope, subagent.clone().answer(task)).await
    }
}

#[expect(deprecated, reason = "logging is still in use")]
impl ServerHandler for McpService {
    fn get_info(&self) -> ServerConfig {
        let extensions = json!({ TASKS_EXTENSION_ID: {} });
        let capabilities = json!({ "tools": {}, "logging": {}, "extensions": extensions });
        // The constant above has the right form.
        let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ServerConfig::new(capabilities).with_server_info(protocol_types::server_info())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Each request of MCP 2026-07-28 declares the extension, and sessions have none of these.
        result.capabilities.extensions = None;
        // Connects to servers before the first task arrives.
        let state = &self.subagent.state;
        state.live(state.abilities(&context));
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = json!({ "tools": [self.tool()] });
        protocol_types::read(of_era("tools/list", listed, is_stateless(&context)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let stateless = is_stateless(&context);
        let sizes = MessageSizes::of(&context);
        poll_off_loop(sizes.request(), async {
            let ending = RequestEnd::of(&self.subagent.state, &context);
            let result = ending.or_answer(Box::pin(self.call(request, context))).await?;
            let result = of_era("tools/call", result, stateless);
            off_loop(sizes.set_result(&result), || protocol_types::call(result))
        })
        .await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        protocol_types::read(self.about_task("tasks/get", serde_json::to_value(request), &context).await?)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.about_task("tasks/update", serde_json::to_value(request), &context).await.map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.about_task("tasks/cancel", serde_json::to_value(request), &context).await.map(drop)
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
            let message = format!("the parameters of {} have an invalid form", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("unknown method {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = subscription.cancelled() => {}
            () = self.subagent.state.draining.cancelled() => {}
        }
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // The library compares values that a client sends both in headers and in the request.
        let is_it = name == self.subagent.described.name;
        is_it.then(|| serde_json::from_value(self.tool()).ok()).flatten()
    }
}
