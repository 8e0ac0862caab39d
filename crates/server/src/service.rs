//! The MCP server for one client: routes requests to their handlers.
//!
//! Over stdio, requests and results are plain JSON, and nothing is lost. Over HTTP the library enforces its types:
//! members that they do not have are dropped, and content of unknown kinds becomes a text.

mod resources_and_prompts;
mod subscription;
mod work;

use std::sync::{Arc, Once};
use std::time::Duration;

use answer::client_profile::{ClientProfile, UNKNOWN};
use futures::FutureExt as _;
use gateway::direct::RESERVED;
use gateway::propagation::process_depth;
#[expect(deprecated, reason = "logging is still in use")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientRequest,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, ServerResult,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, Service, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use system::event_loop::{off_loop, poll_off_loop};
use system::random;

use super::apps;
use super::caller::{Abilities, Caller, client_named, client_of, untyped, with_meta};
use super::client_tasks;
use super::definitions;
use super::execute::{self, Arguments, ClientExecution, SuspendedExecution};
use super::http::sessions::SessionClient;
use super::journal::{ClientInfo, Requester};
use super::json_size::MessageSizes;
use super::message;
use super::multi_round_trip::{MultiRoundTripCall, Resumption};
use super::programs::saving;
use super::protocol_types;
use super::proxy::ProxiedRequest;
use super::resources_and_prompts::{AGENTS_WAIT, LIST_WAIT, List, own_template};
use super::session::{ClientSession, ClientTransport, identity_of, is_stateless};
use super::shutdown::RequestEnd;
use super::snapshot::Snapshot;
use super::state::ServerState;
use super::tool_forms::ToolForm;

/// The time for which `tools/list` waits for clients that do not ask again. Codex starts without a server after 10 s.
const ONLY_LIST_WAIT: Duration = Duration::from_secs(8);

/// Serves one client over stdio.
pub(crate) struct PipeService(McpService);

/// Serves one client.
#[derive(Clone)]
pub(crate) struct McpService {
    state: Arc<ServerState>,
    session: Arc<ClientSession>,
}

impl PipeService {
    pub(crate) fn new(handler: McpService) -> Self {
        PipeService(handler)
    }
}

impl Service<RoleServer> for PipeService {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let request = match request {
            ClientRequest::InitializeRequest(_)
            | ClientRequest::DiscoverRequest(_)
            | ClientRequest::PingRequest(_)
            | ClientRequest::SubscriptionsListenRequest(_) => request,
            // Other requests are forwarded as JSON, even with members unknown to the library.
            other => untyped(other, &serde_json::to_value(&context.meta).unwrap_or_default()),
        };
        Service::handle_request(&self.0, request, context).await
    }

    async fn handle_notification(
        &self,
        notification: rmcp::model::ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }
}

/// Implements the library's typed methods by their protocol names.
macro_rules! typed {
    ($($function:ident: $method:literal, $request:ty => $result:ty, $read:expr;)*) => {
        $(async fn $function(
            &self,
            request: $request,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let sizes = MessageSizes::of(&context);
            poll_off_loop(sizes.request(), async {
                let result = self.typed($method, serde_json::to_value(request), context).await?;
                off_loop(sizes.set_result(&result), || $read(result))
            })
            .await
        })*
    };
}

#[expect(deprecated, reason = "logging is still in use")]
impl ServerHandler for McpService {
    typed! {
        list_tools: "tools/list", Option<PaginatedRequestParams> => ListToolsResult, protocol_types::read;
        call_tool: "tools/call", CallToolRequestParams => CallToolResponse, protocol_types::call;
        list_resources: "resources/list", Option<PaginatedRequestParams> => ListResourcesResult, protocol_types::read;
        list_resource_templates: "resources/templates/list", Option<PaginatedRequestParams> => ListResourceTemplatesResult, protocol_types::read;
        read_resource: "resources/read", ReadResourceRequestParams => ReadResourceResponse, protocol_types::resource;
        subscribe: "resources/subscribe", SubscribeRequestParams => (), |_| Ok(());
        unsubscribe: "resources/unsubscribe", UnsubscribeRequestParams => (), |_| Ok(());
        list_prompts: "prompts/list", Option<PaginatedRequestParams> => ListPromptsResult, protocol_types::read;
        get_prompt: "prompts/get", GetPromptRequestParams => GetPromptResponse, protocol_types::prompt;
        complete: "completion/complete", CompleteRequestParams => CompleteResult, protocol_types::read;
        set_level: "logging/setLevel", SetLevelRequestParams => (), |_| Ok(());
        get_task: "tasks/get", GetTaskParams => GetTaskResult, protocol_types::read;
        update_task: "tasks/update", UpdateTaskParams => (), |_| Ok(());
        cancel_task: "tasks/cancel", CancelTaskParams => (), |_| Ok(());
    }

