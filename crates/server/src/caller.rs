//! One request of the client in progress: sends it notifications and questions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use answer::client_profile::{ClientProfile, Person, UNKNOWN};
use parking_lot::Mutex;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, CustomNotification, CustomRequest,
    Extensions, GetExtensions as _, Implementation, NumberOrString, ProgressNotification,
    ProgressNotificationParam, ProgressToken, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, PeerRequestOptions, RequestContext};
use rmcp::{Peer, RoleServer, ServiceError};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinError;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::execution_slots::{Client, SlotLease};
use super::level::Level;
use super::page_prompt::PagePrompt;
use super::quota::{Exceeded, Quota};

/// The client's capabilities for requests of servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Abilities {
    /// Whether it shows forms to its user.
    pub elicits: bool,
    /// Whether it opens URLs for its user.
    pub elicits_by_url: bool,
    /// Whether it has a model.
    pub samples: bool,
    /// Whether its user is asked on the local page, because it shows no forms.
    pub asks_on_page: bool,
    /// Whether it shows views of tools (MCP Apps), and so keeps tools that are only for apps from its model.
    pub shows_apps: bool,
}

impl Abilities {
    /// The abilities that the client of a request declares, unless it is known to have no person who answers;
    /// `has_page` says whether a local page answers questions.
    pub(crate) fn of(context: &RequestContext<RoleServer>, has_page: bool) -> Self {
        let capabilities = serde_json::to_value(context.client_capabilities()).unwrap_or_default();
        let has_person = client_of(context).has_person != Person::Never;
        let elicitation = capabilities.get("elicitation").filter(|value| value.is_object() && has_person);
        let has = |mode: &str| elicitation.is_some_and(|modes| modes.get(mode).is_some_and(Value::is_object));
        // An empty object means forms (MCP 2025-11-25, elicitation, "Capabilities").
        let is_bare =
            elicitation.is_some_and(|modes| modes.get("form").is_none() && modes.get("url").is_none());
        let elicits = is_bare || has("form");
        Abilities {
            elicits,
            elicits_by_url: has("url"),
            samples: capabilities.get("sampling").is_some_and(Value::is_object),
            asks_on_page: has_page && !elicits,
            shows_apps: capabilities["extensions"].get(mcp::APPS).is_some_and(shows_documents),
        }
    }
}

/// Whether a client that declares these settings of MCP Apps shows documents. Without a list of types, it does.
fn shows_documents(settings: &Value) -> bool {
    settings["mimeTypes"].as_array().is_none_or(|types| types.iter().any(|kind| kind == mcp::VIEW_TYPE))
}

/// The client that sent a request.
pub(crate) fn client_of(context: &RequestContext<RoleServer>) -> &'static ClientProfile {
    client_named(context.client_info().as_ref())
}

/// The client that declares this.
pub(crate) fn client_named(client: Option<&Implementation>) -> &'static ClientProfile {
    client.map_or(&UNKNOWN, |client| ClientProfile::of(&client.name, &client.version))
}

/// A question that the response to the client's request carries (MCP 2026-07-28, multi-round-trip requests).
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) parameters: Value,
    pub(crate) answer: oneshot::Sender<Value>,
}

