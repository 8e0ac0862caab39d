//! Builds a complete reply: its blocks in order, the stop reason, and the usage.

use std::collections::HashSet;

use genai::chat::{ContentPart, StopReason, StreamEnd};
use serde_json::{Map, Value};

use super::conversation::{marked, marked_redacted};
use super::failure::{Failure, words};
use super::stream_events::StreamEvents;
use crate::message::{Block, Message, Role, ToolCall};
use crate::model::{Reply, Stop, Usage};
use crate::settings::Api;

/// The reply that ends with `end`. `signatures` are those of each call, for the API that signs calls.
///
/// # Errors
/// If the reply was cut off.
pub(super) fn of(
    api: Api,
    end: StreamEnd,
    signatures: &[Vec<String>],
    frames: &StreamEvents,
    before: &[Message],
) -> Result<Reply, Failure> {
    frames.check()?;
    // Some streamers of genai end a reply that was cut off like a complete one, without a reason.
    let Some(reason) = end.captured_stop_reason else { return Err(frames.cut()) };
    let usage = usage(&end.captured_usage.unwrap_or_default());
    let mut blocks = Vec::new();
    let mut calls = Vec::new();
    for part in end.captured_content.into_iter().flatten() {
        match part {
            ContentPart::ToolCall(call) => calls.push(call),
            other => add(api, &mut blocks, other, signatures),
        }
    }
    add_thought(api, &mut blocks, end.captured_reasoning_content);
    let calls = own_calls(api, calls, signatures, before);
    let stop = stop(&reason, !calls.is_empty(), frames);
    blocks.extend(calls.into_iter().map(Block::ToolCall));
    Ok(Reply { message: Message { role: Role::Assistant, blocks }, stop, usage })
}

fn add(api: Api, blocks: &mut Vec<Block>, part: ContentPart, of_calls: &[Vec<String>]) {
    match part {
        ContentPart::Text(text) if !text.is_empty() => blocks.push(Block::Text { text }),
        ContentPart::ThoughtSignature(signature) if !of_calls.iter().flatten().any(|of| *of == signature) => {
            let signature = Some(marked(api, &signature));
            blocks.push(Block::Thinking { text: String::new(), signature });
        }
        // The text follows its signature.
        ContentPart::ReasoningContent(thought) => match blocks.last_mut() {
            Some(Block::Thinking { text, .. }) if text.is_empty() => *text = thought,
            _ => blocks.push(Block::Thinking { text: thought, signature: None }),
        },
        ContentPart::Custom(custom) => {
            if let Some(data) = custom.data.get("data").and_then(Value::as_str) {
                let signature = Some(marked_redacted(api, data));
                blocks.push(Block::Thinking { text: String::new(), signature });
            }
        }
        _ => {}
    }
}

/// Adds thoughts that came without a position to the first signature.
fn add_thought(api: Api, blocks: &mut Vec<Block>, thought: Option<String>) {
    let Some(thought) = thought.filter(|thought| !thought.is_empty()) else { return };
    if blocks.iter().any(|block| matches!(block, Block::Thinking { text, .. } if !text.is_empty())) {
        return;
    }
    // Thoughts of Chat Completions are sent back without a signature.
    let signature = (api == Api::OpenAi).then(|| marked(api, ""));
    match blocks.first_mut() {
        Some(Block::Thinking { text, .. }) => *text = thought,
        _ => blocks.insert(0, Block::Thinking { text: thought, signature }),
    }
}

/// The calls, each with an id that is unique in the conversation.
fn own_calls(
    api: Api,
    calls: Vec<genai::chat::ToolCall>,
    signatures: &[Vec<String>],
    before: &[Message],
) -> Vec<ToolCall> {
    let mut taken: HashSet<String> =
        before.iter().flat_map(Message::calls).map(|call| call.id.clone()).collect();
    // If the numbers of calls have a gap, genai fills it with the next call.
    let ids: Vec<String> = calls.iter().map(|call| call.call_id.clone()).collect();
    let repeated =
        |at: usize| api == Api::OpenAi && ids.iter().skip(at + 1).any(|id| Some(id) == ids.get(at));
    let mut own = Vec::new();
    for (at, call) in calls.into_iter().enumerate().filter(|(at, _)| !repeated(*at)) {
        let id = free_id(&call.call_id, &call.fn_name, &taken);
        taken.insert(id.clone());
        let signatures = signatures.get(at).into_iter().flatten();
        own.push(ToolCall {
            id,
            name: call.fn_name,
            arguments: arguments(call.fn_arguments),
            signatures: signatures.map(|signature| marked(api, signature)).collect(),
        });
    }
    own
}

/// genai makes up ids for models that send none, and they are the same in every message.
fn free_id(id: &str, name: &str, taken: &HashSet<String>) -> String {
    if !id.is_empty() && !taken.contains(id) {
        return id.to_owned();
    }
    // genai recognises by this form that an id is not the provider's.
    let is_generated = id.starts_with("call#");
    let mut number = taken.len();
    loop {
        let id = if is_generated { format!("call#{name}#{number}") } else { format!("{id}_{number}") };
        if !taken.contains(&id) {
            return id;
        }
        number += 1;
    }
}

/// Missing arguments become an empty object.
fn arguments(arguments: Value) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        other => other,
    }
}

fn stop(reason: &StopReason, calls: bool, frames: &StreamEvents) -> Stop {
    if let Some(refusal) = frames.refusal() {
        return Stop::Refused(refusal);
    }
    match reason {
        StopReason::MaxTokens(_) => match frames.incomplete() {
            Some(why) if why != "max_output_tokens" => Stop::Refused(words(&why)),
            _ => Stop::Length,
        },
        StopReason::ContentFilter(why) => Stop::Refused(words(why)),
        StopReason::Other(why) => Stop::Other(words(why)),
        _ if calls => Stop::ToolCalls,
        StopReason::ToolCall(why) => Stop::Other(words(why)),
        StopReason::Completed(_) | StopReason::StopSequence(_) => Stop::End,
    }
}

fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let input = count(usage.prompt_tokens).unwrap_or_default();
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| count(details.cached_tokens));
    Usage {
        input,
        // If Gemini reports only thoughts, only the total includes the output.
        output: count(usage.completion_tokens)
            .or_else(|| count(usage.total_tokens).map(|total| total.saturating_sub(input)))
            .unwrap_or_default(),
        cached: cached.unwrap_or_default(),
    }
}