    fn get_info(&self) -> ServerConfig {
        self.info(&UNKNOWN)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        let info = self.info(client_of(&context));
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.check_client(Some(&request.capabilities))?;
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        let client = client_named(Some(&request.client_info));
        result.instructions = self.info(client).instructions;
        // Each request of MCP 2026-07-28 declares the extension, and sessions have none of these.
        result.capabilities.extensions = None;
        self.session.begin(&context);
        if let Some(client) = context.extensions.get::<SessionClient>() {
            client.set(ClientInfo::of_handshake(&self.session, request, &result));
        }
        Ok(result)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let sizes = MessageSizes::of(&context);
        let result = self.result(&request.method, request.params, context);
        let result = poll_off_loop(sizes.request(), result).await?;
        sizes.set_result(&result);
        Ok(CustomResult(result))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let context = subscription.request_context().clone();
        let live = self.session.live_for(self.abilities(&context), &context);
        let upstreams = self.session.upstreams(self.abilities(&context), &context.peer);
        let mut notices = upstreams.host().notices();
        for uri in subscription.accepted().resource_subscriptions.iter().flatten() {
            // A resource that no server has can't change.
            let parameters = Map::from_iter([("uri".to_owned(), json!(uri))]);
            let _ = self.about_resource("resources/subscribe", parameters, context.clone()).await;
        }
        let client = client_of(&context);
        let mut current = live.watch();
        let mut known = current.borrow_and_update().clone();
        let sink = subscription.sink();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.state.draining.cancelled() => return Ok(()),
                changes = current.changed() => {
                    if changes.is_err() {
                        return Ok(());
                    }
                    let now = current.borrow_and_update().clone();
                    subscription::notify_of_lists(sink, client, (&known, &now)).await;
                    known = now;
                }
                received = notices.receive() => {
                    let Some(received) = received else { return Ok(()) };
                    if let Some(notice) = received.item {
                        subscription::notify_of(sink, notice).await;
                    }
                }
            }
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // The library compares values that a client sends both in headers and in the request.
        let snapshot = self.state.any_snapshot()?;
        serde_json::from_value(definitions::tool(&snapshot, name)?).ok()
    }
}

impl McpService {
    pub(crate) fn new(state: Arc<ServerState>, session: Arc<ClientSession>) -> Self {
        McpService { state, session }
    }

    fn info(&self, client: &ClientProfile) -> ServerConfig {
        definitions::info(client, &self.state.settings.borrow().config)
    }

    /// Refuses a connection that loops back to this server.
    fn check_client(&self, capabilities: Option<&ClientCapabilities>) -> Result<(), ErrorData> {
        let settings = self.state.settings.borrow();
        let transport = self.session.transport;
        let declaration =
            capabilities.and_then(|client| client.experimental.as_ref()?.get(process_depth::PROCESS));
        let is_over_http = match transport {
            ClientTransport::Stdio => false,
            ClientTransport::Http => true,
            ClientTransport::InProcess(_) => return Ok(()),
        };
        let Some(why) = process_depth::leads_back(declaration, is_over_http, &settings.config) else {
            return Ok(());
        };
        if transport == ClientTransport::Http {
            // Only once: a client that tries again is refused again.
            static REPORTED: Once = Once::new();
            REPORTED.call_once(|| self.state.terminal.notifier().error(&why.for_terminal()));
        }
        Err(ErrorData::invalid_request(why.for_model(), None))
    }

    async fn typed(
        &self,
        method: &str,
        request: serde_json::Result<Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let request = request.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let mut parameters = Some(request).filter(|request| !request.is_null());
        with_meta(&mut parameters, &serde_json::to_value(&context.meta).unwrap_or_default());
        self.result(method, parameters, context).await
    }

    /// The result in the form of the client's era.
    async fn result(
        &self,
        method: &str,
        parameters: Option<Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let parameters = match parameters {
            Some(Value::Object(parameters)) => parameters,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(ErrorData::invalid_params("params must be an object", None)),
        };
        let stateless = is_stateless(&context);
        if stateless {
            self.check_client(context.client_capabilities().as_ref())?;
        }
        let ending = RequestEnd::of(&self.state, &context);
        // Boxed, because each of the library's methods holds this large future.
        let result = ending.or_answer(Box::pin(self.answer(method, parameters, context))).await?;
        Ok(definitions::of_era(method, result, stateless))
    }

