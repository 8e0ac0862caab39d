//! Messages over HTTP: which ones begin a session, which answer, and what stands for an answer that is none.

use reqwest::StatusCode;
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{SseError, StreamableHttpPostResponse},
};

use super::HttpFailure;

/// The id of the question for the newer protocol.
pub(super) fn discover_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::DiscoverRequest(_)).then_some(&request.id)
        }
        _ => None,
    }
}

/// Whether there is no session without an answer to this. A question for the newer protocol may go unanswered.
pub(super) fn is_startup(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::InitializeRequest(_))
        }
        _ => is_initialized(message),
    }
}

/// Whether this is the end of the handshake.
pub(super) fn is_initialized(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Notification(notification) = message else { return false };
    matches!(notification.notification, ClientNotification::InitializedNotification(_))
}

pub(super) fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

/// Why a stream has ended early.
pub(super) fn broken(error: &SseError) -> HttpFailure {
    match error {
        SseError::Body(cause) => HttpFailure::Unreachable(super::chain(&**cause)),
        other => HttpFailure::Protocol(format!("its event stream is malformed: {other}")),
    }
}

pub(super) fn no_answer(status: StatusCode) -> HttpFailure {
    HttpFailure::Protocol(format!("it took the request with HTTP {} and answers nothing", status.as_u16()))
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

/// An error with the id of the request that it answers: what refuses a request often can't repeat its id.
pub(super) fn addressed(text: &str, id: &RequestId) -> String {
    let mut message: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(members) = message.as_object_mut() {
        members.insert("id".to_owned(), id.clone().into_json_value());
    }
    message.to_string()
}

/// Whether the body of an answer with HTTP 400 says that the server does not know the session. The specification wants
/// 404 (basic/transports, "Session Management"); many servers that keep sessions in memory answer 400 after a restart,
/// before they look at the request, so their error can't name its id.
pub(super) fn is_about_session(text: &str, id: &RequestId) -> bool {
    let names_request = serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|answer| answer.get("id") == Some(&id.clone().into_json_value()));
    let words = text.to_ascii_lowercase();
    !names_request && ["session", "not initialized"].iter().any(|sign| words.contains(sign))
}
