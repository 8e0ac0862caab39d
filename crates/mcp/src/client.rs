//! The client side as the protocol library sees it: its capabilities, and its responses to a server's requests and
//! notifications.

use std::{collections::HashMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ErrorData, Implementation, ProgressNotificationParam,
        ProgressToken, ProtocolVersion, ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RequestContext},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, watch};

use crate::{
    host::{APPS, Host, ListKind, MAX_QUESTION_BYTES, MAX_QUESTIONS, Notice, QuestionError, VIEW_TYPE},
    progress::{ProgressMade, ProgressSink},
    server_config::{ClientInfo, Root, ServerConfig},
    trace::Trace,
    wire::{MAX_REQUEST_BYTES, REFUSED_METHOD, TASKS},
};

/// The protocol version requested in the handshake.
pub(crate) const HANDSHAKE_VERSION: ProtocolVersion = ProtocolVersion::LATEST_WITH_INITIALIZE;

/// The protocol version requested without a handshake.
pub(crate) const STATELESS_VERSION: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// Responds to the server of one session.
#[derive(Clone)]
pub(crate) struct Client {
    server: String,
    roots: Vec<Root>,
    experimental: Map<String, Value>,
    info: Option<ClientInfo>,
    trace: Trace,
    host: Arc<dyn Host>,
    /// The number of questions from the server that wait for the user or a model.
    questions: watch::Sender<usize>,
    /// The number of waits of the connection itself, such as for memory.
    waits: watch::Sender<usize>,
    /// The limits on these questions.
    open: Arc<OpenQuestions>,
    /// The pending requests that track progress.
    watchers: Arc<Watchers>,
    /// The tasks that are followed, by id.
    tasks: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

/// A pending request that tracks progress.
struct Watcher {
    made: Arc<Notify>,
    sink: Option<ProgressSink>,
    host: Arc<dyn Host>,
}

/// The pending requests that track progress, by token.
#[derive(Default)]
struct Watchers(Mutex<HashMap<ProgressToken, Watcher>>);

impl Watchers {
    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, Watcher>> {
        self.0.lock()
    }
}

/// The number of open questions, and their total size in bytes.
#[derive(Debug, Default)]
struct OpenQuestions(Mutex<(usize, usize)>);

/// The share of the limits that one question takes, released when dropped.
struct QuestionRoom<'a> {
    open: &'a OpenQuestions,
    bytes: usize,
}

impl OpenQuestions {
    /// Reserves room for a question with these parameters, if the limits allow it.
    fn enter(&self, parameters: &Value) -> Option<QuestionRoom<'_>> {
        let bytes = parameters.to_string().len();
        let mut open = self.0.lock();
        if open.0 >= MAX_QUESTIONS || open.1 + bytes > MAX_QUESTION_BYTES {
            return None;
        }
        *open = (open.0 + 1, open.1 + bytes);
        Some(QuestionRoom { open: self, bytes })
    }
}

impl Drop for QuestionRoom<'_> {
    fn drop(&mut self) {
        let mut open = self.open.0.lock();
        *open = (open.0 - 1, open.1 - self.bytes);
    }
}