/// The rules for questions to one client.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// The client that is asked.
    pub(crate) client: Client,
    /// Time limit for an answer.
    pub(crate) timeout: Duration,
    /// The open questions of all clients.
    pub(crate) open: Arc<Quota>,
    /// Whether a local page answers questions of clients that show no forms.
    pub(crate) has_page: bool,
}

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// No answer in time.
    #[error("no answer within {} s, the limit for questions (serve.questionTimeout)", .0.as_secs_f64())]
    Late(Duration),
    /// Too many questions are open.
    #[error(transparent)]
    Busy(#[from] Exceeded),
    /// The client repeats its request without the answer, or not at all.
    #[error("the client has not come back with an answer")]
    Gone,
    /// The client refused to answer, or can't be reached.
    #[error("the client did not answer {method}: {source}")]
    Failed {
        /// The method of the question.
        method: &'static str,
        /// The error of the protocol library.
        source: ServiceError,
    },
    /// The task that asks was cancelled or panicked.
    #[error(transparent)]
    Interrupted(#[from] JoinError),
    /// The answer can't be represented.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// The channel by which questions reach the client.
enum QuestionChannel {
    /// By a separate request.
    Request,
    /// By the response to the request in progress.
    Answer(mpsc::Sender<Ask>),
}

/// A request of the client in progress.
pub struct Caller {
    /// The abilities of the client.
    pub abilities: Abilities,
    channel: QuestionChannel,
    route: Mutex<Route>,
    terms: Terms,
    /// The local page, if this process has one.
    page: OnceLock<PagePrompt>,
    /// The slot of the execution that asks, if it has one.
    lease: Mutex<Weak<SlotLease>>,
    /// Whether a question has timed out; then no further one is asked.
    unanswered: AtomicBool,
    /// Whether a request of the client waits for the work.
    is_attached: watch::Sender<bool>,
    /// The kind of the answer to the request, once it is decided.
    answer: OnceLock<AnswerKind>,
    /// Lets the work go on as a task, because the server that it calls does so.
    task: Notify,
    /// The last message about progress.
    message: Mutex<Option<String>>,
}

/// The kind of the answer to a request, as far as it excludes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    /// A question, with the end of the work.
    Question,
    /// A task, as which the work goes on.
    Task,
}

/// The present route to the client; a new one each time it comes back with an answer.
#[derive(Clone)]
struct Route {
    peer: Peer<RoleServer>,
    request: NumberOrString,
    progress: Option<ProgressToken>,
    /// The minimum level of log messages that the client requested.
    level: Option<Level>,
    /// The last reported progress.
    made: Option<f64>,
}

/// Minimum increase of progress: MCP requires each value to exceed the last (MCP, "Progress").
const MIN_STEP: f64 = 0.001;

impl Route {
    fn of(context: &RequestContext<RoleServer>, level: Option<Level>) -> Self {
        Route {
            peer: context.peer.clone(),
            request: context.id.clone(),
            progress: context.meta.get_progress_token(),
            level,
            made: None,
        }
    }
}

impl Caller {
    /// For a client that receives questions as requests.
    pub(crate) fn new(context: &RequestContext<RoleServer>, level: Option<Level>, terms: Terms) -> Self {
        Caller {
            abilities: Abilities::of(context, terms.has_page),
            channel: QuestionChannel::Request,
            route: Mutex::new(Route::of(context, level)),
            terms,
            page: OnceLock::new(),
            lease: Mutex::default(),
            unanswered: AtomicBool::new(false),
            is_attached: watch::Sender::new(true),
            answer: OnceLock::new(),
            task: Notify::new(),
            message: Mutex::default(),
        }
    }

    /// For a client that receives questions in responses; questions are sent to `asks`.
    pub(crate) fn asked_by_response(
        context: &RequestContext<RoleServer>,
        level: Option<Level>,
        terms: Terms,
        asks: mpsc::Sender<Ask>,
    ) -> Self {
        Caller { channel: QuestionChannel::Answer(asks), ..Caller::new(context, level, terms) }
    }

    /// The client that is asked.
    pub fn client(&self) -> &Client {
        &self.terms.client
    }

    /// Links questions to the execution that has this slot.
    pub fn set_lease(&self, lease: &Arc<SlotLease>) {
        *self.lease.lock() = Arc::downgrade(lease);
    }

    /// Sets the local page that shows and answers questions. The first one stays.
    pub(crate) fn set_page(&self, page: Option<PagePrompt>) {
        if let Some(page) = page {
            let _ = self.page.set(page);
        }
    }

    /// The local page that shows questions, if this process has one.
    pub(crate) fn page(&self) -> Option<&PagePrompt> {
        self.page.get()
    }

    /// Whether questions are asked by the response to the request.
    pub(crate) fn is_asked_by_response(&self) -> bool {
        matches!(self.channel, QuestionChannel::Answer(_))
    }

    /// The client has sent another request for the same work.
    pub(crate) fn continue_with(&self, context: &RequestContext<RoleServer>, level: Option<Level>) {
        *self.route.lock() = Route::of(context, level);
        self.is_attached.send_replace(true);
    }

    /// The request was answered, and the work goes on. Until the client comes back, questions wait and no progress is
    /// reported (MCP, "Progress": notifications stop after completion).
    pub(crate) fn detach(&self) {
        self.is_attached.send_replace(false);
    }

    /// Decides that the answer is a question that ends the work; `false` if the work is a task.
    pub(crate) fn answers_with_question(&self) -> bool {
        *self.answer.get_or_init(|| AnswerKind::Question) == AnswerKind::Question
    }

    /// Decides that the answer is a task; `false` if it is a question.
    pub(crate) fn answers_with_task(&self) -> bool {
        *self.answer.get_or_init(|| AnswerKind::Task) == AnswerKind::Task
    }

    /// Lets the work go on as a task, if its client knows tasks.
    pub(crate) fn request_task(&self) {
        self.task.notify_one();
    }

    /// Returns when the work should go on as a task.
    pub(crate) async fn task_requested(&self) {
        self.task.notified().await;
    }

    /// The last message about progress.
    pub(crate) fn last_message(&self) -> Option<String> {
        self.message.lock().clone()
    }

    fn route(&self) -> Route {
        self.route.lock().clone()
    }

    /// Whether the client requested progress notifications.
    pub fn wants_progress(&self) -> bool {
        self.route().progress.is_some()
    }

    /// The minimum level of log messages that the client requested.
    pub(crate) fn level(&self) -> Option<Level> {
        self.route().level
    }

    /// Whether the client requested log messages of this level.
    pub fn wants(&self, level: Level) -> bool {
        self.route().level.is_some_and(|minimum| level >= minimum)
    }

    /// Asks the client and waits for the answer, within the time limit. The execution gives up its slot while it waits.
    ///
    /// # Errors
    /// If there is no answer. After one timeout, no further question is asked: an execution must not wait again and
    /// again.
    pub async fn ask(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        let bytes = parameters.to_string().len();
        self.wait(bytes, self.put(method, parameters)).await
    }

    /// Waits for an answer on the local page, under the same limits. The question has this size.
    ///
    /// # Errors
    /// As for [`Caller::ask`].
    pub(crate) async fn ask_on_page<T>(
        &self,
        bytes: usize,
        asking: impl Future<Output = T>,
    ) -> Result<T, Unanswered> {
        self.progress(0.0, None, Some("waiting for an answer on Toolsmith's page".to_owned())).await;
        let timeout = self.terms.timeout;
        let asking = tokio::time::timeout(timeout, asking);
        self.wait(bytes, async { asking.await.map_err(|_| Unanswered::Late(timeout)) }).await
    }

    async fn wait<T>(
        &self,
        bytes: usize,
        asking: impl Future<Output = Result<T, Unanswered>>,
    ) -> Result<T, Unanswered> {
        if self.unanswered.load(Ordering::Relaxed) {
            return Err(Unanswered::Late(self.terms.timeout));
        }
        let _open = self.terms.open.reserve(&self.terms.client, bytes)?;
        let lease = self.lease.lock().upgrade();
        let paused = lease.map(|lease| lease.pause());
        let answer = asking.await;
        if let Err(Unanswered::Late(_)) = answer {
            self.unanswered.store(true, Ordering::Relaxed);
        }
        if let Some(paused) = paused {
            paused.resume().await;
        }
        answer
    }

    async fn put(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        match &self.channel {
            QuestionChannel::Request => self.request(method, parameters).await,
            QuestionChannel::Answer(asks) => {
                let asking = async {
                    let (answer, answered) = oneshot::channel();
                    asks.send(Ask { method, parameters, answer }).await.map_err(|_| Unanswered::Gone)?;
                    answered.await.map_err(|_| Unanswered::Gone)
                };
                let (timeout, begun) = (self.terms.timeout, Instant::now());
                match tokio::time::timeout(timeout, asking).await {
                    // The work that waits for the client ends at the same time.
                    Ok(Err(Unanswered::Gone)) if begun.elapsed() >= timeout => Err(Unanswered::Late(timeout)),
                    Ok(answer) => answer,
                    Err(_) => Err(Unanswered::Late(timeout)),
                }
            }
        }
    }

    async fn request(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        let mut question = CustomRequest::new(method, Some(parameters));
        // The limit includes the wait for the client and sending: a client that does not read does not answer either.
        let limit = Instant::now() + self.terms.timeout;
        let late = |_| Unanswered::Late(self.terms.timeout);
        let mut attached = self.is_attached.subscribe();
        // The sender lives as long as this.
        let _ = timeout_at(limit, attached.wait_for(|is_attached| *is_attached)).await.map_err(late)?;
        let Route { peer, request, .. } = self.route();
        // Over HTTP the question uses the stream of the originating request, whichever task sends it.
        question.extensions.insert(OriginatingRequestId(request));
        let sending = async move {
            let options = PeerRequestOptions::no_options();
            let sent = peer.send_request_with_option(ServerRequest::CustomRequest(question), options).await?;
            let mut withdrawal = Withdrawal { peer: peer.clone(), request: Some(sent.id.clone()) };
            let answer = sent.await_response().await;
            withdrawal.request = None;
            answer
        };
        // In a separate task: otherwise, if a server asks, the library confuses the server's request with the client's.
        let sending = AbortOnDropHandle::new(tokio::spawn(sending));
        let answer = timeout_at(limit, sending).await.map_err(late)?;
        let answer = answer?.map_err(|source| Unanswered::Failed { method, source })?;
        Ok(serde_json::to_value(answer)?)
    }

    /// Reports progress. A value that does not exceed the last one is raised to exceed it.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        if let Some(message) = &message {
            *self.message.lock() = Some(message.clone());
        }
        if !*self.is_attached.borrow() {
            return;
        }
        let route = {
            let mut route = self.route.lock();
            let step = route.made.map_or(0.0, |made| made + MIN_STEP);
            route.made = Some(if done.is_finite() { done.max(step) } else { step });
            route.clone()
        };
        let (Some(token), Some(made)) = (route.progress, route.made) else { return };
        let mut parameters = ProgressNotificationParam::new(token, made);
        parameters.total = total;
        parameters.message = message;
        let notification = ServerNotification::ProgressNotification(ProgressNotification::new(parameters));
        // The client may be gone.
        let _ = route.peer.send_notification(notification).await;
    }

    /// Logs that messages were left out because they were not read in time.
    pub(crate) async fn log_missed(&self, missed: u64) {
        if missed > 0 {
            self.log(Level::Warning, "toolsmith", json!(left_out(missed))).await;
        }
    }

    /// Sends a log message if the client requested its level.
    pub async fn log(&self, level: Level, logger: &str, data: Value) {
        if self.wants(level) {
            send_log(&self.route().peer, level, logger, data).await;
        }
    }
}

