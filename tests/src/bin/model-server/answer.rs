//! Sends answers as the script specifies: streamed or whole, delayed, or broken.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::record::Pending;
use crate::request::{Api, ModelRequest};
use crate::script::{Answer, Fault, Stop};
use crate::{anthropic, chat, gemini, responses};

/// An event of a stream.
pub(crate) struct Event {
    /// Its name, if the API names events.
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn new(data: &Value) -> Self {
        Event { name: None, data: data.to_string() }
    }

    /// An event named after its `type`.
    pub(crate) fn typed(data: &Value) -> Self {
        Event { name: data["type"].as_str().map(str::to_owned), data: data.to_string() }
    }

    fn written(&self) -> String {
        match &self.name {
            Some(name) => format!("event: {name}\ndata: {}\n\n", self.data),
            None => format!("data: {}\n\n", self.data),
        }
    }
}

/// Answers a request as the script says.
pub(crate) async fn send(request: &ModelRequest, answer: Answer, pending: Pending) -> Response<Body> {
    sleep(Duration::from_millis(answer.delay)).await;
    if let Some(status) = answer.status {
        pending.end();
        let headers: Vec<_> =
            answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let message = answer.message.as_deref().unwrap_or("the script says so");
        return failure(Some(request.api), status, message, &headers);
    }
    let number = pending.number();
    if !request.streams {
        let body = match request.api {
            Api::Anthropic => anthropic::body(&answer, request, number),
            Api::Chat => chat::body(&answer, request, number),
            Api::Responses => responses::body(&answer, request, number),
            Api::Gemini => gemini::body(&answer, request),
        };
        pending.end();
        return built(200, "application/json", &[], Body::from(body.to_string()));
    }
    let mut events = match request.api {
        Api::Anthropic => anthropic::events(&answer, request, number),
        Api::Chat => chat::events(&answer, request, number),
        Api::Responses => responses::events(&answer, request, number),
        Api::Gemini => gemini::events(&answer, request),
    };
    let middle = events.len() / 2;
    match answer.fault {
        None => {}
        Some(Fault::Cut) => events.truncate(middle),
        Some(Fault::NoEnd) => events.truncate(events.len() - 1),
        Some(Fault::Malformed) => events[middle].data = "{\"broken".to_owned(),
        Some(Fault::Error) => {
            events.truncate(middle);
            let message = answer.message.as_deref().unwrap_or("the script says so");
            events.push(event_of_failure(request.api, message));
        }
    }
    let mut pieces: Vec<io::Result<String>> = events.iter().map(|event| Ok(event.written())).collect();
    if answer.fault == Some(Fault::Cut) {
        // The connection also breaks within an event.
        if let Some(Ok(last)) = pieces.last_mut() {
            last.truncate(last.floor_char_boundary(last.len() / 2));
        }
        pieces.push(Err(io::Error::other("cut")));
    }
    let pause = Duration::from_millis(answer.pause);
    let state = (pieces.into_iter(), Some(pending));
    let body = stream::unfold(state, move |(mut pieces, mut pending)| async move {
        let piece = pieces.next();
        // End the request with the last piece: it shows clients that nothing follows.
        if pieces.len() == 0
            && let Some(pending) = pending.take()
        {
            pending.end();
        }
        sleep(pause).await;
        Some((piece?, (pieces, pending)))
    });
    built(200, "text/event-stream", &[], Body::from_stream(body))
}

/// A failure in the API's format.
pub(crate) fn failure(
    api: Option<Api>,
    status: u16,
    message: &str,
    headers: &[(&str, &str)],
) -> Response<Body> {
    let body = match api {
        Some(Api::Anthropic) => {
            let kind = match status {
                400 => "invalid_request_error",
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                _ => "api_error",
            };
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        Some(Api::Gemini) => {
            let name = match status {
                400 => "INVALID_ARGUMENT",
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({ "error": { "code": status, "message": message, "status": name } })
        }
        _ => {
            let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
        }
    };
    built(status, "application/json", headers, Body::from(body.to_string()))
}

/// A failure in the middle of a stream.
fn event_of_failure(api: Api, message: &str) -> Event {
    match api {
        Api::Anthropic => Event::typed(&json!({
            "type": "error",
            "error": { "type": "overloaded_error", "message": message },
        })),
        Api::Responses => Event::typed(&json!({
            "type": "error",
            "code": "server_error",
            "message": message,
            "param": null,
            "sequence_number": 9,
        })),
        Api::Chat => Event::new(&json!({
            "error": { "message": message, "type": "server_error", "param": null, "code": null },
        })),
        Api::Gemini => Event::new(&json!({
            "error": { "code": 503, "message": message, "status": "UNAVAILABLE" },
        })),
    }
}

fn built(status: u16, kind: &str, headers: &[(&str, &str)], body: Body) -> Response<Body> {
    let mut response = Response::builder().status(status).header("content-type", kind);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body).unwrap_or_else(|error| {
        eprintln!("model-server: {error}");
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

/// Splits a text into pieces, as models stream it.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(3).max(1);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// The signature of a thought, which no longer matches if the thought changes.
pub(crate) fn signed(thought: &str) -> String {
    STANDARD.encode(format!("signed: {thought}"))
}

/// The stop reason of an answer.
pub(crate) fn stop(answer: &Answer, names: [&'static str; 4]) -> &'static str {
    let [end, calls, length, refusal] = names;
    match answer.stop {
        Some(Stop::Length) => length,
        Some(Stop::Refusal) => refusal,
        None if answer.calls.is_empty() => end,
        None => calls,
    }
}