/// A question that waits for the user or a model. Dropping it ends it.
struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn new(questions: &'a watch::Sender<usize>) -> Self {
        questions.send_modify(|open| *open += 1);
        Self(questions)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Tracks the progress of a request until dropped.
pub(crate) struct Progress {
    watchers: Arc<Watchers>,
    token: ProgressToken,
    made: Arc<Notify>,
}

impl Progress {
    /// Returns when the server has reported progress.
    pub(crate) async fn made(&self) {
        self.made.notified().await;
    }

    /// Counts something else as a progress report by the server.
    pub(crate) fn note(&self) {
        self.made.notify_one();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.watchers.lock().remove(&self.token);
    }
}

/// The watch of a task: wakes its follower when the server announces a change. Dropping it ends the watch.
pub(crate) struct TaskWatch {
    tasks: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
    id: String,
    changed: Arc<Notify>,
}

impl TaskWatch {
    /// Returns when a change was announced.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for TaskWatch {
    fn drop(&mut self) {
        self.tasks.lock().remove(&self.id);
    }
}

impl Client {
    pub(crate) fn new(config: &ServerConfig, host: Arc<dyn Host>) -> Self {
        Self {
            server: config.name.clone(),
            roots: config.roots.clone(),
            experimental: config.experimental.0.clone(),
            info: config.client_info.clone(),
            trace: Trace::new(&config.name, config.debug),
            host,
            questions: watch::Sender::default(),
            waits: watch::Sender::default(),
            open: Arc::default(),
            watchers: Arc::default(),
            tasks: Arc::default(),
        }
    }

    /// The same client side with another host, whose questions it counts apart.
    pub(crate) fn for_host(&self, host: Arc<dyn Host>) -> Self {
        Self { host, questions: watch::Sender::default(), open: Arc::default(), ..self.clone() }
    }

    /// The counts of what pauses the deadlines of requests: questions for the user or a model, and waits.
    pub(crate) fn pauses(&self) -> [watch::Receiver<usize>; 2] {
        [self.questions.subscribe(), self.waits.subscribe()]
    }

    /// A counter to raise while requests wait for something that must not count against their deadlines.
    pub(crate) fn waits(&self) -> watch::Sender<usize> {
        self.waits.clone()
    }

    /// Tracks the progress of the request with this token.
    pub(crate) fn progress_of(&self, token: ProgressToken, sink: Option<ProgressSink>) -> Progress {
        let (made, host) = (Arc::new(Notify::new()), Arc::clone(&self.host));
        self.watchers.lock().insert(token.clone(), Watcher { made: Arc::clone(&made), sink, host });
        Progress { watchers: Arc::clone(&self.watchers), token, made }
    }

    /// Watches the announced changes of a task.
    pub(crate) fn watch_task(&self, id: &str) -> TaskWatch {
        let changed = Arc::new(Notify::new());
        self.tasks.lock().insert(id.to_owned(), Arc::clone(&changed));
        TaskWatch { tasks: Arc::clone(&self.tasks), id: id.to_owned(), changed }
    }

    /// Wakes the follower of the task with this id.
    fn task_changed(&self, id: &str) {
        if let Some(changed) = self.tasks.lock().get(id) {
            changed.notify_one();
        }
    }

    /// Passes progress on to the watcher of the request with this token, and to the host.
    pub(crate) fn progressed(&self, token: &ProgressToken, made: ProgressMade) {
        let watcher = self.watchers.lock().get(token).map(|watcher| {
            watcher.made.notify_one();
            (watcher.sink.clone(), Arc::clone(&watcher.host))
        });
        let (sink, host) = watcher.unwrap_or_else(|| (None, Arc::clone(&self.host)));
        if let Some(sink) = sink {
            sink(made.clone());
        }
        let ProgressMade { done, total, message } = made;
        host.notice(&self.server, &Notice::Progress { done, total, message });
    }

    /// Handles a server's request by its method; returns `None` for an unknown method.
    ///
    /// # Errors
    /// Returns the reason if the request is refused.
    pub(crate) async fn answer(
        &self,
        method: &str,
        parameters: Value,
    ) -> Option<Result<Value, QuestionError>> {
        let refused = |what| Some(Err(QuestionError::Undeclared(what)));
        let too_many = || Some(Err(QuestionError::TooMany));
        match method {
            "elicitation/create" => {
                let by_url = parameters.get("mode").and_then(Value::as_str) == Some("url");
                if by_url && !self.host.elicits_by_url() || !by_url && !self.host.elicits() {
                    return refused("elicitation in this mode");
                }
                let Some(_room) = self.open.enter(&parameters) else { return too_many() };
                let _open = Open::new(&self.questions);
                Some(self.host.elicit(&self.server, parameters).await)
            }
            "sampling/createMessage" if self.host.samples() => {
                let Some(_room) = self.open.enter(&parameters) else { return too_many() };
                let _open = Open::new(&self.questions);
                Some(self.host.sample(&self.server, parameters).await)
            }
            "sampling/createMessage" => refused("sampling"),
            "roots/list" if self.roots.is_empty() => refused("roots"),
            "roots/list" => {
                let root = |root: &Root| match &root.name {
                    Some(name) => json!({ "uri": root.uri, "name": name }),
                    None => json!({ "uri": root.uri }),
                };
                Some(Ok(json!({ "roots": self.roots.iter().map(root).collect::<Vec<_>>() })))
            }
            _ => None,
        }
    }

    /// The capabilities that this client declares.
    fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = json!({});
        let mut elicitation = json!({});
        if self.host.elicits() {
            elicitation["form"] = json!({});
        }
        if self.host.elicits_by_url() {
            elicitation["url"] = json!({});
        }
        if elicitation != json!({}) {
            capabilities["elicitation"] = elicitation;
        }
        if self.host.samples() {
            capabilities["sampling"] = json!({});
        }
        if !self.roots.is_empty() {
            capabilities["roots"] = json!({});
        }
        capabilities["extensions"] = json!({ TASKS: {} });
        if self.host.shows_apps() {
            capabilities["extensions"][APPS] = json!({ "mimeTypes": [VIEW_TYPE] });
        }
        if !self.experimental.is_empty() {
            capabilities["experimental"] = json!(self.experimental);
        }
        // This function built the value, so it has the right form.
        serde_json::from_value(capabilities).unwrap_or_default()
    }

    /// Like `answer`, with the library's types.
    async fn typed<P: Serialize + Send, R: DeserializeOwned>(
        &self,
        method: &str,
        parameters: P,
    ) -> Result<R, ErrorData> {
        let parameters = serde_json::to_value(parameters).unwrap_or_default();
        let refusal = |message: String| ErrorData::invalid_request(message, None);
        match self.answer(method, parameters).await {
            Some(Ok(answer)) => serde_json::from_value(answer).map_err(|error| {
                ErrorData::internal_error(format!("the answer has the wrong form: {error}"), None)
            }),
            Some(Err(error)) => Err(refusal(error.to_string())),
            None => Err(refusal(format!("{method} is not supported"))),
        }
    }

    pub(crate) fn notify(&self, notice: &Notice) {
        self.host.notice(&self.server, notice);
    }

    /// Whether the user sees what the process writes to standard error.
    pub(crate) fn shows_stderr(&self) -> bool {
        self.host.shows_stderr()
    }

    /// Logs a line that the process wrote to standard error, or reports it.
    pub(crate) fn stderr(&self, line: &str) {
        if !self.trace.wrote(line) {
            self.notify(&Notice::Stderr(line.to_owned()));
        }
    }
}