    async fn answer(
        &self,
        method: &str,
        parameters: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        match method {
            "tools/list" => Ok(self.tools(&context).await),
            "tools/call" => {
                let client = client_of(&context);
                let result = self.call(parameters, context).await?;
                Ok(answer::for_client(result, client, &self.state.settings.borrow().config.serve))
            }
            "resources/list" => Ok(self.list(List::Resources, &context).await),
            "resources/templates/list" => Ok(self.list(List::Templates, &context).await),
            "prompts/list" => Ok(self.list(List::Prompts, &context).await),
            "resources/read" => self.about_resource("resources/read", parameters, context).await,
            // Since 2026-07-28 `subscriptions/listen` names the resources.
            "resources/subscribe" if !is_stateless(&context) => {
                self.about_resource("resources/subscribe", parameters, context).await
            }
            "resources/unsubscribe" if !is_stateless(&context) => {
                self.about_resource("resources/unsubscribe", parameters, context).await
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" => {
                client_tasks::answer(&self.state, &self.session, (method, parameters), &context).await
            }
            "prompts/get" => self.prompt(parameters, context).await,
            "completion/complete" => self.completion(parameters, context).await,
            // Since 2026-07-28 each request states its level.
            "logging/setLevel" if !is_stateless(&context) => self.log_level(parameters, &context).await,
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method}"), None)),
        }
    }

    fn abilities(&self, context: &RequestContext<RoleServer>) -> Abilities {
        self.state.abilities(context)
    }

    /// The offered tools, after the servers had time to answer.
    async fn snapshot(&self, context: &RequestContext<RoleServer>) -> Arc<Snapshot> {
        self.snapshot_within(LIST_WAIT, context).await
    }

    /// Like [`McpService::snapshot`], with this time unless the configuration sets it.
    async fn snapshot_within(&self, wait: Duration, context: &RequestContext<RoleServer>) -> Arc<Snapshot> {
        let live = self.session.live_for(self.abilities(context), context);
        let wait = live.now().config().serve.list_wait.unwrap_or(wait);
        // An agent does not ask again for tools that it did not see.
        let wait = if self.session.is_agent() { wait.max(AGENTS_WAIT) } else { wait };
        live.within(wait).await
    }

    /// The snapshot for a call of this tool: an unknown direct tool, or what a look-up does not find, may belong to a
    /// server that still starts.
    async fn snapshot_for(
        &self,
        name: &str,
        arguments: Option<&Value>,
        context: &RequestContext<RoleServer>,
    ) -> Arc<Snapshot> {
        let live = self.session.live_for(self.abilities(context), context);
        let settings = self.state.settings.borrow().clone();
        live.follow(&settings, AGENTS_WAIT).await;
        let is_own = RESERVED.contains(&name) && definitions::executes(&live.now());
        match (name, is_own) {
            // The execution itself waits for the servers that it names.
            (definitions::EXECUTE, true) => live.now(),
            (_, true) => {
                self.snapshot(context).await;
                live.until(AGENTS_WAIT, |snapshot| definitions::finds(snapshot, name, arguments)).await
            }
            _ => live.until(AGENTS_WAIT, |snapshot| snapshot.partition.knows(name)).await,
        }
    }

    async fn tools(&self, context: &RequestContext<RoleServer>) -> Value {
        let client = client_of(context);
        let wait = if client.asks_again { LIST_WAIT } else { ONLY_LIST_WAIT };
        let snapshot = self.snapshot_within(wait, context).await;
        let mut tools = definitions::tools(&snapshot, client, self.abilities(context).shows_apps);
        if saving::is_offered(snapshot.config(), &self.session) {
            tools.push(saving::definition());
        }
        // `json!` would copy all of them.
        Value::Object(Map::from_iter([("tools".to_owned(), tools.into())]))
    }

    async fn proxied(&self, caller: Arc<Caller>, context: &RequestContext<RoleServer>) -> ProxiedRequest {
        caller.set_page(Requester::of(&self.session, context).page_prompt(&self.state, None));
        let abilities = self.abilities(context);
        ProxiedRequest {
            state: self.state.clone(),
            session: self.session.clone(),
            snapshot: self.snapshot(context).await,
            upstreams: self.session.upstreams(abilities, &context.peer),
            shared: self.session.live(abilities).upstreams.clone(),
            caller,
            identity: identity_of(context),
            cancel: context.ct.clone(),
        }
    }

    async fn proxied_request(&self, context: &RequestContext<RoleServer>) -> ProxiedRequest {
        // A server's questions in its result are forwarded; other questions can't be asked of a client without a
        // session.
        let (caller, _) = self.session.caller(context);
        self.proxied(caller, context).await
    }

    async fn list(&self, list: List, context: &RequestContext<RoleServer>) -> Value {
        let mut items = self.proxied_request(context).await.list(list).await;
        match list {
            List::Templates => items.push(own_template()),
            List::Resources => {
                let kept = self.state.kept.addresses(&self.session.id);
                items.extend(kept.into_iter().map(|(uri, size)| {
                    json!({ "uri": uri, "name": "execution output", "mimeType": "text/plain", "size": size })
                }));
            }
            List::Prompts => {}
        }
        json!({ list.member(): items })
    }

    async fn call(
        &self,
        parameters: Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let call = MultiRoundTripCall::new(&self.state, &self.session, &context, &parameters)?;
        let name = call.name.as_str();
        if let Some(refusal) = process_depth::refusal(&context.meta.0.0, &self.state.settings.borrow().config)
        {
            return Ok(answer::failure(&refusal.for_model()));
        }
        let snapshot = self.snapshot_for(name, parameters.get("arguments"), &context).await;
        let looked_up = parameters.get("arguments");
        if let Some(result) = definitions::discover(&snapshot, name, looked_up, &self.session.seen) {
            let proxied = self.proxied_request(&context).await;
            return Ok(definitions::with_lines(result, proxied.skills(name, looked_up, &context).await));
        }
        let program = definitions::program(&snapshot, name).cloned();
        if let Some(refusal) = program.as_ref().and_then(|program| program.refusal()) {
            return Ok(answer::failure(&refusal));
        }
        let is_execution = name == definitions::EXECUTE && definitions::executes(&snapshot);
        let is_saving = name == saving::NAME && saving::is_offered(snapshot.config(), &self.session);
        let direct = match snapshot.partition.find(name) {
            _ if is_execution || is_saving || program.is_some() => None,
            Some(direct) if !direct.is_for_apps => Some(direct.clone()),
            _ => {
                let of_app =
                    self.abilities(&context).shows_apps.then(|| apps::tool(&snapshot.partition, name));
                let of_app = of_app.transpose()?.flatten();
                Some(of_app.ok_or_else(|| definitions::unknown_tool(&snapshot, name))?.clone())
            }
        };
        let sealed = match call.resume::<SuspendedExecution>().await? {
            Resumption::Answered(result) => return Ok(result),
            Resumption::Sealed(once, known) => Some((once, known)),
            // A server's own state is forwarded.
            Resumption::New | Resumption::Foreign => None,
        };
        let form = ToolForm::of(client_of(&context), &snapshot.config().serve);
        let has_schema = match &program {
            Some(program) => program.definition.get("outputSchema").is_some(),
            None => form.is_structured,
        };
        let id = random::id().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let scope = match (&direct, is_saving) {
            (Some(_), _) => call.direct_scope(),
            (None, true) => call.scope(),
            (None, false) => call.execution_scope(&id, self.answer_before(&context), has_schema),
        };
        let work = if let Some(direct) = direct {
            self.direct_call(direct, &scope, parameters, &context).await?
        } else if is_saving {
            match self.saving(&scope, snapshot, parameters.get("arguments"), &context) {
                Ok(saving) => saving.result().boxed(),
                Err(wrong) => return Ok(answer::failure(&wrong)),
            }
        } else {
            let sent = parameters.get("arguments");
            let arguments = match &program {
                Some(program) => Ok(program.request(&message::arguments(&context.extensions, sent)?)),
                None => Arguments::read(sent.cloned().unwrap_or_else(|| json!({}))),
            };
            let arguments = match arguments {
                Ok(arguments) => arguments,
                Err(wrong) => return Ok(answer::failure(&wrong.for_model())),
            };
            if let Some(execution) = &arguments.execution {
                return call.await_execution(execution, has_schema).await;
            }
            let mut given = None;
            if let Some((once, sealed)) = sealed {
                given = Some(execute::given(sealed, &arguments, call.responses.as_ref(), &self.session)?);
                self.state.held.spend(once).await?;
            }
            let execution = ClientExecution {
                given,
                program,
                ..self.execution(id, &call, &scope, snapshot, arguments, &context)
            };
            execution.result().boxed()
        };
        call.drive(scope, work).await
    }
}
