//! Failures that the structured content explains.

use serde_json::{Value, value::RawValue};

/// Maximum length of an explanation, in bytes.
const MAX_BYTES: usize = 2_000;

/// Members that explain a failure, the most specific first.
const REASONS: [&str; 9] =
    ["message", "detail", "error_description", "error", "errors", "reason", "msg", "description", "title"];

/// The texts to show with a failure whose text blocks say `text`: the reason in the structured content if there is no
/// text, and the structured content itself if it says more, such as an address to visit.
pub(super) fn explained(text: &str, structured: &RawValue) -> Vec<String> {
    let Ok(value) = serde_json::from_str(structured.get()) else { return vec![cut(structured.get())] };
    let reason = if text.trim().is_empty() { reason(&value) } else { None };
    let known = reason.as_deref().unwrap_or(text);
    let rest = Some(structured.get()).filter(|_| !is_covered(known, &value));
    reason.as_deref().into_iter().chain(rest).map(cut).collect()
}

/// The text that explains a failure.
fn reason(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(values) => match &values[..] {
            [only] => reason(only),
            _ => None,
        },
        Value::Object(members) => REASONS.iter().find_map(|name| reason(members.get(*name)?)),
        _ => None,
    }
}

/// Whether a text contains each text and number of a value.
fn is_covered(text: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => text.contains(&number.to_string()),
        Value::String(part) => text.contains(part.trim()),
        Value::Array(values) => values.iter().all(|value| is_covered(text, value)),
        Value::Object(members) => members.values().all(|value| is_covered(text, value)),
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    format!("{}…", text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default())
}
