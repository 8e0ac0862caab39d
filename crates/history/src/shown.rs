//! The texts of executions and their parts.

use runner::size;
use serde_json::Value;

use crate::record::Summary;

/// Names the requester of an execution.
#[must_use]
pub fn from(summary: &Summary) -> String {
    let version = summary.client_version.as_deref().unwrap_or_default();
    let client = summary.client.as_ref().map(|client| format!("{client} {version}").trim_end().to_owned());
    let transport = match summary.transport.as_str() {
        "command" => "run",
        other => other,
    };
    let parts = [client, Some(transport.to_owned()), summary.subject.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A part of an outcome: a text, or a value; with a note if a part of it is missing.
#[must_use]
pub fn kept(part: &Value) -> String {
    if let Some(message) = part["message"].as_str() {
        return message.to_owned();
    }
    let value = &part["value"];
    let text = match (value, part["text"].as_str()) {
        (Value::Null, Some(text)) => text.to_owned(),
        (Value::Null, None) if part["bytes"].is_null() => return String::new(),
        (Value::String(text), _) => text.clone(),
        (value, _) => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    if part["cut"] == true {
        let bytes = part["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
        return format!("{text}\n[cut: it has {}]", size(bytes));
    }
    text
}

/// A duration with three digits at least: 1.23 ms, 45.6 ms, 1.20 s, 3.4 min.
#[must_use]
pub fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms if ms < 6e4 => format!("{:.2} s", ms / 1e3),
        ms if ms < 3.6e6 => format!("{:.1} min", ms / 6e4),
        ms => format!("{:.1} h", ms / 3.6e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_readable_unit() {
        let shown = [0.0, 1.234, 45.67, 456.7, 1_234.0, 90_000.0, 7_200_000.0].map(duration);
        assert_eq!(shown, ["0.00 ms", "1.23 ms", "45.7 ms", "457 ms", "1.23 s", "1.5 min", "2.0 h"]);
    }
}
