//! One request of the client under way: what can be told to it meanwhile, and what it can be asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientRequest, CustomNotification,
    CustomRequest, Extensions, GetExtensions as _, NumberOrString, ProgressNotification,
    ProgressNotificationParam, ProgressToken, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, PeerRequestOptions, RequestContext};
use rmcp::{Peer, RoleServer, ServiceError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::execution_slots::{Client, SlotLease};
use super::level::Level;
use super::quota::{Exceeded, Quota};

/// What a client says that it can do for servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Abilities {
    /// Whether it puts forms to a person.
    pub elicits: bool,
    /// Whether it sends a person to addresses.
    pub elicits_by_url: bool,
    /// Whether it has a model.
    pub samples: bool,
}

impl Abilities {
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let capabilities = serde_json::to_value(capabilities).unwrap_or_default();
        let elicitation = capabilities.get("elicitation").filter(|value| value.is_object());
        let has = |mode: &str| elicitation.is_some_and(|modes| modes.get(mode).is_some_and(Value::is_object));
        // An empty object means forms (MCP 2025-11-25, elicitation, "Capabilities").
        let is_bare =
            elicitation.is_some_and(|modes| modes.get("form").is_none() && modes.get("url").is_none());
        Abilities {
            elicits: is_bare || has("form"),
            elicits_by_url: has("url"),
            samples: capabilities.get("sampling").is_some_and(Value::is_object),
        }
    }
}

/// A question to a client that is asked by the answer to its request (MCP 2026-07-28, multi-round-trip requests).
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) parameters: Value,
    pub(crate) answer: oneshot::Sender<Result<Value, String>>,
}

/// What holds for the questions to one client.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// Whose questions these are.
    pub(crate) client: Client,
    /// How long an answer may take.
    pub(crate) timeout: Duration,
    /// The open questions of all clients.
    pub(crate) open: Arc<Quota>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Nobody answered in time.
    #[error("nobody answered within {} s, which is the limit for questions (serve.questionTimeout)", .0.as_secs_f64())]
    Late(Duration),
    /// Too many questions are open.
    #[error(transparent)]
    Busy(#[from] Exceeded),
    /// The client can't be asked.
    #[error("{0}")]
    Failed(String),
}

/// How a client is asked.
enum QuestionChannel {
    /// By a request of its own.
    Request,
    /// By the answer to the request that is under way.
    Answer(mpsc::Sender<Ask>),
}

/// A request of the client under way.
pub(crate) struct Caller {
    pub(crate) abilities: Abilities,
    way: QuestionChannel,
    route: Mutex<Route>,
    terms: Terms,
    /// The place of the execution that asks, where it has one.
    place: Mutex<Weak<SlotLease>>,
    /// Nobody has answered a question in time: then no further one is put.
    unanswered: AtomicBool,
}

/// Where messages to the client go: another one each time that it comes back with an answer.
#[derive(Clone)]
struct Route {
    peer: Peer<RoleServer>,
    request: NumberOrString,
    progress: Option<ProgressToken>,
    /// The least level of log messages that it wants.
    level: Option<Level>,
    /// The progress that was told last, if any was.
    made: Option<f64>,
}

