//! Streamable HTTP: sends the library's requests and accepts the responses.
//!
//! The library drives the session: its id, its streams and their resumption, the protocol version. Here each message
//! becomes an HTTP request, and each response is read within the limits and kept raw where it must stay raw.

mod interface;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{SseError, StreamableHttpError, StreamableHttpPostResponse},
};
use sse_stream::Sse;
use system::event_loop::off_loop;

use super::{
    EXCERPT_BYTES, HttpFailure, MAX_ERROR_BYTES, Sender,
    discovery::Discovery,
    events,
    failure::Failed,
    headers::{SESSION, is_type, protocol_headers, text_header},
    listening::{Opening, Openings, OwnStream},
    messages::{
        Reply, Waiting, addressed, broken, discover_id, error_answer, is_about_session, is_answer,
        is_endpoint, json_rpc_error, no_answer,
    },
    one_by_one, read_bounded, read_in_turn, retry,
};
use crate::{
    text::shown,
    wire::{Fault, ResponseRouter, batch, encode, raw_of},
};

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Sends to one server. Clones share all state.
#[derive(Clone)]
pub(crate) struct HttpClient(Arc<Inner>);

struct Inner {
    sender: Sender,
    router: ResponseRouter,
    openings: Openings,
    own_stream: OwnStream,
    discovery: Discovery,
    /// Whether a reaction of the server is one of a server that uses HTTP with server-sent events.
    may_be_sse: AtomicBool,
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl HttpClient {
    /// `patience` is the time limit for the server's response to `server/discover`, after which the server counts as
    /// one that supports only the older protocol; `None` sets no limit besides the connection's.
    pub(crate) fn new(
        sender: Sender,
        router: ResponseRouter,
        request_timeout: Duration,
        patience: Option<Duration>,
    ) -> Self {
        Self(Arc::new(Inner {
            sender,
            router,
            openings: Openings::default(),
            own_stream: OwnStream::new(request_timeout),
            discovery: Discovery::new(patience),
            may_be_sse: AtomicBool::new(false),
        }))
    }

    /// Whether the server may use HTTP with server-sent events instead (MCP, basic/transports, "Backwards
    /// Compatibility").
    pub(crate) fn may_be_sse(&self) -> bool {
        self.0.may_be_sse.load(Ordering::Relaxed)
    }

    /// Whether the server did not respond to `server/discover` in time.
    pub(crate) fn left_discovery_unanswered(&self) -> bool {
        self.0.discovery.went_unanswered()
    }

    /// Reports to whatever waits for the response that none will come.
    fn fail(&self, waiting: &Waiting, failure: HttpFailure) {
        match waiting {
            Waiting::Request(request) => request.fail(failure),
            Waiting::Session => self.0.router.health().set_fault(Fault::Http(failure)),
            Waiting::Nothing => {}
        }
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        limit: Option<Duration>,
    ) -> Result<Response, HttpFailure> {
        let Sender { http, .. } = &self.0.sender;
        let url = self.0.sender.url();
        let make = |mut configured: HeaderMap| {
            configured.extend(headers.clone());
            let request = http.request(method.clone(), url.clone()).headers(configured);
            match &body {
                Some(body) => request.body(body.clone()),
                None => request,
            }
        };
        self.0.sender.send_within(limit, make).await
    }

    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let response = self.send_message(message, session, &headers, None).await?;
        self.answered(message, session.is_some(), response).await
    }

