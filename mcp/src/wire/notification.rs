//! What a server says without being asked, made small before anything else sees it: notifications are cut in length,
//! requests that are too long are refused.

use std::borrow::Cow;

use queue::shortened;
use rmcp::model::ServerJsonRpcMessage;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// The longest notification that is taken in as it is, in bytes (64 KiB). Of a longer one the text is cut.
pub const MAX_NOTIFICATION_BYTES: usize = 64 * 1024;

/// The longest request of a server, in bytes (1 MiB): room for a question to a model with a picture. A longer one is
/// refused.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// How much of the text of a notification is kept that is too long, in bytes (16 KiB).
const KEPT_TEXT_BYTES: usize = 16 * 1024;

/// How much is kept of names: of loggers, levels, tokens, addresses.
const KEPT_NAME_BYTES: usize = 256;

/// The longest id of a request that is answered.
const MAX_ID_BYTES: usize = 256;

/// The method that a request has from here on whose own text was too long: nobody knows it, and so it is refused.
pub(crate) const REFUSED_METHOD: &str = "toolsmith/too-large";

/// A notification as far as it is needed here. Nothing of it is copied.
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

/// A notification that is too long, cut; `None` for one of which nothing is left to be told.
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

/// A request that is too long, as one that is refused; `None` where it can't even be answered.
pub(super) fn refused(id: &RawValue) -> Option<ServerJsonRpcMessage> {
    if id.get().len() > MAX_ID_BYTES {
        return None;
    }
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": REFUSED_METHOD, "params": {} })).ok()
}

/// A text, or the JSON of another value as a text, as far as it is kept.
fn long(raw: &RawValue) -> Value {
    Value::from(text_of(raw, KEPT_TEXT_BYTES))
}

/// A short value as it is, and a longer one as its beginning.
fn short(raw: &RawValue) -> Value {
    Value::from(text_of(raw, KEPT_NAME_BYTES))
}

/// The beginning of a text; of another value, of its JSON. No more of it is decoded than is kept.
fn text_of(raw: &RawValue, limit: usize) -> String {
    let raw = raw.get();
    let Some(inner) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return shortened(raw, limit).into_owned();
    };
    if inner.len() <= limit {
        return serde_json::from_str(raw).unwrap_or_else(|_| inner.to_owned());
    }
    let end = inner.floor_char_boundary(limit);
    // A cut may fall into an escape, of which a surrogate pair is the longest: twelve characters.
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
    fn a_log_message_is_cut_at_a_character_and_says_so() {
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
    fn data_that_is_no_text_becomes_the_beginning_of_its_json() {
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
    fn a_request_that_is_too_long_is_refused_by_its_id() {
        let id = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let refused_one = serde_json::to_value(refused(&id("\"a\"")).unwrap()).unwrap();
        assert_eq!((&refused_one["id"], &refused_one["method"]), (&json!("a"), &json!(REFUSED_METHOD)));
        assert!(refused(&id(&format!("\"{}\"", "x".repeat(1 << 20)))).is_none());
    }
}