/// The note for messages that were not read in time.
pub(crate) fn left_out(missed: u64) -> String {
    format!("left out {} here: not read in time", report::count(missed, "message"))
}

/// Time limit for sending the withdrawal of a question.
const WITHDRAWAL_TIME: Duration = Duration::from_secs(10);

/// A question without an answer. Dropping it sends the client a cancellation.
struct Withdrawal {
    peer: Peer<RoleServer>,
    request: Option<NumberOrString>,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let (Some(request), Ok(runtime)) = (self.request.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let parameters = CancelledNotificationParam::new(Some(request), Some(WITHDRAWN.to_owned()));
            let cancelled = ServerNotification::CancelledNotification(CancelledNotification::new(parameters));
            let _ = tokio::time::timeout(WITHDRAWAL_TIME, peer.send_notification(cancelled)).await;
        });
    }
}

/// The reason in the cancellation of a question.
const WITHDRAWN: &str = "the answer is no longer needed";

/// Sends a log message to a client.
pub(crate) async fn send_log(peer: &Peer<RoleServer>, level: Level, logger: &str, data: Value) {
    let parameters = json!({ "level": level.name(), "logger": logger, "data": data });
    notify(peer, "notifications/message", parameters).await;
}

/// Sends a notification to a client by its method.
pub(crate) async fn notify(peer: &Peer<RoleServer>, method: &str, parameters: Value) {
    let notification = CustomNotification::new(method, Some(parameters));
    let _ = peer.send_notification(ServerNotification::CustomNotification(notification)).await;
}

