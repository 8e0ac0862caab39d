//! The protocol's endpoint: accepts complete and timely requests, and refuses others with a reason.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use identity::{Access, Identity, Refusal, SingleToken};
use rmcp::ServerHandler;
use rmcp::model::{ProtocolVersion, RequestId};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use system::event_loop::poll_off_loop;
use system::random;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::accept::Accepted;
use super::body::{self, BodyError, busy, holding};
use super::body_budget::{BODY_LIMIT, BodyBudget};
use super::challenge;
use super::cors;
use super::head;
use super::holder::Holder;
use super::numbers;
use super::sessions::{Sessions, is_primed};
use super::table::{ADMITTED, Entry, TooMany};
use crate::caller::Abilities;
use crate::execution_slots::share;
use crate::json_size::MessageSizes;
use crate::message::{self, RejectedMessage};
use crate::resource::Resource;
use crate::scrape;
use crate::session::{ClientSession, ClientTransport};
use crate::state::ServerState;

/// After how many seconds a request that a stopping server refused may be sent again, to another one.
const RETRY_STOPPED: &str = "10";

/// The error code of this server (JSON-RPC 2.0, section 5.1).
const SERVER_ERROR: i32 = -32_000;

/// The header with the id of a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// The id in place of that of another subject's session, so that the answer is that for an unknown session. Ids are
/// random, so no session has it.
const NO_SESSION: HeaderValue = HeaderValue::from_static("00000000-0000-0000-0000-000000000000");

/// The method whose requests stay open indefinitely.
const ENDLESS: &str = "subscriptions/listen";

/// The endpoint.
pub(super) struct Endpoint<Handler> {
    pub(super) state: Arc<ServerState>,
    pub(super) sessions: Arc<Sessions>,
    /// Responses that are not complete yet.
    pub(super) answers: TaskTracker,
    /// The bytes of requests whose answer has not begun.
    bodies: BodyBudget,
    access: Access,
    address: SocketAddr,
    service: StreamableHttpService<Handler, Sessions>,
}

/// The members of a message that are read before it is accepted.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

impl<Handler: ServerHandler> Endpoint<Handler> {
    /// Creates the endpoint at this address; `service` handles each client, and `end` ends all streams and sessions.
    pub(super) fn new(
        state: Arc<ServerState>,
        service: impl Fn(Arc<ClientSession>) -> Handler + Send + Sync + 'static,
        (address, token): (SocketAddr, Option<SingleToken>),
        end: CancellationToken,
    ) -> Arc<Self> {
        let mut config =
            StreamableHttpServerConfig::default().enforce_origin_validation().with_cancellation_token(end);
        config.max_request_body_bytes = BODY_LIMIT;
        let make = {
            let state = state.clone();
            move || {
                let (id, subject) = (random::id()?, identity::current());
                Ok(service(ClientSession::of_subject(id, ClientTransport::Http, subject, state.clone())))
            }
        };
        let sessions = Arc::new(Sessions::new(state.settings.clone(), state.metrics.http_sessions.clone()));
        let service = StreamableHttpService::new(make, sessions.clone(), config);
        let answers = TaskTracker::new();
        answers.close();
        let access =
            Access::new(address, token, &state.settings.borrow().config.serve, state.terminal.notifier());
        let bodies = BodyBudget::default();
        Arc::new(Endpoint { state, sessions, answers, bodies, access, address, service })
    }

    /// The protocol's service, for the currently configured hosts and origins. With `primes`, streams that are not
    /// about one request start with an event that says how to resume them.
    fn service(&self, primes: bool) -> StreamableHttpService<Handler, Sessions> {
        let mut service = self.service.clone();
        if !primes {
            service.config.sse_retry = None;
        }
        service.config.allowed_hosts = self.hosts();
        service.config.allowed_origins.clone_from(&self.state.settings.borrow().config.serve.origins);
        // Pages of this address have the same origin.
        service.config.allowed_origins.push(format!("http://{}", self.address));
        if self.address.ip().is_loopback() {
            service.config.allowed_origins.push(format!("http://localhost:{}", self.address.port()));
        }
        service
    }

