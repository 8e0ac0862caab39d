//! The wire format of Google's Gemini API.

use serde_json::{Value, json};

use crate::answer::{Event, pieces, signed, stop};
use crate::request::ModelRequest;
use crate::script::Answer;

/// The parts of an answer. Thoughts are included if requested, and the first call is signed.
fn parts(answer: &Answer, request: &ModelRequest) -> Vec<Value> {
    let include_thoughts = request.body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true;
    let pieces = |text: &str| if request.streams { pieces(text) } else { vec![text.to_owned()] };
    let mut parts = Vec::new();
    for thought in answer.thinking.iter().filter(|_| include_thoughts).flat_map(|thought| pieces(thought)) {
        parts.push(json!({ "text": thought, "thought": true }));
    }
    for text in answer.text.iter().flat_map(|text| pieces(text)) {
        parts.push(json!({ "text": text }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let arguments: Value = serde_json::from_str(&call.written()).unwrap_or_default();
        let mut part = json!({ "functionCall": { "name": call.name, "args": arguments } });
        if !call.id.is_empty() {
            part["functionCall"]["id"] = json!(call.id);
        }
        if index == 0 && answer.thinking.is_some() {
            part["thoughtSignature"] = json!(signed(&call.name));
        }
        parts.push(part);
    }
    parts
}

fn chunk(answer: &Answer, request: &ModelRequest, parts: &[Value], last: bool) -> Value {
    let usage = answer.usage;
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if last {
        candidate["finishReason"] = json!(stop(answer, ["STOP", "STOP", "MAX_TOKENS", "SAFETY"]));
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input + usage.cached,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.cached + usage.output,
        },
        "modelVersion": request.model,
        "responseId": "script",
    })
}

pub(crate) fn body(answer: &Answer, request: &ModelRequest) -> Value {
    chunk(answer, request, &parts(answer, request), true)
}

pub(crate) fn events(answer: &Answer, request: &ModelRequest) -> Vec<Event> {
    let mut parts = parts(answer, request);
    // Gemini sends all calls in one event.
    let calls = parts.split_off(parts.len() - answer.calls.len());
    let mut events: Vec<Value> =
        parts.iter().map(|part| chunk(answer, request, std::slice::from_ref(part), false)).collect();
    if !calls.is_empty() {
        events.push(chunk(answer, request, &calls, false));
    }
    events.push(chunk(answer, request, &[json!({ "text": "" })], true));
    events.iter().map(Event::new).collect()
}
