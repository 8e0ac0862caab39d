//! Requests that a server is too busy for: when they are sent again.
//!
//! Only those that change nothing, and only where the server says when (`Retry-After`, RFC 9110, section 10.2.3). What a
//! proxy answers in place of a server does not tell whether a call was carried out, so calls are never among them.

use std::time::Duration;

use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};

/// How often a request is sent again.
const MAX_RETRIES: usize = 2;

/// The longest wait that is worth it, within the time that requests have (10 s).
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The requests that change nothing, beside those that begin a session.
const HARMLESS: [&str; 7] = [
    "ping",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// How long to wait before a message is sent again that was refused so; `retries` is how often it was already.
pub(super) fn wait(message: &ClientJsonRpcMessage, refusal: &Response, retries: usize) -> Option<Duration> {
    let is_busy = refusal.status() == StatusCode::TOO_MANY_REQUESTS || refusal.status().is_server_error();
    if !is_busy || retries >= MAX_RETRIES || !is_harmless(message) {
        return None;
    }
    // A date stands for a longer wait than this.
    let seconds = refusal.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|wait| *wait <= LONGEST_WAIT)
}

fn is_harmless(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => true,
        ClientRequest::CustomRequest(request) => HARMLESS.contains(&request.method.as_str()),
        _ => false,
    }
}
