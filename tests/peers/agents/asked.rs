//! What an agent has sent to a model, in the wire formats of OpenAI and Google: the results of calls.

use serde_json::Value;

/// The results of the calls of a tool, each with what stands beside it (pictures, where results have no place for them).
pub(super) fn results(requests: &[Value], tool: &str) -> Vec<String> {
    let bodies = requests
        .iter()
        .map(|request| &request["body"])
        .filter(|body| body["tools"].to_string().contains(tool));
    // The last one has all that came before.
    let Some(body) = bodies.last() else { return Vec::new() };
    let said = ["input", "messages", "contents"].iter().find_map(|member| body[member].as_array());
    let mut results: Vec<String> = Vec::new();
    let mut is_open = false;
    for item in said.into_iter().flatten() {
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

/// All texts in a value, one below the other: escapes of JSON are none of the texts.
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
