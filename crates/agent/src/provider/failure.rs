//! Describes why an attempt failed, without the request or a key, and whether a retry can help.

use std::error::Error as _;
use std::time::Duration;

use genai::Error;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::retry_after::requested_wait;
use crate::model::ModelErrorKind;

/// Maximum length of a message from a provider, in characters.
const MAX_MESSAGE: usize = 500;

/// The failure of one attempt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    /// Whether the same request may succeed later.
    pub(super) passes: bool,
    /// The wait that the provider requests.
    pub(super) wait: Option<Duration>,
}

impl Failure {
    pub(super) fn temporary(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), passes: true, wait: None }
    }

    pub(super) fn permanent(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), passes: false, wait: None }
    }

    pub(super) fn timeout(limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        let message = format!("the answer was not complete after {seconds} s; raise the model's timeout");
        Failure::permanent(ModelErrorKind::Timeout, message)
    }

    /// Adds the number of attempts.
    pub(super) fn after(mut self, attempts: u32) -> Self {
        if attempts > 1 {
            self.message += &format!(" (after {attempts} attempts)");
        }
        self
    }

    /// Converts genai's error, whose own text may contain the whole request.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::HttpError { status, body, headers, .. } => Failure::status(*status, body, headers),
            Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<Error>() {
                    Failure::of(error)
                } else if let Some(error) = error.downcast_ref::<reqwest::Error>() {
                    Failure::network(error)
                } else {
                    Failure::malformed("the answer is not text")
                }
            }
            Error::ChatResponse { body, .. } => Failure::event(body),
            Error::StreamParse { .. } | Error::SerdeJson(_) | Error::JsonValueExt(_) => {
                Failure::malformed("an event of the answer does not match the API's documentation")
            }
            _ => Failure::permanent(ModelErrorKind::Refused, "the request can't be encoded for the API"),
        }
    }

    /// A reply that does not match the API's documentation; the next one may.
    pub(super) fn malformed(what: &str) -> Self {
        Failure::temporary(ModelErrorKind::Malformed, what)
    }

    fn status(status: StatusCode, body: &str, headers: &HeaderMap) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
        let text = format!("the provider answers {}: {}", status.as_u16(), message(&body));
        let mut failure = match status.as_u16() {
            401 | 403 => Failure::permanent(
                ModelErrorKind::Unauthorized,
                format!("{text}; check the key and what it may be used for"),
            ),
            404 => Failure::permanent(
                ModelErrorKind::Refused,
                format!("{text}; check the model's id, type and base_url"),
            ),
            429 => Failure::temporary(ModelErrorKind::RateLimited, text),
            408 | 500..=599 => Failure::temporary(ModelErrorKind::Provider, text),
            300..=399 => Failure::permanent(
                ModelErrorKind::Refused,
                format!(
                    "the provider answers {}, a redirect, which is not followed; check base_url",
                    status.as_u16()
                ),
            ),
            _ => Failure::permanent(ModelErrorKind::Refused, text),
        };
        failure.wait = requested_wait(headers);
        let forbids_retry = headers.get("x-should-retry").is_some_and(|value| value.as_bytes() == b"false");
        // Waiting does not restore an exhausted quota.
        let is_exhausted = matches!(named(&body).as_slice(), names if names.contains(&"insufficient_quota"));
        failure.passes &= !forbids_retry && !is_exhausted;
        failure
    }

    /// A failure reported by an event of the stream.
    pub(super) fn event(body: &Value) -> Self {
        let text = format!("the provider aborted its answer: {}", message(body));
        let number = body.pointer("/error/code").or_else(|| body.get("code")).and_then(Value::as_u64);
        if let Some(status) = number.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok()) {
            return Failure { message: text, ..Failure::status(status, "", &HeaderMap::new()) };
        }
        let names = named(body).join(" ").to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| names.contains(word));
        if has(&["authentication", "permission", "api_key"]) {
            Failure::permanent(ModelErrorKind::Unauthorized, text)
        } else if has(&["insufficient_quota", "billing"]) {
            Failure::permanent(ModelErrorKind::RateLimited, text)
        } else if has(&["rate_limit", "resource_exhausted"]) {
            Failure::temporary(ModelErrorKind::RateLimited, text)
        } else if has(&["invalid", "not_found", "too_large", "context_length", "unsupported"]) {
            Failure::permanent(ModelErrorKind::Refused, text)
        } else {
            Failure::temporary(ModelErrorKind::Provider, text)
        }
    }

    /// URLs may contain secrets, so only the innermost cause is reported.
    fn network(error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let cause = words(&cause.to_string());
        if error.is_builder() {
            return Failure::permanent(
                ModelErrorKind::Refused,
                format!("the request can't be built: {cause}"),
            );
        }
        let message = if error.is_connect() {
            format!("the provider can't be reached: {cause}; check base_url and the network")
        } else if error.is_body() || error.is_decode() {
            format!("the connection was cut off during the answer: {cause}")
        } else if error.source().is_none() {
            "the request got no answer".to_owned()
        } else {
            format!("the request got no answer: {cause}")
        };
        Failure::temporary(ModelErrorKind::Network, message)
    }
}

