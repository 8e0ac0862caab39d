//! Requests and their responses: deadlines, cancellation, and requests for input in between.

use std::{
    borrow::Cow,
    io,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::FutureExt;
use rmcp::{
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, CustomRequest, MetaObject,
        RequestId, RequestMetaObject,
    },
    service::{PeerRequestOptions, ServiceError},
    transport::streamable_http_client::StreamableHttpError,
};
use serde::Deserialize;
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};
use system::event_loop::off_loop;
use tokio::{runtime::Handle, time::timeout};

use super::{
    Inner, Session,
    connect::{fault_kind, http_kind, rpc_kind},
    deadline::Deadline,
    with_stray,
};
use crate::{
    call_result::{Structure, in_form},
    error::{Error, ErrorKind, Phase},
    http::HttpFailure,
    progress::ProgressSink,
    text::shown,
    wire::{Answer, MAX_REQUEST_BYTES, Outcome, RawRequest, ambiguous},
};

/// The number of times that a server may request input before its final response (`input_required`).
pub const MAX_ROUNDS: usize = 16;

/// The methods for which no user is needed where each has its own token: lists, and what keeps a connection alive.
const OF_NOBODY: [&str; 8] = [
    "logging/setLevel",
    "ping",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "skills/list",
    "tools/list",
];

/// Limit on quotes from a server, in bytes.
const QUOTED_BYTES: usize = 80;

/// A whole `CallToolResult` in MCP's form. Its `_meta` says how the server's answer differed from it
/// ([`REPAIRED_META`](crate::REPAIRED_META)).
#[derive(Debug, Clone)]
pub struct CallResult {
    raw: Box<RawValue>,
    is_error: bool,
}

impl CallResult {
    /// The result's JSON, always an object: `content`, `structuredContent`, `isError`, `_meta` and any other members.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Like [`CallResult::raw`], without a copy.
    pub fn into_raw(self) -> Box<RawValue> {
        self.raw
    }

    /// Whether the tool reports that it failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

/// Options of a call besides its arguments.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Members of the request's `_meta`: a trace context, or anything else that the server understands. The session's
    /// own members override these ([`RESERVED_META`]).
    pub meta: Map<String, Value>,
    /// Whether the tool is called as a task where the server has tasks of MCP 2025-11-25 (`execution.taskSupport`).
    pub as_task: bool,
}

impl CallOptions {
    /// Options with these members of `_meta`.
    #[must_use]
    pub fn with_meta(meta: Map<String, Value>) -> Self {
        Self { meta, as_task: false }
    }

    /// The same, for a tool that runs only as a task.
    #[must_use]
    pub fn as_task(self, as_task: bool) -> Self {
        Self { as_task, ..self }
    }
}

/// Members of `_meta` that belong to the session: the progress token, and the data that the protocol without a
/// handshake sends in each request. Callers' members with these names are not sent.
pub const RESERVED_META: [&str; 4] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

/// The members of a request's parameters, except `_meta`.
pub(super) type Parameters = Vec<(Cow<'static, str>, Box<RawValue>)>;

/// A request, with its limits and the names for errors.
pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) parameters: Parameters,
    pub(super) phase: Phase,
    /// The subject of the request and further headers, if headers repeat parts of it.
    pub(super) about: Option<(String, Vec<(String, String)>)>,
    /// Members of `_meta` besides the session's own.
    pub(super) meta: Map<String, Value>,
    pub(super) limit: Duration,
    /// Receives its progress.
    pub(super) progress: Option<ProgressSink>,
    /// Is called when the server answers with a task, which is then followed.
    pub(super) on_task: Option<TaskSink>,
}

impl Ask {
    /// The request to send, and its terms.
    fn into_parts(self) -> (Arc<RawRequest>, Terms) {
        let Ask { method, parameters, phase, about, meta, limit, progress, on_task } = self;
        let request = RawRequest::new(parameters);
        let request = match about {
            Some((name, headers)) => request.about(&name, headers),
            None => request,
        };
        (Arc::new(request), Terms { method, phase, meta, limit, progress, on_task })
    }
}

/// The terms that each round of a request has besides its parameters.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) method: &'static str,
    pub(super) phase: Phase,
    /// Members of `_meta` besides the session's own.
    meta: Map<String, Value>,
    pub(super) limit: Duration,
    pub(super) progress: Option<ProgressSink>,
    pub(super) on_task: Option<TaskSink>,
}