/// The least step of progress: MCP wants each to be more than the last (MCP, "Progress").
const LEAST_STEP: f64 = 0.001;

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
    /// Of a client that is asked by requests.
    pub(crate) fn new(context: &RequestContext<RoleServer>, level: Option<Level>, terms: Terms) -> Self {
        Caller {
            abilities: Abilities::of(context.client_capabilities().as_ref()),
            way: QuestionChannel::Request,
            route: Mutex::new(Route::of(context, level)),
            terms,
            place: Mutex::default(),
            unanswered: AtomicBool::new(false),
        }
    }

    /// Of a client that is asked by answers; what it is asked arrives at `asks`.
    pub(crate) fn asked_by_answers(
        context: &RequestContext<RoleServer>,
        level: Option<Level>,
        terms: Terms,
        asks: mpsc::Sender<Ask>,
    ) -> Self {
        Caller { way: QuestionChannel::Answer(asks), ..Caller::new(context, level, terms) }
    }

    /// Whose questions these are.
    pub(crate) fn client(&self) -> &Client {
        &self.terms.client
    }

    /// From now on, questions are those of the execution that has this place.
    pub(crate) fn set_place(&self, place: &Arc<SlotLease>) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(place);
    }

    /// Whether questions are asked by the answer to the request.
    pub(crate) fn is_asked_by_answers(&self) -> bool {
        matches!(self.way, QuestionChannel::Answer(_))
    }

    /// The client has come back with another request for the same work.
    pub(crate) fn comes_back(&self, context: &RequestContext<RoleServer>, level: Option<Level>) {
        *self.route.lock().unwrap_or_else(PoisonError::into_inner) = Route::of(context, level);
    }

    fn route(&self) -> Route {
        self.route.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether anybody wants to know of progress.
    pub(crate) fn wants_progress(&self) -> bool {
        self.route().progress.is_some()
    }

    /// The least level of log messages that are wanted.
    pub(crate) fn level(&self) -> Option<Level> {
        self.route().level
    }

    /// Whether log messages of a level are wanted.
    pub(crate) fn wants(&self, level: Level) -> bool {
        self.route().level.is_some_and(|least| level >= least)
    }

    /// Asks the client, and waits for the answer as long as it may take. An execution has no place meanwhile.
    ///
    /// # Errors
    /// Why there is no answer. After a question that nobody answered in time, no further one is put: an execution must
    /// not wait again and again.
    pub(crate) async fn ask(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        let late = Unanswered::Late(self.terms.timeout);
        if self.unanswered.load(Ordering::Relaxed) {
            return Err(late);
        }
        let _open = self.terms.open.reserve(&self.terms.client, parameters.to_string().len())?;
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let paused = place.map(|place| place.pause());
        let answer = self.put(method, parameters).await;
        if answer == Err(late) {
            self.unanswered.store(true, Ordering::Relaxed);
        }
        if let Some(paused) = paused {
            paused.go_on().await;
        }
        answer
    }

    async fn put(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        match &self.way {
            QuestionChannel::Request => self.request(method, parameters).await,
            QuestionChannel::Answer(asks) => {
                let asking = async {
                    let (answer, answered) = oneshot::channel();
                    let gone =
                        || Unanswered::Failed("the client has not come back with an answer".to_owned());
                    asks.send(Ask { method, parameters, answer }).await.map_err(|_| gone())?;
                    answered.await.map_err(|_| gone())?.map_err(Unanswered::Failed)
                };
                let timeout = self.terms.timeout;
                tokio::time::timeout(timeout, asking).await.unwrap_or(Err(Unanswered::Late(timeout)))
            }
        }
    }

    async fn request(&self, method: &'static str, parameters: Value) -> Result<Value, Unanswered> {
        let Route { peer, request, .. } = self.route();
        let mut asking = CustomRequest::new(method, Some(parameters));
        // Over HTTP it rides the stream of the request that it belongs to, whatever task asks.
        asking.extensions.insert(OriginatingRequestId(request));
        let asked = async move {
            let options = PeerRequestOptions::no_options();
            let sent = peer.send_request_with_option(ServerRequest::CustomRequest(asking), options).await?;
            let mut withdrawal = Withdrawal { peer: peer.clone(), request: Some(sent.id.clone()) };
            let answer = sent.await_response().await;
            withdrawal.request = None;
            answer
        };
        // In a task of its own: where a server asks, the library takes the server's request for the client's.
        let asked = AbortOnDropHandle::new(tokio::spawn(asked));
        // Sending takes part of the time: a client that does not read does not answer either.
        let timeout = self.terms.timeout;
        let answer = tokio::time::timeout(timeout, asked).await.map_err(|_| Unanswered::Late(timeout))?;
        let answer = answer.map_err(|error| Unanswered::Failed(error.to_string()))?;
        let failed =
            |error: ServiceError| Unanswered::Failed(format!("the client did not answer {method}: {error}"));
        serde_json::to_value(answer.map_err(failed)?).map_err(|error| Unanswered::Failed(error.to_string()))
    }

    /// Tells how far the work is. What is less than was told before becomes a little more.
    pub(crate) async fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let route = {
            let mut route = self.route.lock().unwrap_or_else(PoisonError::into_inner);
            let step = route.made.map_or(0.0, |made| made + LEAST_STEP);
            route.made = Some(if done.is_finite() { done.max(step) } else { step });
            route.clone()
        };
        let (Some(token), Some(made)) = (route.progress, route.made) else { return };
        let mut parameters = ProgressNotificationParam::new(token, made);
        parameters.total = total;
        parameters.message = message;
        let notification = ServerNotification::ProgressNotification(ProgressNotification::new(parameters));
        // A client that is gone wants to know nothing.
        let _ = route.peer.send_notification(notification).await;
    }

    /// Tells that messages were left out because they were not read in time.
    pub(crate) async fn log_missed(&self, missed: u64) {
        if missed > 0 {
            self.log(Level::Warning, "toolsmith", json!(left_out(missed))).await;
        }
    }

    /// Tells a log message, where its level is wanted.
    pub(crate) async fn log(&self, level: Level, logger: &str, data: Value) {
        if self.wants(level) {
            send_log(&self.route().peer, level, logger, data).await;
        }
    }
}

/// Messages that were not read in time, in words.
pub(crate) fn left_out(missed: u64) -> String {
    format!("{missed} messages are left out here: they were not read in time")
}

/// How long a client may take to read that a question is withdrawn.
const WITHDRAWAL_TIME: Duration = Duration::from_secs(10);

/// A question without an answer. Dropping it tells the client that nobody waits for the answer any more.
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

/// Why a question is withdrawn.
const WITHDRAWN: &str = "nobody waits for the answer any more";

/// Tells a client a log message.
pub(crate) async fn send_log(peer: &Peer<RoleServer>, level: Level, logger: &str, data: Value) {
    let parameters = json!({ "level": level.name(), "logger": logger, "data": data });
    notify(peer, "notifications/message", parameters).await;
}

/// Tells a client something by its method.
pub(crate) async fn notify(peer: &Peer<RoleServer>, method: &str, parameters: Value) {
    let notification = CustomNotification::new(method, Some(parameters));
    let _ = peer.send_notification(ServerNotification::CustomNotification(notification)).await;
}

/// A typed request as one of any method: what is not known to the library's types is no less known here.
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

/// The library keeps `_meta` apart from the parameters that it came with.
pub(crate) fn with_meta(parameters: &mut Option<Value>, meta: &Value) {
    if meta.as_object().is_none_or(serde_json::Map::is_empty) {
        return;
    }
    if let Value::Object(parameters) = parameters.get_or_insert_with(|| json!({})) {
        parameters.insert("_meta".to_owned(), meta.clone());
    }
}