/// The provider's own message, from the member that its documentation names.
fn message(body: &Value) -> String {
    // Gemini wraps stream errors in an array.
    let body = body.get(0).unwrap_or(body);
    let places = ["/error/message", "/message", "/detail", "/error"];
    let text = places.iter().find_map(|place| body.pointer(place).and_then(Value::as_str));
    match text.or(body.as_str()) {
        Some(text) if text.trim_start().starts_with('<') => "an HTML page; check base_url".to_owned(),
        Some(text) if !text.trim().is_empty() => words(text),
        Some(_) => "no reason given".to_owned(),
        None if body.is_null() => "no reason given".to_owned(),
        None => words(&body.to_string()),
    }
}

/// The names that a provider gives its error.
fn named(body: &Value) -> Vec<&str> {
    let body = body.get(0).unwrap_or(body);
    let places = ["/error/type", "/error/code", "/error/status", "/type", "/code", "/status"];
    places.iter().filter_map(|place| body.pointer(place).and_then(Value::as_str)).collect()
}

/// An external text on one line, cut to a readable length.
pub(super) fn words(text: &str) -> String {
    let mut words = String::new();
    for (number, letter) in text.trim().chars().enumerate() {
        if number == MAX_MESSAGE {
            words.push('…');
            break;
        }
        words.push(if letter.is_control() { ' ' } else { letter });
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn error_events_are_temporary_or_permanent() {
        let of = |body: Value| {
            let failure = Failure::event(&body);
            (failure.kind, failure.passes)
        };
        assert_eq!(
            of(json!({ "type": "error", "error": { "type": "overloaded_error", "message": "a" } })),
            (ModelErrorKind::Provider, true)
        );
        assert_eq!(
            of(json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "a" } })),
            (ModelErrorKind::Refused, false)
        );
        assert_eq!(
            of(json!({ "type": "server_error", "code": "rate_limit_exceeded" })),
            (ModelErrorKind::RateLimited, true)
        );
        assert_eq!(
            of(json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "a" } })),
            (ModelErrorKind::Provider, true)
        );
        assert_eq!(
            of(json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT" } })),
            (ModelErrorKind::Refused, false)
        );
    }

    #[test]
    fn an_exhausted_quota_is_permanent() {
        let body = r#"{"error":{"message":"no money","code":"insufficient_quota"}}"#;
        let failure = Failure::status(StatusCode::TOO_MANY_REQUESTS, body, &HeaderMap::new());
        assert_eq!((failure.kind, failure.passes), (ModelErrorKind::RateLimited, false));
        assert_eq!(failure.message, "the provider answers 429: no money");
    }

    #[test]
    fn pages_are_omitted_and_long_messages_are_cut() {
        let page = Failure::status(StatusCode::BAD_GATEWAY, "<html>…", &HeaderMap::new());
        assert_eq!(page.message, "the provider answers 502: an HTML page; check base_url");
        assert_eq!(words(&"a".repeat(1000)).chars().count(), MAX_MESSAGE + 1);
        assert_eq!(words("a\n\u{1b}[31mb"), "a  [31mb");
    }
}