/// Is called when the server answers a call with a task. Must not block.
pub type TaskSink = Arc<dyn Fn() + Send + Sync>;

/// Whether a result is final.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultKind<'a> {
    #[serde(borrow, default)]
    result_type: Option<Cow<'a, str>>,
}

/// Whether a result requests input from this side.
fn requires_input(result: &RawValue) -> bool {
    let kind = serde_json::from_str::<ResultKind<'_>>(result.get());
    kind.is_ok_and(|kind| kind.result_type.as_deref() == Some("input_required"))
}

/// Whether a result of the newer protocol is not final.
pub(super) fn is_incomplete(result: &RawValue) -> bool {
    let kind = serde_json::from_str::<ResultKind<'_>>(result.get()).ok();
    kind.and_then(|kind| kind.result_type).is_some_and(|kind| kind != "complete")
}

/// A result that is not final (MCP 2026-07-28, multi-round-trip requests).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    #[serde(default)]
    input_requests: Map<String, Value>,
    #[serde(default)]
    request_state: Option<String>,
}

impl Session {
    /// Calls a tool, within the request timeout, which progress reported by the server restarts, and within
    /// [`PROGRESS_FACTOR`](crate::PROGRESS_FACTOR) times as long in total. `arguments` must be a JSON object; it is
    /// sent unchanged.
    ///
    /// On a timeout, or if the future is dropped, the server gets `notifications/cancelled`, and a late response is
    /// ignored. A call is never sent twice. A tool's own failure is not an error but a result; see
    /// [`CallResult::is_error`].
    ///
    /// A task that the server answers with is followed to its end under the same limits, where a change of its state is
    /// progress; it is cancelled by `tasks/cancel`.
    pub async fn call(&self, tool: &str, arguments: Box<RawValue>) -> Result<CallResult, Error> {
        self.call_with(tool, arguments, CallOptions::default()).await
    }

