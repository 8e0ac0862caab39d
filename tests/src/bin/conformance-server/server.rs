//! The server: its introduction, and how it handles each request.

#![expect(deprecated, reason = "logging is in use for as long as there are clients that want it")]

use std::{borrow::Cow, collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ResourceUpdatedNotificationParam, ServerConfig, SetLevelRequestMethod,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    content, prompts,
    questions::{self, QuestionOutcome, Retry},
    resources,
    state::{Change, ServerState},
    tasks, tools,
};

/// The time for which a client may cache a list, in milliseconds.
const FRESH: u64 = 1000;
/// Pause between the messages of a tool that sends several.
const PAUSE: Duration = Duration::from_millis(50);
/// Time limit of the tool that waits to be cancelled.
const PATIENCE: Duration = Duration::from_secs(60);

/// One session, or one request without sessions.
pub(crate) struct Fixture {
    state: Arc<ServerState>,
    /// Whether to reject the handshake.
    stateless: bool,
    level: Mutex<Option<LoggingLevel>>,
    watched: Arc<Mutex<BTreeSet<String>>>,
    /// Receivers of changes since a client's request, until its handler takes one. A change that follows the answer
    /// at once would be lost if only the handler subscribed, which runs later.
    early: Mutex<Vec<Receiver<Change>>>,
}

impl Fixture {
    /// Creates a session, or the handler of a single request if `stateless`.
    pub(crate) fn new(state: Arc<ServerState>, stateless: bool) -> Self {
        Self { state, stateless, level: Mutex::default(), watched: Arc::default(), early: Mutex::default() }
    }

    /// Receives changes from now on, for the handler that runs after the answer.
    fn subscribe_early(&self) {
        self.early.lock().push(self.state.changes());
    }

    /// Takes a receiver of changes since a request.
    fn changes(&self) -> Receiver<Change> {
        let early = self.early.lock().pop();
        early.unwrap_or_else(|| self.state.changes())
    }

    /// Runs a tool that sends messages or changes something; `None` for other tools.
    async fn act(
        &self,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<String>, ErrorData> {
        let text = match name {
            "test_tool_with_logging" => {
                self.log(context, "Tool execution started").await;
                tokio::time::sleep(PAUSE).await;
                self.log(context, "Tool processing data").await;
                tokio::time::sleep(PAUSE).await;
                self.log(context, "Tool execution completed").await;
                "Logged three messages."
            }
            "test_logging_tool" => {
                self.log(context, "Logged on request").await;
                "Logged a message."
            }
            "test_tool_with_progress" => {
                for step in [0, 50, 100] {
                    report(context, f64::from(step)).await;
                    tokio::time::sleep(PAUSE).await;
                }
                "Reported three times."
            }
            "test_reconnection" => {
                tokio::time::sleep(PAUSE * 4).await;
                "Still here."
            }
            "test_wait" => self.wait(context).await,
            "test_trigger_tool_change" => {
                self.state.change(Change::Tools);
                "The tools have changed."
            }
            "test_trigger_prompt_change" => {
                self.state.change(Change::Prompts);
                "The prompts have changed."
            }
            "test_trigger_resource_change" => {
                self.state.change(Change::Resources);
                "The list of resources has changed."
            }
            "test_trigger_resource_update" => {
                self.state.change(Change::Resource(resources::WATCHED.to_owned()));
                "The watched resource has changed."
            }
            "test_missing_capability" => {
                if context.client_capabilities().is_none_or(|able| able.sampling.is_none()) {
                    let needed = parsed(json!({ "sampling": {} }))?;
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                "The client can sample."
            }
            _ => return Ok(None),
        };
        Ok(Some(text.to_owned()))
    }

    /// Waits until it is cancelled.
    async fn wait(&self, context: &RequestContext<RoleServer>) -> &'static str {
        report(context, 1.0).await;
        tokio::select! {
            () = context.ct.cancelled() => {
                self.state.count_cancelled();
                "Cancelled."
            }
            () = tokio::time::sleep(PATIENCE) => "It was not cancelled.",
        }
    }

    /// Logs at the level `info`, if the client enabled it.
    async fn log(&self, context: &RequestContext<RoleServer>, text: &str) {
        let level = if is_stateless(context) {
            context.meta.log_level()
        } else {
            Some(self.level.lock().unwrap_or(LoggingLevel::Info))
        };
        if level.is_some_and(|level| level as u8 <= LoggingLevel::Info as u8) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
            // The client may be gone.
            let _ = context.peer.notify_logging_message(message.with_logger("conformance-server")).await;
        }
    }
}

/// Reports progress out of a hundred, if the client requested it.
async fn report(context: &RequestContext<RoleServer>, progress: f64) {
    if let Some(token) = context.meta.get_progress_token() {
        let report = ProgressNotificationParam::new(token, progress).with_total(100.0);
        let report = report.with_message(format!("{progress} of 100"));
        let _ = context.peer.notify_progress(report).await;
    }
}

/// Whether a request is stateless.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Parses a protocol type from JSON.
pub(crate) fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Like [`parsed`], for a complete result.
pub(crate) fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    parsed(value)
}

