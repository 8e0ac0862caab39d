//! Results for calls that did not run: a provider takes no conversation in which a call has none.

use crate::final_answer::FINAL_ANSWER;
use crate::message::{Block, Message, Role, ToolCall, ToolResult};

/// Results for the calls of the last message, where the run ended before they had any.
pub(super) fn missing_results(conversation: &[Message]) -> Option<Message> {
    let last = conversation.last().filter(|message| message.role == Role::Assistant)?;
    let calls = last.calls();
    let given_up = |call: &&ToolCall| result(call, "the call was given up before it had a result", true);
    (!calls.is_empty()).then(|| message(calls.iter().map(given_up)))
}

/// The answer is taken; what was called beside it did not run.
pub(super) fn accepted(calls: &[ToolCall]) -> Message {
    message(calls.iter().map(|call| match call.name.as_str() {
        FINAL_ANSWER => result(call, "accepted", false),
        _ => result(call, "not run: final_answer has ended the task", true),
    }))
}

/// The answer is not taken; what was called beside it did not run.
pub(super) fn refused(calls: &[ToolCall], faults: &str) -> Message {
    message(calls.iter().map(|call| match call.name.as_str() {
        FINAL_ANSWER => result(
            call,
            &format!("the answer does not fit its schema: {faults}; call final_answer again"),
            true,
        ),
        _ => result(call, "not run: final_answer must be called with no other tool beside it", true),
    }))
}

fn result(call: &ToolCall, text: &str, is_error: bool) -> ToolResult {
    ToolResult::of(call, text, is_error)
}

fn message(results: impl Iterator<Item = ToolResult>) -> Message {
    Message { role: Role::Tool, blocks: results.map(Block::ToolResult).collect() }
}