    /// Sends a message, and retries if the server is too busy and the message may be repeated. `limit` is for the
    /// response's head.
    async fn send_message(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: &Headers,
        limit: Option<Duration>,
    ) -> Result<Response, HttpFailure> {
        let mut retries = 0;
        loop {
            let response = self.send_once(message, session, headers.clone(), limit).await?;
            let Some(wait) = retry::wait(message, &response, retries) else { return Ok(response) };
            retries += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn send_once(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
        limit: Option<Duration>,
    ) -> Result<Response, HttpFailure> {
        let body = encode(message).map_err(|error| HttpFailure::Protocol(error.to_string()))?;
        let mut headers = protocol_headers(headers, session, raw_of(message));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        if raw_of(message).is_some() {
            self.0.own_stream.wait(session).await;
        }
        self.0.router.note_sent(message);
        self.0.router.track(message);
        self.0.router.trace().sent(&body);
        self.send(Method::POST, headers, Some(body), limit).await
    }

    /// Requests the newer protocol. Any other reaction of the server, including silence, means that it may support the
    /// older protocol.
    async fn discover(
        &self,
        message: &ClientJsonRpcMessage,
        id: &RequestId,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let discovery = &self.0.discovery;
        let asking = async {
            let response = self.send_message(message, None, &headers, discovery.patience()).await?;
            discovery.answer(self.answered(message, false, response)).await
        };
        match asking.await {
            Ok(answer) => Ok(answer),
            Err(StreamableHttpError::Client(failure)) if failure.is_an_answer() => {
                discovery.note(&failure);
                let error = ErrorData::invalid_request(failure.to_string(), None);
                Ok(error_answer(error, id))
            }
            Err(error) => Err(error),
        }
    }

    /// Handles the response to a message.
    async fn answered(
        &self,
        message: &ClientJsonRpcMessage,
        in_session: bool,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let status = response.status();
        let new_session = text_header(&response, &SESSION);
        let is_request = matches!(message, JsonRpcMessage::Request(_));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return match is_request {
                // Some servers respond on the session's own stream.
                true if !in_session => Err(no_answer(status).into()),
                _ => Ok(StreamableHttpPostResponse::Accepted),
            };
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.refused(message, in_session, response).await;
        }
        let content_type = text_header(&response, &CONTENT_TYPE).unwrap_or_default();
        if is_type(&content_type, EVENTS) {
            let stream = self.accept_stream(self.events(response), None, Reply::to(message));
            return Ok(StreamableHttpPostResponse::Sse(stream, new_session));
        }
        if !is_request {
            // Any other response to a notification is ignored.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_type(&content_type, JSON) {
            let content_type = shown(&content_type, EXCERPT_BYTES);
            let body = super::excerpt(response).await;
            return Err(HttpFailure::ContentType { content_type, body }.into());
        }
        let (body, _large) = read_in_turn(response, self.0.router.room()).await?;
        let (text, is_batch) = off_loop(body.len(), || {
            let text = String::from_utf8(body)
                .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned());
            let is_batch = batch(&text).is_some();
            (text, is_batch)
        });
        if is_batch {
            let messages = one_by_one(Sse::default().data(text));
            let messages = futures::stream::iter(messages.into_iter().map(Ok)).boxed();
            let stream = self.accept_stream(messages, None, Reply::to(message));
            return Ok(StreamableHttpPostResponse::Sse(stream, new_session));
        }
        let begin = text.trim_start();
        let begin = begin.get(..begin.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or_default().to_owned();
        let reply = Reply::to(message);
        let accepted = self.accept(text, reply.request.as_ref())?;
        let answer = accepted.filter(is_answer).ok_or_else(|| {
            let excerpt = shown(begin.trim(), EXCERPT_BYTES);
            HttpFailure::Protocol(format!("its answer is not a JSON-RPC response to the request: {excerpt}"))
        })?;
        Ok(StreamableHttpPostResponse::Json(answer, new_session))
    }

    /// Handles a response with an error status.
    async fn refused(
        &self,
        message: &ClientJsonRpcMessage,
        in_session: bool,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let status = response.status();
        if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
            self.0.may_be_sse.store(true, Ordering::Relaxed);
        }
        let body = read_bounded(response, MAX_ERROR_BYTES).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&body);
        let text = self.0.router.legible(text);
        let failure =
            || HttpFailure::Status { status: status.as_u16(), body: shown(text.trim(), EXCERPT_BYTES) };
        let JsonRpcMessage::Request(request) = message else { return Err(failure().into()) };
        if in_session
            && status == StatusCode::BAD_REQUEST
            && is_about_session(&text, &request.id)
            && raw_of(message).is_some_and(|raw| raw.may_go_to_new_session())
        {
            return Err(StreamableHttpError::SessionExpired);
        }
        let error = json_rpc_error(&text);
        if discover_id(message).is_some()
            && !in_session
            && let Some(error) = error
        {
            // The library decides by the code whether this rejects the newer protocol.
            return Ok(error_answer(error, &request.id));
        }
        match error {
            // A JSON-RPC error in the body is reported as such.
            Some(_) => match self.accept(addressed(&text, &request.id), None)? {
                Some(message) => Ok(StreamableHttpPostResponse::Json(message, None)),
                None => Err(failure().into()),
            },
            None => Err(failure().into()),
        }
    }

    fn events(&self, response: Response) -> Events {
        events(response, Arc::clone(self.0.router.room()))
    }

    fn accept(
        &self,
        text: String,
        request: Option<&RequestId>,
    ) -> Result<Option<ServerJsonRpcMessage>, Failed> {
        self.0.router.accept_reply(text, request).map_err(|fault| {
            let failure = HttpFailure::Protocol(fault.to_string());
            self.0.router.health().set_fault(fault);
            failure.into()
        })
    }

    /// A stream whose messages are accepted: raw responses are kept, and the library sees that they have arrived.
    ///
    /// Notifies the party that waits for the reply at once if the stream ends and can't be resumed.
    fn accept_stream(&self, events: Events, last_event: Option<String>, reply: Reply) -> Events {
        let client = self.clone();
        let Reply { request, waiting } = reply;
        let mut resumable = last_event.is_some();
        let mut failed = false;
        let each = move |event: Option<Result<Sse, SseError>>| {
            if failed {
                return None;
            }
            match event {
                Some(Ok(event)) => {
                    resumable |= event.id.is_some();
                    client.0.openings.received_event(last_event.as_deref());
                    let accepted = client.check_event(&event, &waiting);
                    let accepted = accepted.and_then(|()| client.accept_event(event, request.as_ref()));
                    Some(accepted.inspect_err(|error| {
                        failed = true;
                        client.fail(&waiting, broken(error));
                    }))
                }
                Some(Err(error)) => {
                    if !resumable {
                        client.fail(&waiting, broken(&error));
                    }
                    Some(Err(error))
                }
                None => {
                    // A response that has already arrived is kept.
                    if let (false, Waiting::Request(_)) = (resumable, &waiting) {
                        let reason = "it ended its answer before the result".to_owned();
                        client.fail(&waiting, HttpFailure::Protocol(reason));
                    }
                    None
                }
            }
        };
        let ended = futures::stream::once(async { None });
        events.map(Some).chain(ended).scan(each, |each, event| std::future::ready(each(event))).boxed()
    }

    /// Fails if a stream that should have the response to the handshake is that of HTTP with server-sent events.
    fn check_event(&self, event: &Sse, waiting: &Waiting) -> Result<(), SseError> {
        if !is_endpoint(event) || !matches!(waiting, Waiting::Session) {
            return Ok(());
        }
        self.0.may_be_sse.store(true, Ordering::Relaxed);
        Err(SseError::Body(Box::new(HttpFailure::Protocol(
            "it answers with the event `endpoint` of HTTP with server-sent events; if it uses that transport, configure \
             `type: sse`"
                .to_owned(),
        ))))
    }

    fn accept_event(&self, mut event: Sse, request: Option<&RequestId>) -> Result<Sse, SseError> {
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        if let (true, Some(data)) = (is_message, event.data.take()) {
            let message = self.0.router.accept_reply(data, request).map_err(|fault| {
                let error = SseError::Body(Box::new(HttpFailure::Protocol(fault.to_string())));
                self.0.router.health().set_fault(fault);
                error
            })?;
            event.data = message.and_then(|message| serde_json::to_string(&message).ok());
        }
        Ok(event)
    }

    async fn listen(
        &self,
        session: Option<&str>,
        last_event: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        match self.0.openings.note(last_event.as_deref()) {
            Opening::GiveUp => return Err(StreamableHttpError::ServerDoesNotSupportSse),
            Opening::After(wait) => tokio::time::sleep(wait).await,
        }
        let mut headers = protocol_headers(headers, session, None);
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        if let Some(event) =
            last_event.as_deref().and_then(|event| HeaderValue::from_bytes(event.as_bytes()).ok())
        {
            headers.insert(LAST_EVENT, event);
        }
        let response = self.send(Method::GET, headers, None, None).await;
        if last_event.is_none() {
            self.0.own_stream.settle(session);
        }
        let response = response?;
        let content_type = text_header(&response, &CONTENT_TYPE).unwrap_or_default();
        // A server that offers no stream responds with 405 (basic/transports); some servers use other statuses.
        if response.status().is_client_error()
            || (response.status().is_success() && !is_type(&content_type, EVENTS))
        {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(HttpFailure::Status { status, body: super::excerpt(response).await }.into());
        }
        Ok(self.accept_stream(self.events(response), last_event, Reply::default()))
    }
}