/// Notifies one session of every change, until it ends.
async fn notify_changes(
    mut changes: Receiver<Change>,
    watched: Arc<Mutex<BTreeSet<String>>>,
    peer: Peer<RoleServer>,
) {
    loop {
        let context_text = match changes.recv().await {
            Ok(Change::Tools) => peer.notify_tool_list_changed().await,
            Ok(Change::Prompts) => peer.notify_prompt_list_changed().await,
            Ok(Change::Resources) => peer.notify_resource_list_changed().await,
            Ok(Change::Resource(uri)) => {
                if !watched.lock().contains(&uri) {
                    continue;
                }
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Err(RecvError::Lagged(_)) => Ok(()),
            Err(RecvError::Closed) => return,
        };
        if context_text.is_err() {
            return;
        }
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let info = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "logging": {},
                "completions": {},
                "prompts": { "listChanged": true },
                "resources": { "subscribe": true, "listChanged": true },
                "tools": { "listChanged": true },
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
            "serverInfo": {
                "name": "conformance-server",
                "title": "Conformance server",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": "Call what the scenario says.",
        });
        parsed(info).unwrap_or_default()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        if self.stateless {
            Cow::Owned(vec![ProtocolVersion::V_2026_07_28])
        } else {
            Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.stateless {
            let known = self.supported_protocol_versions();
            return Err(ErrorData::unsupported_protocol_version(request.protocol_version, &known));
        }
        self.subscribe_early();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(notify_changes(self.changes(), self.watched.clone(), context.peer));
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock() = Some(request.level);
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = resources::completions(&request.argument.name, &request.argument.value);
        complete(json!({ "completion": { "total": values.len(), "hasMore": false, "values": values } }))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.state.tasks().get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks().update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks().cancel_task(&request.task_id)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ListToolsResult::with_all_items(parsed(tools::list(self.state.tool_changes()))?);
        Ok(tools.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: Vec<Tool> = parsed(tools::list(self.state.tool_changes())).ok()?;
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if self.get_tool(name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {name}"), None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = if let Some(result) = tools::answer(name, &arguments) {
            result
        } else if let Some(text) = self.act(name, &context).await? {
            json!({ "content": [content::text(&text)] })
        } else if name != tasks::ASKS_FIRST
            && let Some(response) =
                tasks::answer(self.state.tasks(), name, &arguments, &Map::new(), &context).await?
        {
            return Ok(response);
        } else {
            let retry = Retry { responses: request.input_responses, state: request.request_state };
            match questions::ask(name, &arguments, retry, &context).await? {
                Some(QuestionOutcome::Open(open)) => return Ok(open.into()),
                Some(QuestionOutcome::Answered(answers)) if name == tasks::ASKS_FIRST => {
                    let manager = self.state.tasks();
                    let response = tasks::answer(manager, name, &arguments, &answers, &context).await?;
                    return response.ok_or_else(|| ErrorData::internal_error("it is no task", None));
                }
                Some(QuestionOutcome::Answered(answers)) => {
                    json!({ "content": [content::text(&questions::says(name, &answers))] })
                }
                None => return Err(ErrorData::internal_error(format!("{name} does nothing"), None)),
            }
        };
        complete(result).map(CallToolResponse::Complete)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = prompts::list(self.state.has_extra_prompt());
        let prompts = ListPromptsResult::with_all_items(parsed(prompts)?);
        Ok(prompts.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let retry = Retry { responses: request.input_responses, state: request.request_state };
        let answers = match questions::ask(&request.name, &arguments, retry, &context).await? {
            Some(QuestionOutcome::Open(open)) => return Ok(open.into()),
            Some(QuestionOutcome::Answered(answers)) => answers,
            None => Map::new(),
        };
        let context_text = answers.get("user_context").map(|answer| answer["content"]["context"].to_string());
        let messages = prompts::messages(&request.name, &arguments, &context_text.unwrap_or_default());
        let messages = messages
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no prompt {}", request.name), None))?;
        complete(json!({ "messages": messages })).map(GetPromptResponse::Complete)
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = ListResourcesResult::with_all_items(parsed(resources::list())?);
        Ok(resources.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = ListResourceTemplatesResult::with_all_items(parsed(resources::templates())?);
        Ok(templates.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(contents) = resources::read(&request.uri, &self.state) else {
            let (message, data) = ("Resource not found", Some(json!({ "uri": request.uri })));
            return Err(if is_stateless(&context) {
                ErrorData::invalid_params(message, data)
            } else {
                ErrorData::resource_not_found(message, data)
            });
        };
        let result = json!({ "contents": [contents], "ttlMs": 0, "cacheScope": "private" });
        complete(result).map(ReadResourceResponse::Complete)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.lock().insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.lock().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.subscribe_early();
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink rejects changes that this client did not subscribe to.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Ok(Change::Resources) => context.sink().notify_resource_list_changed().await,
                Ok(Change::Resource(uri)) => context.sink().notify_resource_updated(uri).await,
                Err(RecvError::Lagged(_)) => Ok(()),
                Err(RecvError::Closed) => return Ok(()),
            };
        }
    }
}
