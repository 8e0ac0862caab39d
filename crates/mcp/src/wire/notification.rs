//! Limits the size of a server's notifications and requests: long notifications are cut, long requests are refused.

use std::borrow::Cow;

use queue::shortened;
use rmcp::model::ServerJsonRpcMessage;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// Maximum size of a notification that is kept unchanged, in bytes (64 KiB). The text of a larger one is cut.
pub const MAX_NOTIFICATION_BYTES: usize = 64 * 1024;

/// Maximum size of a server's request, in bytes (1 MiB): enough for a sampling request with a picture. A larger one is
/// refused.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The part of a long notification's text that is kept, in bytes (16 KiB).
const KEPT_TEXT_BYTES: usize = 16 * 1024;

/// The part of a long name that is kept, in bytes: loggers, levels, tokens, URIs.
const KEPT_NAME_BYTES: usize = 256;

/// Maximum length of a request's id, in bytes; requests with a longer one get no response.
const MAX_ID_BYTES: usize = 256;

/// The method that replaces that of a request that is too long: it is unknown, so the request is refused.
pub(crate) const REFUSED_METHOD: &str = "toolsmith/too-large";

/// The needed parts of a notification, borrowed.
#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow, default)]
    level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    logger: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    #[serde(borrow, default)]
    progress_token: Option<&'a RawValue>,
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

/// Cuts a notification that is too long; returns `None` if nothing useful remains.
pub(super) fn cut(text: &str) -> Option<ServerJsonRpcMessage> {
    let Notification { method, params } = serde_json::from_str(text).ok()?;
    let params = params?.get();
    let params = match &*method {
        "notifications/message" => {
            let Log { level, logger, data } = serde_json::from_str(params).ok()?;
            let mut cut = json!({ "level": short(level?), "data": long(data?) });
            if let Some(logger) = logger {
                cut["logger"] = short(logger);
            }
            cut
        }
        "notifications/progress" => {
            let Progress { progress_token, progress, total, message } = serde_json::from_str(params).ok()?;
            let token = progress_token.filter(|token| token.get().len() <= KEPT_NAME_BYTES)?;
            let message = message.map(long);
            json!({ "progressToken": token, "progress": progress, "total": total, "message": message })
        }
        _ => return None,
    };
    serde_json::from_value(json!({ "jsonrpc": "2.0", "method": method, "params": params })).ok()
}

/// Replaces a request that is too long by one that will be refused; returns `None` if it can't be answered.
pub(super) fn refused(id: &RawValue) -> Option<ServerJsonRpcMessage> {
    if id.get().len() > MAX_ID_BYTES {
        return None;
    }
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": REFUSED_METHOD, "params": {} })).ok()
}

/// The kept part of a long text, or of another value's JSON.
fn long(raw: &RawValue) -> Value {
    Value::from(text_of(raw, KEPT_TEXT_BYTES))
}

/// The kept part of a name.
fn short(raw: &RawValue) -> Value {
    Value::from(text_of(raw, KEPT_NAME_BYTES))
}

/// The beginning of a text, or of another value's JSON. Only the kept part is decoded.
fn text_of(raw: &RawValue, limit: usize) -> String {
    let raw = raw.get();
    let Some(inner) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return shortened(raw, limit).into_owned();
    };
    if inner.len() <= limit {
        return serde_json::from_str(raw).unwrap_or_else(|_| inner.to_owned());
    }
    let end = inner.floor_char_boundary(limit);
    // A cut may fall into an escape; the longest is a surrogate pair, with twelve characters.
    let beginnings = (0..=12).filter_map(|back| inner.get(..end.checked_sub(back)?));
    let mut decoded = beginnings.filter_map(|beginning| {
        let text: String = serde_json::from_str(&format!("\"{beginning}\"")).ok()?;
        Some(format!("{text}… [{} bytes are left out]", inner.len() - beginning.len()))
    });
    decoded.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(message: &Value) -> Option<Value> {
        cut(&message.to_string()).map(|message| serde_json::to_value(message).unwrap())
    }

    #[test]
    fn a_log_message_is_cut_at_a_character_with_a_note() {
        for letter in ["x", "ä", "\n", "\u{1f600}", "\""] {
            let data = letter.repeat(4 << 20);
            let message = json!({
                "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "error", "logger": "db", "data": data }
            });
            let cut = cut_to(&message).unwrap();
            assert_eq!(cut["params"]["level"], "error");
            assert_eq!(cut["params"]["logger"], "db");
            let text = cut["params"]["data"].as_str().unwrap();
            assert!(text.len() < KEPT_TEXT_BYTES + 64 && text.ends_with(" bytes are left out]"), "{text}");
            assert!(text.starts_with(&letter.repeat(1_000)));
        }
    }

    #[test]
    fn other_data_becomes_the_beginning_of_its_json() {
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": vec![7; 1 << 20] }
        });
        let cut = cut_to(&message).unwrap();
        assert!(cut["params"]["data"].as_str().unwrap().starts_with("[7,7,7"));
    }

    #[test]
    fn progress_keeps_its_numbers_and_other_notifications_are_left_out() {
        let message = |method: &str| {
            json!({
                "jsonrpc": "2.0", "method": method,
                "params": { "progressToken": 7, "progress": 0.5, "message": "x".repeat(1 << 20) }
            })
        };
        let cut = cut_to(&message("notifications/progress")).unwrap();
        assert_eq!((&cut["params"]["progressToken"], &cut["params"]["progress"]), (&json!(7), &json!(0.5)));
        assert!(cut["params"]["message"].as_str().unwrap().len() < KEPT_TEXT_BYTES + 64);
        assert_eq!(cut_to(&message("notifications/unknown")), None);
    }

    #[test]
    fn a_request_that_is_too_long_is_refused_with_its_id() {
        let id = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let refused_one = serde_json::to_value(refused(&id("\"a\"")).unwrap()).unwrap();
        assert_eq!((&refused_one["id"], &refused_one["method"]), (&json!("a"), &json!(REFUSED_METHOD)));
        assert!(refused(&id(&format!("\"{}\"", "x".repeat(1 << 20)))).is_none());
    }
}
