//! Results for calls that did not run: providers reject a conversation with a call that has no result.

use crate::final_answer::FINAL_ANSWER;
use crate::message::{Block, Message, Role, ToolCall, ToolResult};

/// Results for the calls of the last message, if the run ended before they had any.
pub(super) fn missing_results(conversation: &[Message]) -> Option<Message> {
    let last = conversation.last().filter(|message| message.role == Role::Assistant)?;
    let calls = last.calls();
    let cancelled = |call: &&ToolCall| result(call, "the call was cancelled before it had a result", true);
    (!calls.is_empty()).then(|| message(calls.iter().map(cancelled)))
}

/// Accepts the answer; other calls next to it did not run.
pub(super) fn accepted(calls: &[ToolCall]) -> Message {
    message(calls.iter().map(|call| match call.name.as_str() {
        FINAL_ANSWER => result(call, "accepted", false),
        _ => result(call, "not run: final_answer has ended the task", true),
    }))
}

/// Rejects the answer; other calls next to it did not run.
pub(super) fn refused(calls: &[ToolCall], faults: &str) -> Message {
    message(calls.iter().map(|call| match call.name.as_str() {
        FINAL_ANSWER => result(
            call,
            &format!("the answer does not match its schema: {faults}; call final_answer again"),
            true,
        ),
        _ => result(call, "not run: final_answer must be called without other tools", true),
    }))
}

fn result(call: &ToolCall, text: &str, is_error: bool) -> ToolResult {
    ToolResult::of(call, text, is_error)
}

fn message(results: impl Iterator<Item = ToolResult>) -> Message {
    Message { role: Role::Tool, blocks: results.map(Block::ToolResult).collect() }
}