#[expect(deprecated, reason = "sampling, roots and logging are still in use")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let itself = match &self.info {
            Some(info) => Implementation::new(&info.name, &info.version),
            None => Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")).with_title("Toolsmith"),
        };
        ClientConfig::new(self.capabilities(), itself).with_protocol_version(HANDSHAKE_VERSION)
    }

    async fn create_message(
        &self,
        parameters: rmcp::model::CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        self.typed("sampling/createMessage", parameters).await
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        self.typed("roots/list", json!({})).await
    }

    async fn create_elicitation(
        &self,
        parameters: rmcp::model::ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ElicitResult, ErrorData> {
        // The library keeps `_meta` apart; the progress token in it is the library's own.
        let mut meta = serde_json::to_value(&context.meta).unwrap_or_default();
        meta.as_object_mut().map(|meta| meta.remove("progressToken"));
        let mut parameters = serde_json::to_value(parameters).unwrap_or_default();
        if meta.as_object().is_some_and(|meta| !meta.is_empty()) {
            parameters["_meta"] = meta;
        }
        self.typed("elicitation/create", parameters).await
    }

    async fn on_custom_request(
        &self,
        request: rmcp::model::CustomRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CustomResult, ErrorData> {
        if request.method == REFUSED_METHOD {
            let reason = format!("the request is longer than {MAX_REQUEST_BYTES} bytes");
            return Err(ErrorData::invalid_request(reason, None));
        }
        Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn on_progress(
        &self,
        parameters: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let ProgressNotificationParam { progress_token, progress, total, message, .. } = parameters;
        self.progressed(&progress_token, ProgressMade { done: progress, total, message });
    }

    async fn on_task_status(
        &self,
        parameters: rmcp::model::TaskStatusNotificationParams,
        _context: NotificationContext<RoleClient>,
    ) {
        self.task_changed(&parameters.task.task.task_id);
    }

    async fn on_custom_notification(
        &self,
        notification: rmcp::model::CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        // MCP 2025-11-25, "Task Status Notification".
        if notification.method == "notifications/tasks/status"
            && let Some(id) = notification.params.as_ref().and_then(|params| params["taskId"].as_str())
        {
            self.task_changed(id);
        }
    }

    async fn on_logging_message(
        &self,
        parameters: rmcp::model::LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(parameters.level).unwrap_or_default();
        let level = level.as_str().unwrap_or("info").to_owned();
        self.notify(&Notice::Log { level, logger: parameters.logger, data: parameters.data });
    }

    async fn on_resource_updated(
        &self,
        parameters: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notify(&Notice::ResourceUpdated(parameters.uri));
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notify(&Notice::ListChanged(ListKind::Resources));
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notify(&Notice::ListChanged(ListKind::Tools));
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notify(&Notice::ListChanged(ListKind::Prompts));
    }
}