/// Converts a typed request to an untyped one, so that members unknown to the library's types are not lost.
pub(crate) fn untyped(request: ClientRequest, meta: &Value) -> ClientRequest {
    if let ClientRequest::CustomRequest(mut request) = request {
        with_meta(&mut request.params, meta);
        return ClientRequest::CustomRequest(request);
    }
    let method = request.method().to_owned();
    let extensions: Extensions = request.extensions().clone();
    let mut parameters = serde_json::to_value(&request)
        .ok()
        .and_then(|mut request| request.get_mut("params").map(Value::take).filter(Value::is_object));
    with_meta(&mut parameters, meta);
    let mut request = CustomRequest::new(method, parameters);
    request.extensions = extensions;
    ClientRequest::CustomRequest(request)
}

/// Restores `_meta`, which the library separates from the parameters.
pub(crate) fn with_meta(parameters: &mut Option<Value>, meta: &Value) {
    if meta.as_object().is_none_or(serde_json::Map::is_empty) {
        return;
    }
    if let Value::Object(parameters) = parameters.get_or_insert_with(|| json!({})) {
        parameters.insert("_meta".to_owned(), meta.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::PipeClient;

    #[tokio::test]
    async fn a_client_without_a_person_is_not_asked_whatever_it_declares() {
        let client = PipeClient::connect();
        for (name, elicits) in [("test client", true), ("goose-cli", false)] {
            assert_eq!(Abilities::of(&client.request_of(name, 1), false).elicits, elicits, "{name}");
        }
    }
}
