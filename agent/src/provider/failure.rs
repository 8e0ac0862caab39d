//! Why an attempt failed, in words that hold neither the request nor a key, and whether another one can help.

use std::error::Error as _;
use std::time::Duration;

use genai::Error;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::retry_after::asked_for;
use crate::model::ModelErrorKind;

/// Most characters of a provider's own words.
const LONGEST_WORDS: usize = 500;

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    /// Whether the same request may succeed later.
    pub(super) passes: bool,
    /// How long the provider wants to be left alone.
    pub(super) wait: Option<Duration>,
}

impl Failure {
    pub(super) fn proxied(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), passes: true, wait: None }
    }

    pub(super) fn lasting(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), passes: false, wait: None }
    }

    pub(super) fn timeout(limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        let message = format!("there is no whole answer after {seconds} s; raise the model's timeout");
        Failure::lasting(ModelErrorKind::Timeout, message)
    }

    /// The same, with how often it was tried.
    pub(super) fn after(mut self, attempts: u32) -> Self {
        if attempts > 1 {
            self.message += &format!(" (after {attempts} attempts)");
        }
        self
    }

    /// What genai says; its own words may hold whole requests.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::HttpError { status, body, headers, .. } => Failure::status(*status, body, headers),
            Error::WebStream { error, .. } => {
                if let Some(error) = error.downcast_ref::<Error>() {
                    Failure::of(error)
                } else if let Some(error) = error.downcast_ref::<reqwest::Error>() {
                    Failure::network(error)
                } else {
                    Failure::malformed("the answer is no text")
                }
            }
            Error::ChatResponse { body, .. } => Failure::event(body),
            Error::StreamParse { .. } | Error::SerdeJson(_) | Error::JsonValueExt(_) => {
                Failure::malformed("an event of the answer is not what the API's documentation says")
            }
            _ => Failure::lasting(ModelErrorKind::Refused, "the request can't be put into the API's form"),
        }
    }

    /// An answer that is not what the API's documentation says; the next one may be.
    pub(super) fn malformed(what: &str) -> Self {
        Failure::proxied(ModelErrorKind::Malformed, what)
    }

    fn status(status: StatusCode, body: &str, headers: &HeaderMap) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
        let said = format!("the provider answers {}: {}", status.as_u16(), message(&body));
        let mut failure = match status.as_u16() {
            401 | 403 => Failure::lasting(
                ModelErrorKind::Unauthorized,
                format!("{said}; check the key and what it may be used for"),
            ),
            404 => Failure::lasting(
                ModelErrorKind::Refused,
                format!("{said}; check the model's id, type and base_url"),
            ),
            429 => Failure::proxied(ModelErrorKind::RateLimited, said),
            408 | 500..=599 => Failure::proxied(ModelErrorKind::Provider, said),
            300..=399 => Failure::lasting(
                ModelErrorKind::Refused,
                format!(
                    "the provider answers {}, a redirect, which is not followed; check base_url",
                    status.as_u16()
                ),
            ),
            _ => Failure::lasting(ModelErrorKind::Refused, said),
        };
        failure.wait = asked_for(headers);
        let says_no = headers.get("x-should-retry").is_some_and(|value| value.as_bytes() == b"false");
        // Nothing that comes back by waiting.
        let paid_up = matches!(named(&body).as_slice(), names if names.contains(&"insufficient_quota"));
        failure.passes &= !says_no && !paid_up;
        failure
    }

    /// An event that says that the answer fails.
    pub(super) fn event(body: &Value) -> Self {
        let said = format!("the provider broke off its answer: {}", message(body));
        let number = body.pointer("/error/code").or_else(|| body.get("code")).and_then(Value::as_u64);
        if let Some(status) = number.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok()) {
            return Failure { message: said, ..Failure::status(status, "", &HeaderMap::new()) };
        }
        let names = named(body).join(" ").to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| names.contains(word));
        if has(&["authentication", "permission", "api_key"]) {
            Failure::lasting(ModelErrorKind::Unauthorized, said)
        } else if has(&["insufficient_quota", "billing"]) {
            Failure::lasting(ModelErrorKind::RateLimited, said)
        } else if has(&["rate_limit", "resource_exhausted"]) {
            Failure::proxied(ModelErrorKind::RateLimited, said)
        } else if has(&["invalid", "not_found", "too_large", "context_length", "unsupported"]) {
            Failure::lasting(ModelErrorKind::Refused, said)
        } else {
            Failure::proxied(ModelErrorKind::Provider, said)
        }
    }

    /// Addresses may hold secrets, so only the innermost cause is told.
    fn network(error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let cause = words(&cause.to_string());
        if error.is_builder() {
            return Failure::lasting(ModelErrorKind::Refused, format!("the request can't be made: {cause}"));
        }
        let message = if error.is_connect() {
            format!("the provider can't be reached: {cause}; check base_url and the network")
        } else if error.is_body() || error.is_decode() {
            format!("the connection broke off within the answer: {cause}")
        } else if error.source().is_none() {
            "the request got no answer".to_owned()
        } else {
            format!("the request got no answer: {cause}")
        };
        Failure::proxied(ModelErrorKind::Network, message)
    }
}

/// The provider's own message, wherever its documentation puts it.
fn message(body: &Value) -> String {
    // Gemini wraps errors of streams into an array.
    let body = body.get(0).unwrap_or(body);
    let places = ["/error/message", "/message", "/detail", "/error"];
    let said = places.iter().find_map(|place| body.pointer(place).and_then(Value::as_str));
    match said.or(body.as_str()) {
        Some(text) if text.trim_start().starts_with('<') => "a page in HTML; check base_url".to_owned(),
        Some(text) if !text.trim().is_empty() => words(text),
        Some(_) => "no reason given".to_owned(),
        None if body.is_null() => "no reason given".to_owned(),
        None => words(&body.to_string()),
    }
}

/// By what names a provider calls its error.
fn named(body: &Value) -> Vec<&str> {
    let body = body.get(0).unwrap_or(body);
    let places = ["/error/type", "/error/code", "/error/status", "/type", "/code", "/status"];
    places.iter().filter_map(|place| body.pointer(place).and_then(Value::as_str)).collect()
}

/// A text from outside on one line, cut to what people read.
pub(super) fn words(text: &str) -> String {
    let mut words = String::new();
    for (number, letter) in text.trim().chars().enumerate() {
        if number == LONGEST_WORDS {
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
    fn an_event_says_whether_another_attempt_can_help() {
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
    fn a_quota_that_is_used_up_does_not_pass() {
        let body = r#"{"error":{"message":"no money","code":"insufficient_quota"}}"#;
        let failure = Failure::status(StatusCode::TOO_MANY_REQUESTS, body, &HeaderMap::new());
        assert_eq!((failure.kind, failure.passes), (ModelErrorKind::RateLimited, false));
        assert_eq!(failure.message, "the provider answers 429: no money");
    }

    #[test]
    fn a_page_is_not_told_and_long_words_are_cut() {
        let page = Failure::status(StatusCode::BAD_GATEWAY, "<html>…", &HeaderMap::new());
        assert_eq!(page.message, "the provider answers 502: a page in HTML; check base_url");
        assert_eq!(words(&"a".repeat(1000)).chars().count(), LONGEST_WORDS + 1);
        assert_eq!(words("a\n\u{1b}[31mb"), "a  [31mb");
    }
}
