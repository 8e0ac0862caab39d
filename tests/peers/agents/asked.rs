//! Reads an agent's requests to a model, in the wire formats of OpenAI, Anthropic and Google: which tools they offer, and
//! the results of calls.

use serde_json::Value;

use crate::product::Checked;

/// A tool as a request offers it.
struct Offer<'a> {
    /// Its name, with its namespace, if any, and a dot in front.
    name: String,
    tool: &'a Value,
}

/// The description of a tool in the first request that has any tools. Fails if the model does not see the tool itself,
/// or only its name.
pub(super) fn description<'a>(requests: &'a [Value], name: &str) -> Checked<&'a str> {
    described(requests.iter(), name)
}

/// The description in the last request.
pub(super) fn last_description<'a>(requests: &'a [Value], name: &str) -> Checked<&'a str> {
    described(requests.iter().rev(), name)
}

fn described<'a>(requests: impl Iterator<Item = &'a Value>, name: &str) -> Checked<&'a str> {
    let mut offers = requests.map(|request| offers(&request["body"]));
    let first = offers.find(|offers| !offers.is_empty()).ok_or("no request offers any tools")?;
    let offer = first.iter().find(|offer| offer.name == name).ok_or_else(|| {
        let names: Vec<_> = first.iter().map(|offer| offer.name.as_str()).collect();
        format!("the model does not see {name}, but {names:?}")
    })?;
    if offer.tool["defer_loading"] == true {
        return Err(format!("the model sees only the name of {name}: its loading is deferred"));
    }
    Ok(offer.tool["description"].as_str().unwrap_or_default())
}

/// Whether the first request with tools offers one whose name is `name`.
pub(super) fn is_offered(requests: &[Value], name: &str) -> bool {
    let mut offers = requests.iter().map(|request| offers(&request["body"]));
    offers.find(|offers| !offers.is_empty()).is_some_and(|first| first.iter().any(|offer| offer.name == name))
}

/// All text of the first request that offers any tools.
pub(super) fn first_text(requests: &[Value]) -> String {
    let mut text = String::new();
    let first = requests.iter().map(|request| &request["body"]).find(|body| !offers(body).is_empty());
    if let Some(body) = first {
        texts(body, &mut text);
    }
    text
}

/// The items of an array; empty for other values.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// All tools that a request offers.
fn offers(body: &Value) -> Vec<Offer<'_>> {
    let added = items(&body["input"]).iter().filter(|item| item["type"] == "additional_tools");
    let tools = items(&body["tools"]).iter().chain(added.flat_map(|item| items(&item["tools"])));
    let mut offers = Vec::new();
    for tool in tools {
        let (prefix, inner) = match (tool["type"].as_str(), tool["functionDeclarations"].as_array()) {
            (Some("namespace"), _) => {
                (format!("{}.", tool["name"].as_str().unwrap_or_default()), items(&tool["tools"]))
            }
            (_, Some(functions)) => (String::new(), functions.as_slice()),
            _ => (String::new(), std::slice::from_ref(tool)),
        };
        offers.extend(inner.iter().map(|tool| {
            let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
            Offer { name: format!("{prefix}{}", tool["name"].as_str().unwrap_or_default()), tool }
        }));
    }
    offers
}

/// The results of a tool's calls, each with the content next to it (pictures, in formats where results cannot hold
/// them).
pub(super) fn results(requests: &[Value], name: &str) -> Vec<String> {
    let mut bodies = requests
        .iter()
        .map(|request| &request["body"])
        .filter(|body| offers(body).iter().any(|offer| offer.name == name));
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
    let has = |member: &str, is: fn(&Value) -> bool| {
        item[member].as_array().is_some_and(|parts| parts.iter().any(is))
    };
    item["type"] == "function_call_output"
        || item["role"] == "tool"
        || has("parts", |part| part.get("functionResponse").is_some())
        || has("content", |part| part["type"] == "tool_result")
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
