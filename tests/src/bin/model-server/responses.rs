//! The wire format of OpenAI's Responses API.

use serde_json::{Value, json};

use crate::answer::{Event, pieces, signed};
use crate::request::{ModelRequest, items};
use crate::script::{Answer, Stop};

/// The complete items of an answer.
fn output(answer: &Answer, request: &ModelRequest, number: usize) -> Vec<Value> {
    let mut output = Vec::new();
    if let Some(thought) = &answer.thinking {
        let mut item = json!({
            "id": format!("rs_{number}"),
            "type": "reasoning",
            "summary": [{ "type": "summary_text", "text": thought }],
        });
        if items(&request.body["include"]).contains(&json!("reasoning.encrypted_content")) {
            item["encrypted_content"] = json!(signed(thought));
        }
        output.push(item);
    }
    if let Some(text) = &answer.text {
        let part = match answer.stop {
            Some(Stop::Refusal) => json!({ "type": "refusal", "refusal": text }),
            _ => json!({ "type": "output_text", "text": text, "annotations": [] }),
        };
        output.push(json!({
            "id": format!("msg_{number}"),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let id = if call.id.is_empty() { format!("call_{number}_{index}") } else { call.id.clone() };
        let mut item = json!({
            "id": format!("fc_{number}_{index}"),
            "type": "function_call",
            "status": "completed",
            "call_id": id,
            "name": call.name,
            "arguments": call.written(),
        });
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        output.push(item);
    }
    output
}

pub(crate) fn body(answer: &Answer, request: &ModelRequest, number: usize) -> Value {
    let usage = answer.usage;
    let incomplete = answer.stop == Some(Stop::Length);
    json!({
        "id": format!("resp_{number}"),
        "object": "response",
        "created_at": 1_700_000_000,
        "status": if incomplete { "incomplete" } else { "completed" },
        "error": null,
        "incomplete_details": incomplete.then(|| json!({ "reason": "max_output_tokens" })),
        "model": request.model,
        "output": output(answer, request, number),
        "usage": {
            "input_tokens": usage.input + usage.cached,
            "input_tokens_details": { "cached_tokens": usage.cached },
            "output_tokens": usage.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input + usage.cached + usage.output,
        },
    })
}

pub(crate) fn events(answer: &Answer, request: &ModelRequest, number: usize) -> Vec<Event> {
    let complete = body(answer, request, number);
    let mut started = complete.clone();
    started["status"] = json!("in_progress");
    started["output"] = json!([]);
    started["usage"] = Value::Null;
    started["incomplete_details"] = Value::Null;
    let mut events = vec![
        json!({ "type": "response.created", "response": started }),
        json!({ "type": "response.in_progress", "response": started }),
    ];
    for (index, item) in items(&complete["output"]).iter().enumerate() {
        item_events(&mut events, index, item);
    }
    let end = if complete["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    events.push(json!({ "type": end, "response": complete }));
    for (sequence, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(sequence);
    }
    events.iter().map(Event::typed).collect()
}

fn item_events(events: &mut Vec<Value>, index: usize, item: &Value) {
    let mut started = item.clone();
    started["status"] = json!("in_progress");
    let id = &item["id"];
    let mut inner = Vec::new();
    match item["type"].as_str().unwrap_or_default() {
        "reasoning" => {
            started["summary"] = json!([]);
            let text = item["summary"][0]["text"].as_str().unwrap_or_default();
            for delta in pieces(text) {
                inner.push(json!({
                    "type": "response.reasoning_summary_text.delta",
                    "item_id": id, "output_index": index, "summary_index": 0, "delta": delta,
                }));
            }
        }
        "message" => {
            started["content"] = json!([]);
            let part = &item["content"][0];
            let kind = part["type"].as_str().unwrap_or_default();
            let member = if kind == "refusal" { "refusal" } else { "text" };
            let mut empty = part.clone();
            empty[member] = json!("");
            let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
            let event = |name: &str, member: &str, value: &Value| {
                let mut event = place.clone();
                event["type"] = json!(name);
                event[member] = value.clone();
                event
            };
            inner.push(event("response.content_part.added", "part", &empty));
            for delta in pieces(part[member].as_str().unwrap_or_default()) {
                inner.push(event(&format!("response.{kind}.delta"), "delta", &json!(delta)));
            }
            inner.push(event(&format!("response.{kind}.done"), member, &part[member]));
            inner.push(event("response.content_part.done", "part", part));
        }
        _ => {
            started["arguments"] = json!("");
            let arguments = item["arguments"].as_str().unwrap_or_default();
            for delta in pieces(arguments) {
                inner.push(json!({
                    "type": "response.function_call_arguments.delta",
                    "item_id": id, "output_index": index, "delta": delta,
                }));
            }
            inner.push(json!({
                "type": "response.function_call_arguments.done",
                "item_id": id, "output_index": index, "arguments": arguments,
            }));
        }
    }
    events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": started }));
    events.append(&mut inner);
    events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
}
