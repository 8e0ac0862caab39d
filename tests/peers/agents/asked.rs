//! Reads call results from an agent's requests to a model, in the wire formats of OpenAI and Google.

use serde_json::Value;

/// The results of a tool's calls, each with the content next to it (pictures, in formats where results cannot hold
/// them).
pub(super) fn results(requests: &[Value], tool: &str) -> Vec<String> {
    let mut bodies = requests
        .iter()
        .map(|request| &request["body"])
        .filter(|body| body["tools"].to_string().contains(tool));
    // The last request repeats everything before it.
    let Some(body) = bodies.next_back() else { return Vec::new() };
    let items = ["input", "messages", "contents"].iter().find_map(|member| body[member].as_array());
    let mut results: Vec<String> = Vec::new();
    let mut is_open = false;
    for item in items.into_iter().flatten() {
        if is_result(item) {
            results.push(String::new());
            is_open = true;
        } else if item["role"] != "user" {
            is_open = false;
        }
        if let Some(result) = results.last_mut().filter(|_| is_open) {
            texts(item, result);
        }
    }
    results
}

fn is_result(item: &Value) -> bool {
    let has_response = |parts: &Vec<Value>| parts.iter().any(|part| part.get("functionResponse").is_some());
    item["type"] == "function_call_output"
        || item["role"] == "tool"
        || item["parts"].as_array().is_some_and(has_response)
}

/// Collects all strings of a value, one per line, without JSON escapes.
fn texts(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(members) => members.values().for_each(|member| texts(member, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