    /// The names of this server: loopback addresses, its own address, and the configured ones.
    pub(super) fn hosts(&self) -> Vec<String> {
        // The unspecified address is not a name.
        let own = (!self.address.ip().is_unspecified()).then(|| match self.address.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let configured = self.state.settings.borrow().config.serve.hosts.clone();
        self.service.config.allowed_hosts.iter().cloned().chain(own).chain(configured).collect()
    }

    /// Passes a request to the protocol's service.
    async fn pass(&self, request: Request) -> Response {
        let session = request.headers().get(SESSION).and_then(|session| session.to_str().ok());
        let primes = session.is_some_and(|session| self.sessions.primes(session));
        self.handle(request, primes).await
    }

    async fn handle(&self, mut request: Request, primes: bool) -> Response {
        let accepted = Accepted::of(request.headers());
        let method = request.method().clone();
        accepted.name(&method, request.headers_mut());
        let sizes = request.extensions().get::<MessageSizes>().cloned().unwrap_or_default();
        let response = self.service(primes).handle(request).await.map(Body::new);
        accepted.form(body::written(response, sizes).map(numbers::restored)).await
    }

    /// Answers a request with sufficient access; refuses others.
    async fn answer(&self, mut request: Request) -> Response {
        let settings = self.state.settings.borrow().clone();
        let serve = &settings.config.serve;
        let identity = match self.access.identify(request.headers(), serve).await {
            Ok(identity) => identity,
            Err(refusal) => return challenge::response(&refusal, serve),
        };
        if let Some(identity) = &identity {
            self.state.tokens.keep(identity, request.headers(), &settings.config);
        }
        // Nothing behind this point can pass a client's token on.
        request.headers_mut().remove(header::AUTHORIZATION);
        let subject = identity.as_ref().map(|identity| identity.subject.clone());
        let session = request.headers().get(SESSION).and_then(|session| session.to_str().ok());
        if session.is_some_and(|session| self.sessions.is_of_another(session, subject.as_ref())) {
            request.headers_mut().insert(SESSION, NO_SESSION);
        }
        if let Some(identity) = identity {
            request.extensions_mut().insert(identity);
        }
        identity::on_behalf_of(subject, self.admitted(request)).await
    }

    async fn admitted(&self, request: Request) -> Response {
        let admitted = request.extensions().get::<Arc<Entry>>().map(Entry::admit);
        match admitted.transpose() {
            Ok(connection) => holding(self.accepted(request).await, connection),
            Err(too_many) => {
                self.state.metrics.refusals.count(Resource::Connections);
                let of_whom = match too_many {
                    TooMany::InAll => format!("the limit of {ADMITTED} connections"),
                    TooMany::OfHolder => {
                        format!("the limit of {} connections of one client", share(ADMITTED))
                    }
                };
                busy(&format!("{of_whom} is reached"))
            }
        }
    }

    async fn accepted(&self, request: Request) -> Response {
        if request.method() == Method::POST {
            return self.post(request).await;
        }
        // A client may still resume a lost stream to read its end.
        let resumes = request.headers().contains_key("last-event-id");
        if request.method() == Method::GET && self.state.draining.is_cancelled() && !resumes {
            let retry = [(header::RETRY_AFTER, RETRY_STOPPED)];
            return (StatusCode::SERVICE_UNAVAILABLE, retry, "toolsmith is stopping\n").into_response();
        }
        let ends_session = request.method() == Method::DELETE;
        let mut answer = self.pass(request).await;
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            // The deletion is complete (RFC 9110, section 9.3.5), and some clients accept only this status.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    async fn post(&self, request: Request) -> Response {
        let (mut head, body) = request.into_parts();
        let origin = head.extensions.get::<Arc<Entry>>().and_then(|entry| entry.origin());
        let mut held = origin.map(|origin| self.bodies.begin(Holder::current(origin)));
        let body = match body::read(body, held.as_mut()).await {
            Ok(body) => body,
            Err(error) => {
                if matches!(error, BodyError::NoRoom) {
                    self.state.metrics.refusals.count(Resource::RequestBytes);
                }
                return error.into_response();
            }
        };
        head.extensions.insert(MessageSizes::of_body(body.len()));
        poll_off_loop(body.len(), self.message(head, body)).await
    }

    /// Answers a message that has arrived.
    async fn message(&self, mut head: Parts, body: Bytes) -> Response {
        match body::checked(&body) {
            Ok(Some(sent)) => drop(head.extensions.insert(sent)),
            Ok(None) => {}
            Err(refusal) => return refused(refusal),
        }
        let is_json = is_json(&head.headers);
        // Invalid messages are answered below.
        let message = serde_json::from_slice::<Message<'_>>(&body).ok();
        let request = message.and_then(|message| Some((message.id?, message.method?, message.params)));
        let Some((id, method, parameters)) = request else {
            let answer = self.pass(Request::from_parts(head, Body::from(body.clone()))).await;
            return if is_json { or_unreadable(answer, &body) } else { answer };
        };
        if method == ENDLESS && !Accepted::of(&head.headers).takes_events() {
            return (StatusCode::NOT_ACCEPTABLE, "its answer is an event stream; accept text/event-stream\n")
                .into_response();
        }
        if self.state.draining.is_cancelled() && !continues(parameters) {
            return unavailable(&id, "toolsmith is stopping and accepts no new requests");
        }
        if let Some(refusal) = self.refuse_if_full(&head, &method, &body).await {
            return refusal;
        }
        if method == "tools/call"
            && let Some(refusal) = self.lacking_scope(&head, parameters)
        {
            return challenge::response(&refusal, &self.state.settings.borrow().config.serve);
        }
        let session = head.headers.get(SESSION).and_then(|session| session.to_str().ok());
        let request_id = RequestId::deserialize(&id).ok();
        let open = session.zip(request_id).map(|(session, id)| self.sessions.begin_request(session, id));
        if open.as_ref().is_some_and(Option::is_none) {
            return refused(RejectedMessage::with_id_in_use(&id));
        }
        let token = (method != ENDLESS).then(|| self.answers.token());
        // The response contains the negotiated version; a newer one than the server knows becomes its newest.
        let primes = method == "initialize" && version_of(parameters).as_ref().is_some_and(is_primed);
        let answer = self.handle(Request::from_parts(head, Body::from(body.clone())), primes).await;
        let answer = if is_json { or_unreadable(answer, &body) } else { answer };
        if method == "initialize"
            && answer.status() == StatusCode::INTERNAL_SERVER_ERROR
            && let Some(message) = self.no_session()
        {
            self.state.metrics.refusals.count(Resource::Sessions);
            return unavailable(&id, &message);
        }
        holding(answer, (token, open))
    }
}

impl<Handler: ServerHandler> Endpoint<Handler> {
    /// Returns the reason why no further session can be opened, if there is one.
    fn no_session(&self) -> Option<String> {
        let advice = "end one, or try again later";
        if let Some(limit) = self.sessions.full_for(identity::current().as_ref()) {
            return Some(format!(
                "the limit of {limit} sessions of one subject (three quarters of serve.maxSessions) is reached; {advice}"
            ));
        }
        let limit = self.sessions.full()?;
        Some(format!("the limit of {limit} sessions (serve.maxSessions) is reached; {advice}"))
    }

