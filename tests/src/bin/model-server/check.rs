//! Rejects what the real APIs reject: inconsistent conversations and wrong keys.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::answer::signed;
use crate::request::{Api, ModelRequest, items, text};

type Refusal = (u16, String);

/// The placeholder that Gemini accepts instead of a signature, for calls that its models did not make.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Checks whether the real API would accept a request.
pub(crate) fn check(request: &ModelRequest, headers: &HeaderMap, key: Option<&str>) -> Result<(), Refusal> {
    let given = match request.api {
        Api::Anthropic => header(headers, "x-api-key"),
        Api::Gemini => header(headers, "x-goog-api-key"),
        Api::Chat | Api::Responses => header(headers, "authorization").strip_prefix("Bearer ").unwrap_or(""),
    };
    if key.is_some_and(|key| key != given) {
        // Some providers repeat the key.
        return Err((401, format!("the key {given} is not valid")));
    }
    let found = match request.api {
        Api::Anthropic => anthropic(&request.body, headers),
        Api::Chat => chat(&request.body),
        Api::Responses => responses(&request.body),
        Api::Gemini => gemini(&request.body),
    };
    found.map_err(|message| (400, message))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn anthropic(body: &Value, headers: &HeaderMap) -> Result<(), String> {
    if header(headers, "anthropic-version").is_empty() {
        return Err("anthropic-version: header is required".to_owned());
    }
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: Field required".to_owned());
    }
    let messages = items(&body["messages"]);
    for (at, message) in messages.iter().enumerate() {
        let parts = items(&message["content"]);
        if message["content"] == "" || message["content"].is_array() && parts.is_empty() {
            return Err(format!("messages.{at}: content must not be empty"));
        }
        let mut thoughts_may_come = true;
        for part in parts {
            let kind = text(&part["type"]);
            if kind == "text" && text(&part["text"]).trim().is_empty() {
                return Err(format!("messages.{at}: text content blocks must be non-empty"));
            }
            if kind == "thinking" && text(&part["signature"]) != signed(text(&part["thinking"])) {
                return Err(format!("messages.{at}: Invalid `signature` in `thinking` block"));
            }
            if kind == "redacted_thinking" && text(&part["data"]) != signed("") {
                return Err(format!("messages.{at}: Invalid `data` in `redacted_thinking` block"));
            }
            let is_thought = matches!(kind, "thinking" | "redacted_thinking");
            if is_thought && !thoughts_may_come {
                return Err(format!("messages.{at}: thinking blocks must come first"));
            }
            thoughts_may_come &= is_thought;
        }
        let calls = parts.iter().filter(|part| part["type"] == "tool_use");
        let next = messages.get(at + 1).map(|next| items(&next["content"])).unwrap_or_default();
        for call in calls {
            if !call["input"].is_object() {
                return Err(format!("messages.{at}: tool_use.input: Input should be a valid dictionary"));
            }
            let id = text(&call["id"]);
            if !id.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter)) {
                return Err(format!("messages.{at}: tool_use.id: String should match a pattern"));
            }
            if !next.iter().any(|part| part["tool_use_id"] == id) {
                return Err(format!("messages.{at}: `tool_use` ids were found without `tool_result`: {id}"));
            }
        }
    }
    Ok(())
}

fn chat(body: &Value) -> Result<(), String> {
    let messages = items(&body["messages"]);
    for (at, message) in messages.iter().enumerate() {
        let calls = items(&message["tool_calls"]);
        let results: Vec<&Value> =
            messages.iter().skip(at + 1).take_while(|message| message["role"] == "tool").collect();
        for call in calls {
            let arguments = text(&call["function"]["arguments"]);
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                return Err(format!("messages.{at}: the arguments of a call are no JSON object"));
            }
            if !results.iter().any(|result| result["tool_call_id"] == call["id"]) {
                return Err(format!("messages.{at}: 'tool_calls' must be followed by tool messages"));
            }
        }
        if message["role"] == "user" && message["content"] == "" {
            return Err(format!("messages.{at}: there is nothing in it"));
        }
    }
    Ok(())
}

fn responses(body: &Value) -> Result<(), String> {
    let input = items(&body["input"]);
    let is_older = ["gpt-3", "gpt-4"].iter().any(|prefix| text(&body["model"]).starts_with(prefix));
    if is_older && (body["reasoning"].is_object() || body["include"].is_array()) {
        return Err("Unsupported parameter: 'reasoning' is not supported with this model.".to_owned());
    }
    for (at, item) in input.iter().enumerate() {
        match text(&item["type"]) {
            "function_call" => {
                let output = |other: &&Value| other["type"] == "function_call_output";
                let mut outputs = input.iter().skip(at + 1).filter(output);
                if !outputs.any(|output| output["call_id"] == item["call_id"]) {
                    return Err(format!("No tool output found for function call {}.", item["call_id"]));
                }
            }
            "reasoning" if text(&item["encrypted_content"]).is_empty() => {
                return Err("a reasoning item without encrypted_content is not stored".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

fn gemini(body: &Value) -> Result<(), String> {
    let contents = items(&body["contents"]);
    for (at, content) in contents.iter().enumerate() {
        let parts = items(&content["parts"]);
        if parts.is_empty() {
            return Err(format!("contents[{at}].parts must not be empty"));
        }
        let calls: Vec<&Value> = parts.iter().filter(|part| part["functionCall"].is_object()).collect();
        let next = contents.get(at + 1).map(|next| items(&next["parts"])).unwrap_or_default();
        let answers: Vec<&Value> = next.iter().filter(|part| part["functionResponse"].is_object()).collect();
        if calls.len() != answers.len() {
            return Err("the number of function response parts must be that of the function calls".to_owned());
        }
        for (call, answer) in calls.iter().zip(answers) {
            if call["functionCall"]["name"] != answer["functionResponse"]["name"] {
                return Err("a function response has another name than its call".to_owned());
            }
        }
        for part in parts {
            let name = text(&part["functionCall"]["name"]);
            let signature = text(&part["thoughtSignature"]);
            if !["", UNSIGNED].contains(&signature) && signature != signed(name) {
                return Err("a thought signature is not valid".to_owned());
            }
        }
    }
    Ok(())
}