    /// Like [`Session::call`], with options.
    ///
    /// The request's id is recorded in the current span as `jsonrpc.request.id`, if the span has that field.
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Box<RawValue>,
        options: CallOptions,
    ) -> Result<CallResult, Error> {
        if !arguments.get().trim_start().starts_with('{') {
            return Err(self.fail(ErrorKind::Arguments { tool: tool.to_owned() }));
        }
        let headers = self.headers_of(tool, &arguments);
        let limit = self.inner.config.tool_timeouts.get(tool).copied();
        let limit = limit.unwrap_or(self.inner.config.request_timeout);
        let mut parameters = vec![("name".into(), self.encode(tool)?), ("arguments".into(), arguments)];
        if options.as_task {
            parameters.extend(self.task_parameter(limit)?);
        }
        let raw = self
            .ask_until_complete(Ask {
                method: "tools/call",
                parameters,
                phase: Phase::Call(tool.to_owned()),
                about: Some((tool.to_owned(), headers)),
                meta: without_reserved(options.meta),
                limit,
                progress: None,
                on_task: None,
            })
            .await?;
        let (raw, is_error) = off_loop(raw.get().len(), || in_form(raw, self.structure()));
        Ok(CallResult { raw, is_error })
    }

    /// Returns the structured content that the protocol version allows.
    pub(super) fn structure(&self) -> Structure {
        if self.is_stateless() { Structure::Any } else { Structure::Object }
    }

    /// Pings the server, and returns the response time. Servers without a handshake have no ping; they get
    /// `server/discover` instead.
    pub async fn ping(&self) -> Result<Duration, Error> {
        let method =
            if self.inner.server.protocol_version.has_initialize() { "ping" } else { "server/discover" };
        let started = Instant::now();
        self.ask(self.plain(method, Vec::new())).await?;
        Ok(started.elapsed())
    }

    /// A request without a subject, within the request timeout.
    pub(super) fn plain(&self, method: &'static str, parameters: Parameters) -> Ask {
        let phase = if method == "tools/list" { Phase::ListTools } else { Phase::Request(method) };
        let limit = self.inner.config.request_timeout;
        Ask { method, parameters, phase, about: None, meta: Map::new(), limit, progress: None, on_task: None }
    }

    /// Sends a request, and handles the server's requests for input until the result is final.
    pub(super) async fn ask_until_complete(&self, ask: Ask) -> Result<Box<RawValue>, Error> {
        let original = ask.parameters.len();
        let (mut request, terms) = ask.into_parts();
        for _ in 0..MAX_ROUNDS {
            let raw = self.exchange_or_follow(&request, terms.clone()).await?;
            // Parsed without the requested input, which may be long.
            if !off_loop(raw.get().len(), || requires_input(&raw)) {
                return Ok(raw);
            }
            let bytes = raw.get().len();
            if bytes > MAX_REQUEST_BYTES {
                let reason =
                    format!("its request for input has {bytes} bytes, over the limit of {MAX_REQUEST_BYTES}");
                return Err(self.fail(ErrorKind::Protocol { reason }));
            }
            let Ok(more) = serde_json::from_str::<InputRequired>(raw.get()) else { return Ok(raw) };
            // Only now: arguments may be long, and most requests have one round.
            let mut parameters: Parameters = request.parameters().iter().take(original).cloned().collect();
            let mut responses = Map::new();
            for (key, input) in more.input_requests {
                responses.insert(key, self.input(input).await?);
            }
            parameters.push(("inputResponses".into(), self.encode(&responses)?));
            if let Some(state) = more.request_state {
                parameters.push(("requestState".into(), self.encode(&state)?));
            }
            request = Arc::new(request.with_parameters(parameters));
        }
        let reason = format!("it asked for input more than {MAX_ROUNDS} times before it answered");
        Err(self.fail(ErrorKind::Protocol { reason }))
    }

    /// Handles one request for input.
    pub(super) async fn input(&self, mut request: Value) -> Result<Value, Error> {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let parameters = request.get_mut("params").map(Value::take).unwrap_or_default();
        let quoted = shown(&method, QUOTED_BYTES);
        match self.client().answer(&method, parameters).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(self.fail(ErrorKind::Host {
                reason: format!("its request for input (`{quoted}`) was refused: {error}"),
            })),
            None => Err(self.fail(ErrorKind::Protocol {
                reason: format!("its request for input has the method `{quoted}`, which is not supported"),
            })),
        }
    }

    /// Sends one request and waits for its response.
    pub(super) async fn ask(&self, ask: Ask) -> Result<Box<RawValue>, Error> {
        let (request, terms) = ask.into_parts();
        self.exchange(&request, terms).await
    }

    /// Sends a call, and follows the task that its answer may be.
    pub(super) async fn ask_or_follow(&self, ask: Ask) -> Result<Box<RawValue>, Error> {
        let (request, terms) = ask.into_parts();
        self.exchange_or_follow(&request, terms).await
    }

    pub(super) async fn exchange(&self, raw: &Arc<RawRequest>, terms: Terms) -> Result<Box<RawValue>, Error> {
        let (method, phase, started) = (terms.method, terms.phase.clone(), Instant::now());
        self.check_subject(method)?;
        let done = self.deliver(raw, terms).await;
        self.inner.trace.done(method, done.is_ok(), started);
        match done {
            Ok(()) => {}
            Err(ServiceError::Timeout { timeout }) => return Err(self.timed_out(phase, timeout)),
            Err(error) if raw.has_no_outcome() => return Err(self.undelivered(&error, phase).await),
            Err(_) => {}
        }
        match raw.take_outcome() {
            Some(Outcome::Answer(Answer::Result(result), _)) => self.with_one_meaning(method, result),
            Some(Outcome::Answer(Answer::Error(error), _)) => Err(self.fail(rpc_kind(phase, error))),
            Some(Outcome::Failed(failure)) => Err(self.fail(http_kind(phase, failure))),
            None => Err(self.ended(phase).await),
        }
    }

    /// Refuses what needs a user whose token is exchanged, if there is none. No other user's token replaces it.
    pub(super) fn check_subject(&self, method: &str) -> Result<(), Error> {
        if !self.inner.config.lacks_subject() || OF_NOBODY.contains(&method) {
            return Ok(());
        }
        Err(self.fail(ErrorKind::NoSubject))
    }

    /// Sends a request and waits until it has an outcome.
    async fn deliver(&self, raw: &Arc<RawRequest>, terms: Terms) -> Result<(), ServiceError> {
        let Terms { method, phase, meta, limit, progress: sink, .. } = terms;
        let mut request = CustomRequest::new(method, None);
        request.extensions.insert(Arc::clone(raw));
        let deadline = Deadline::new(limit, self.client().pauses());
        let options = PeerRequestOptions::no_options().with_meta(RequestMetaObject(MetaObject(meta)));
        let sending =
            self.inner.peer.send_cancellable_request(ClientRequest::CustomRequest(request), options);
        let sending = timeout(limit, sending).await;
        let handle = sending.map_err(|_| ServiceError::Timeout { timeout: limit })??;
        if let Phase::Call(_) = &phase {
            tracing::Span::current().record("jsonrpc.request.id", tracing::field::display(&handle.id));
        }
        raw.set_progress_token(handle.progress_token.clone());
        let mut cancel = CancelOnDrop { inner: &self.inner, request: Some(handle.id.clone()) };
        let progress = self.client().progress_of(handle.progress_token.clone(), sink);
        let outcome = tokio::select! {
            biased;
            outcome = handle.await_response() => outcome.map(drop),
            () = raw.settled() => Ok(()),
            passed = deadline.passes(&progress, &self.inner.timers) => {
                return Err(ServiceError::Timeout { timeout: passed });
            }
        };
        cancel.request = None;
        outcome
    }

    /// Ensures that all readers understand the result alike: this host, a program and a client.
    fn with_one_meaning(&self, method: &str, result: Box<RawValue>) -> Result<Box<RawValue>, Error> {
        // A list of tools is checked tool by tool.
        if method != "tools/list"
            && let Err(repeated) = off_loop(result.get().len(), || strict_json::check_names(result.get()))
        {
            return Err(self.fail(ErrorKind::Protocol { reason: ambiguous(&repeated) }));
        }
        Ok(result)
    }

    pub(super) fn encode<T: serde::Serialize + ?Sized>(&self, value: &T) -> Result<Box<RawValue>, Error> {
        to_raw_value(value).map_err(|error| {
            self.fail(ErrorKind::Host { reason: format!("a request cannot be encoded: {error}") })
        })
    }

    /// The headers that repeat arguments of this call.
    pub(super) fn headers_of(&self, tool: &str, arguments: &RawValue) -> Vec<(String, String)> {
        let headers = self.inner.parameter_headers.lock();
        match headers.get(tool) {
            Some(headers) => {
                serde_json::from_str(arguments.get()).map(|value| headers.of(&value)).unwrap_or_default()
            }
            None => Vec::new(),
        }
    }

    pub(super) fn timed_out(&self, phase: Phase, limit: Duration) -> Error {
        self.fail(ErrorKind::Timeout { phase, limit, evidence: self.evidence() })
    }

    /// Returns the reason why a request got no response.
    async fn undelivered(&self, error: &ServiceError, phase: Phase) -> Error {
        if let ServiceError::TransportSend(error) = error
            && let Some(error) = error.error.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::QuotaExceeded
        {
            return self.fail(ErrorKind::Host { reason: format!("the request was not sent: {error}") });
        }
        if let ServiceError::TransportSend(error) = error
            && let Some(StreamableHttpError::<HttpFailure>::SessionExpired) = error.error.downcast_ref()
        {
            let reason = "the session has expired, and so has the new one".to_owned();
            return self.fail(ErrorKind::Http { phase, reason });
        }
        self.ended(phase).await
    }

    /// Returns the reason why no response can arrive any more.
    pub(super) async fn ended(&self, phase: Phase) -> Error {
        if let Some(fault) = self.inner.health.fault() {
            return self.fail(fault_kind(phase, fault));
        }
        if self.inner.closing.load(Ordering::Relaxed) {
            return self.fail(ErrorKind::SessionClosed { phase });
        }
        let evidence = match &self.inner.local {
            Some(local) => local.final_evidence().await,
            None => Default::default(),
        };
        self.fail(ErrorKind::Closed { phase, evidence: with_stray(evidence, &self.inner.health) })
    }
}

/// Removes the members that belong to the session.
fn without_reserved(mut meta: Map<String, Value>) -> Map<String, Value> {
    RESERVED_META.iter().for_each(|name| drop(meta.remove(*name)));
    meta
}

/// Sends a cancellation to the server when dropped.
struct CancelOnDrop<'a> {
    inner: &'a Inner,
    request: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let reason = Some("the caller no longer waits for the answer".to_owned());
        let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(request), reason));
        let peer = self.inner.peer.clone();
        let mut sending = Box::pin(async move { drop(peer.send_notification(notification.into()).await) });
        // The first poll queues the notification. Closing the session waits until it is written.
        let written = tokio::task::coop::unconstrained(&mut sending).now_or_never().is_some();
        if let (false, Ok(runtime)) = (written, Handle::try_current()) {
            let mut cancelling = self.inner.cancelling.lock();
            cancelling.retain(|task| !task.is_finished());
            cancelling.push(runtime.spawn(sending));
        }
    }
}