    /// The refusal of a call of a direct tool that needs another scope, so that the client can request it (MCP
    /// 2025-11-25, "Authorization", "Scope Challenge Handling").
    fn lacking_scope(&self, head: &Parts, parameters: Option<&RawValue>) -> Option<Refusal> {
        #[derive(Deserialize)]
        struct Parameters {
            name: String,
        }
        let identity = head.extensions.get::<Arc<Identity>>()?;
        let settings = self.state.settings.borrow().clone();
        let serve = &settings.config.serve;
        let tools = identity.access(serve).ok()??;
        let Parameters { name } = serde_json::from_str(parameters?.get()).ok()?;
        let offered = self.state.live(Abilities::default()).now();
        let tool = offered.partition.find(&name)?;
        if config::permits(&tools, &tool.server, &tool.tool) {
            return None;
        }
        let scope = serve.auth.as_ref()?.scope_for(&tool.server, &tool.tool)?;
        identity.subject.issuer().map(|_| Refusal::Scopes(vec![scope.to_owned()]))
    }
}

/// Answers a request, unless its head is refused.
pub(super) async fn unless_refused<Handler: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<Handler>>>,
    request: Request,
    next: Next,
) -> Response {
    head::answer(request, |host| head::is_among(host, &endpoint.hosts()), next).await
}

