//! The wire format of OpenAI's Chat Completions, with the thoughts that compatible providers add.

use serde_json::{Value, json};

use crate::answer::{Event, pieces, stop};
use crate::request::ModelRequest;
use crate::script::{Answer, Call, Stop};

fn id(call: &Call, number: usize, index: usize) -> String {
    if call.id.is_empty() { format!("call_{number}_{index}") } else { call.id.clone() }
}

fn reason(answer: &Answer) -> &'static str {
    stop(answer, ["stop", "tool_calls", "length", "content_filter"])
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        // Includes cached tokens.
        "prompt_tokens": usage.input + usage.cached,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.cached + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
    })
}

fn head(request: &ModelRequest, number: usize, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"),
        "object": object,
        "created": 1_700_000_000,
        "model": request.model,
        "system_fingerprint": "fp_script",
    })
}

pub(crate) fn body(answer: &Answer, request: &ModelRequest, number: usize) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text, "refusal": null });
    if let Some(thought) = &answer.thinking {
        message["reasoning_content"] = json!(thought);
    }
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().enumerate().map(|(index, call)| {
            let function = json!({ "name": call.name, "arguments": call.written() });
            json!({ "id": id(call, number, index), "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    let mut body = head(request, number, "chat.completion");
    body["choices"] =
        json!([{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason(answer) }]);
    body["usage"] = usage(answer);
    body
}

pub(crate) fn events(answer: &Answer, request: &ModelRequest, number: usize) -> Vec<Event> {
    let chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = head(request, number, "chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]);
        chunk["usage"] = Value::Null;
        chunk
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "", "refusal": null }), None)];
    for thought in answer.thinking.iter().flat_map(|thought| pieces(thought)) {
        events.push(chunk(json!({ "reasoning_content": thought }), None));
    }
    let refuses = answer.stop == Some(Stop::Refusal);
    for text in answer.text.iter().flat_map(|text| pieces(text)) {
        let member = if refuses { "refusal" } else { "content" };
        events.push(chunk(json!({ member: text }), None));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": "" });
        let first = json!({ "index": index, "id": id(call, number, index), "type": "function", "function": function });
        events.push(chunk(json!({ "tool_calls": [first] }), None));
        for piece in pieces(&call.written()) {
            let more = json!({ "index": index, "function": { "arguments": piece } });
            events.push(chunk(json!({ "tool_calls": [more] }), None));
        }
    }
    events.push(chunk(json!({}), Some(reason(answer))));
    if request.body["stream_options"]["include_usage"] == true {
        let mut last = head(request, number, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage(answer);
        events.push(last);
    }
    let mut events: Vec<Event> = events.iter().map(Event::new).collect();
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}
