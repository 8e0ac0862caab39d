//! Classifies messages over HTTP: startup, responses, and errors that stand for a missing response.

use std::sync::Arc;

use reqwest::StatusCode;
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{SseError, StreamableHttpPostResponse},
};
use sse_stream::Sse;

use super::HttpFailure;
use crate::wire::{RawRequest, raw_of};

/// The id of a `server/discover` request.
pub(super) fn discover_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::DiscoverRequest(_)).then_some(&request.id)
        }
        _ => None,
    }
}

/// Whether a session cannot start without a response to this. `server/discover` may go without one.
pub(super) fn is_startup(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::InitializeRequest(_))
        }
        _ => is_initialized(message),
    }
}

/// Whether this notification completes the handshake.
pub(super) fn is_initialized(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Notification(notification) = message else { return false };
    matches!(notification.notification, ClientNotification::InitializedNotification(_))
}

pub(super) fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

/// Converts the error that ended a stream early.
pub(super) fn broken(error: &SseError) -> HttpFailure {
    match error {
        SseError::Body(cause) => HttpFailure::Unreachable(super::chain(&**cause)),
        other => HttpFailure::Protocol(format!("its event stream is malformed: {other}")),
    }
}

pub(super) fn no_answer(status: StatusCode) -> HttpFailure {
    HttpFailure::Protocol(format!(
        "it accepted the request with HTTP {} and sent no response",
        status.as_u16()
    ))
}

pub(super) fn error_answer(error: ErrorData, id: &RequestId) -> StreamableHttpPostResponse {
    StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id.clone())), None)
}

pub(super) fn json_rpc_error(text: &str) -> Option<ErrorData> {
    match strict_json::from_str::<ServerJsonRpcMessage>(text) {
        Ok(JsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    }
}

/// Adds the request's id to an error: a server that rejects a request often can't repeat its id.
pub(super) fn addressed(text: &str, id: &RequestId) -> String {
    let mut message: serde_json::Value =
        serde_json::from_str(strict_json::without_mark(text)).unwrap_or_default();
    if let Some(members) = message.as_object_mut() {
        members.insert("id".to_owned(), id.clone().into_json_value());
    }
    message.to_string()
}

/// Whether the body of an HTTP 400 response means that the server does not know the session. The specification requires
/// 404 (basic/transports, "Session Management"); many servers that keep sessions in memory respond with 400 after a
/// restart, before they read the request, so their error can't contain its id.
pub(super) fn is_about_session(text: &str, id: &RequestId) -> bool {
    let names_request = serde_json::from_str::<serde_json::Value>(strict_json::without_mark(text))
        .is_ok_and(|answer| answer.get("id") == Some(&id.clone().into_json_value()));
    let words = text.to_ascii_lowercase();
    !names_request && ["session", "not initialized"].iter().any(|sign| words.contains(sign))
}

/// Whether an event is the first one of HTTP with server-sent events, the transport of MCP 2024-11-05.
pub(super) fn is_endpoint(event: &Sse) -> bool {
    event.event.as_deref() == Some("endpoint")
}

/// The messages that come in reply to one that was sent.
#[derive(Default)]
pub(super) struct Reply {
    /// The request that they reply to.
    pub(super) request: Option<RequestId>,
    pub(super) waiting: Waiting,
}

impl Reply {
    pub(super) fn to(message: &ClientJsonRpcMessage) -> Self {
        let request = match message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        Self { request, waiting: Waiting::of(message) }
    }
}

/// The party that waits for a response.
#[derive(Default)]
pub(super) enum Waiting {
    Request(Arc<RawRequest>),
    /// The whole session: it cannot start without this response.
    Session,
    #[default]
    Nothing,
}

impl Waiting {
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Self {
        match raw_of(message) {
            Some(request) => Self::Request(Arc::clone(request)),
            None if is_startup(message) => Self::Session,
            None => Self::Nothing,
        }
    }
}
