//! Google's Gemini.

use serde_json::{Value, json};

use crate::answer::{Event, pieces, signed, stop};
use crate::request::ModelRequest;
use crate::script::Answer;

/// The parts of an answer; thoughts are told where the request wants them, and the first call is signed.
fn parts(answer: &Answer, asked: &ModelRequest) -> Vec<Value> {
    let told = asked.body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true;
    let pieces = |text: &str| if asked.streams { pieces(text) } else { vec![text.to_owned()] };
    let mut parts = Vec::new();
    for thought in answer.thinking.iter().filter(|_| told).flat_map(|thought| pieces(thought)) {
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

fn chunk(answer: &Answer, asked: &ModelRequest, parts: &[Value], last: bool) -> Value {
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
        "modelVersion": asked.model,
        "responseId": "script",
    })
}

pub(crate) fn body(answer: &Answer, asked: &ModelRequest) -> Value {
    chunk(answer, asked, &parts(answer, asked), true)
}

pub(crate) fn events(answer: &Answer, asked: &ModelRequest) -> Vec<Event> {
    let mut parts = parts(answer, asked);
    // All calls come in one event, as Gemini sends them.
    let calls = parts.split_off(parts.len() - answer.calls.len());
    let mut events: Vec<Value> =
        parts.iter().map(|part| chunk(answer, asked, std::slice::from_ref(part), false)).collect();
    if !calls.is_empty() {
        events.push(chunk(answer, asked, &calls, false));
    }
    events.push(chunk(answer, asked, &[json!({ "text": "" })], true));
    events.iter().map(Event::new).collect()
}