/// Answers a request to the endpoint.
pub(super) async fn answer<Handler: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<Handler>>>,
    request: Request,
) -> Response {
    let page = request.headers().get(header::ORIGIN).cloned();
    let Some(page) = page else { return endpoint.answer(request).await };
    let is_preflight = request.method() == Method::OPTIONS;
    // Browsers send preflight requests without the token.
    let mut answer = if is_preflight { endpoint.pass(request).await } else { endpoint.answer(request).await };
    if answer.status() == StatusCode::FORBIDDEN {
        return answer;
    }
    if is_preflight {
        answer = cors::permission();
    }
    cors::admit(answer, page)
}

/// Answers a scrape of the metrics, if they are served here.
pub(super) async fn metrics<Handler: ServerHandler>(
    State(endpoint): State<Arc<Endpoint<Handler>>>,
    request: Request,
) -> Response {
    let settings = endpoint.state.settings.borrow().clone();
    let serve = &settings.config.serve;
    // They have a listener of their own, or none.
    if serve.metrics.as_ref().is_none_or(|metrics| metrics.address.is_some()) {
        return StatusCode::NOT_FOUND.into_response();
    }
    match endpoint.access.identify(request.headers(), serve).await {
        Ok(_) => scrape::answer(&endpoint.state),
        Err(refusal) => challenge::response(&refusal, serve),
    }
}

/// Whether a request continues an earlier one (MCP 2026-07-28, multi-round-trip requests).
fn continues(parameters: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parameters {
        #[serde(default)]
        request_state: Option<serde::de::IgnoredAny>,
    }
    let parameters =
        parameters.and_then(|parameters| serde_json::from_str::<Parameters>(parameters.get()).ok());
    parameters.is_some_and(|parameters| parameters.request_state.is_some())
}

/// The version that a handshake requests.
fn version_of(parameters: Option<&RawValue>) -> Option<ProtocolVersion> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parameters {
        protocol_version: ProtocolVersion,
    }
    serde_json::from_str::<Parameters>(parameters?.get()).ok().map(|parameters| parameters.protocol_version)
}

/// Whether a request declares its body as JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(header::CONTENT_TYPE).and_then(|named| named.to_str().ok()).unwrap_or_default();
    named.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Replaces the service's response to an unreadable message. The service answers 415 in plain text, which is about the
/// header. The transport requires 400, and JSON-RPC an error with the request's id.
fn or_unreadable(answer: Response, body: &[u8]) -> Response {
    if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return answer;
    }
    refused(message::unreadable(&String::from_utf8_lossy(body)).0)
}

fn refused(refusal: RejectedMessage) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, json, refusal.into_answer()).into_response()
}

/// The response to a request that can't be accepted now.
fn unavailable(id: &Value, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": SERVER_ERROR, "message": message } });
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::RETRY_AFTER, RETRY_STOPPED)];
    (StatusCode::SERVICE_UNAVAILABLE, headers, body.to_string()).into_response()
}
