//! The wire format of Anthropic's Messages API.

use serde_json::{Value, json};

use crate::answer::{Event, pieces, signed, stop};
use crate::request::ModelRequest;
use crate::script::Answer;

/// The complete blocks of a message.
fn blocks(answer: &Answer, number: usize) -> Vec<Value> {
    let mut blocks = Vec::new();
    match answer.thinking.as_deref() {
        // An empty thought means a redacted one.
        Some("") => blocks.push(json!({ "type": "redacted_thinking", "data": signed("") })),
        Some(thought) => {
            blocks.push(json!({ "type": "thinking", "thinking": thought, "signature": signed(thought) }));
        }
        None => {}
    }
    if let Some(text) = &answer.text {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let id = if call.id.is_empty() { format!("toolu_{number}_{index}") } else { call.id.clone() };
        let input: Value = serde_json::from_str(&call.written()).unwrap_or_default();
        let written = call.written();
        blocks.push(
            json!({ "type": "tool_use", "id": id, "name": call.name, "input": input, "written": written }),
        );
    }
    blocks
}

fn message(request: &ModelRequest, number: usize) -> Value {
    json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn reason(answer: &Answer) -> &'static str {
    stop(answer, ["end_turn", "tool_use", "max_tokens", "refusal"])
}

pub(crate) fn body(answer: &Answer, request: &ModelRequest, number: usize) -> Value {
    let mut message = message(request, number);
    let mut blocks = blocks(answer, number);
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.remove("written");
    }
    message["content"] = Value::Array(blocks);
    message["stop_reason"] = json!(reason(answer));
    message["usage"] = json!({
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": answer.usage.output,
    });
    message
}

pub(crate) fn events(answer: &Answer, request: &ModelRequest, number: usize) -> Vec<Event> {
    let mut message = message(request, number);
    message["usage"] = json!({
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": 1,
    });
    let mut events = vec![json!({ "type": "message_start", "message": message }), json!({ "type": "ping" })];
    for (index, block) in blocks(answer, number).into_iter().enumerate() {
        let mut start = block.clone();
        let mut deltas: Vec<Value> = Vec::new();
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match text("type") {
            "thinking" => {
                start["thinking"] = json!("");
                start["signature"] = json!("");
                let thoughts = pieces(text("thinking")).into_iter();
                deltas.extend(thoughts.map(|it| json!({ "type": "thinking_delta", "thinking": it })));
                deltas.push(json!({ "type": "signature_delta", "signature": text("signature") }));
            }
            "text" => {
                start["text"] = json!("");
                let texts = pieces(text("text")).into_iter();
                deltas.extend(texts.map(|it| json!({ "type": "text_delta", "text": it })));
            }
            "tool_use" => {
                start["input"] = json!({});
                if let Some(start) = start.as_object_mut() {
                    start.remove("written");
                }
                deltas.push(json!({ "type": "input_json_delta", "partial_json": "" }));
                let written = pieces(text("written")).into_iter();
                deltas.extend(written.map(|it| json!({ "type": "input_json_delta", "partial_json": it })));
            }
            _ => {}
        }
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": { "stop_reason": reason(answer), "stop_sequence": null },
        "usage": { "output_tokens": answer.usage.output },
    }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(Event::typed).collect()
}
