//! What happens in subagents, told across processes: the events that they post to the process at the root, and the end
//! that posts them. The listener belongs to the crate that serves.
//!
//! The address of the listener, with a token, goes from process to process in the environment. Posting is best effort:
//! in order, never waited for, and given up where nobody listens. What is lost is counted.

mod poster;

use serde::{Deserialize, Serialize};

use crate::model::Usage;

pub use poster::EventPoster;

/// The environment variable with the address of the listener and its token, as `http://TOKEN@127.0.0.1:PORT/events`.
pub const ADDRESS_VARIABLE: &str = "TOOLSMITH_SUBAGENT_LOGGING_ADDRESS";

/// Most bytes of an event's payload; the rest is cut off.
const LONGEST_PAYLOAD: usize = 64 << 10;

/// Most bytes of the names in an event, which a model may have made up; the rest is cut off.
const LONGEST_NAME: usize = 1 << 10;

/// Most bytes of an event as JSON, which takes six bytes for a control character.
const LONGEST_EVENT: usize = 512 << 10;

/// Most bytes of a batch as JSON (1 MiB).
pub const LONGEST_BATCH: usize = 1 << 20;

/// Most events of a batch.
pub const MOST_EVENTS: usize = 256;

/// The body of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventBatch<E = SubagentEvent> {
    /// How many events were left out since the last batch, because the listener did not keep up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// What has happened since, in order; at most [`MOST_EVENTS`].
    pub events: Vec<E>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Something that happened in a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubagentEvent {
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The subagent's name.
    pub subagent_name: String,
    /// The run that it happened in.
    pub subagent_run_id: String,
    /// The run that called this one, where that was a subagent's as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// When it happened, as RFC 3339 has it, in UTC.
    pub timestamp: String,
    /// The tool, for calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The call, for calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What there is to read: the task, the thought, arguments or a result, or the answer.
    #[serde(default)]
    pub payload: String,
    /// Whether it is a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The time limit of what has begun, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_timeout_seconds: Option<f64>,
    /// What the run has cost up to now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<Usage>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A run has begun.
    SubagentStart,
    /// A run has ended.
    SubagentEnd,
    /// A tool is called.
    ToolCall,
    /// A tool has answered.
    ToolResult,
    /// The model has thought.
    ThoughtTrace,
}

impl SubagentEvent {
    /// With texts of bounded size.
    fn bounded(mut self) -> Self {
        cut(&mut self.payload, LONGEST_PAYLOAD);
        cut(&mut self.subagent_name, LONGEST_NAME);
        for name in [&mut self.tool_name, &mut self.tool_call_id].into_iter().flatten() {
            cut(name, LONGEST_NAME);
        }
        self
    }
}

/// Cuts a text after so many bytes, at a whole character.
fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn event() -> SubagentEvent {
        SubagentEvent {
            kind: EventKind::ToolCall,
            subagent_name: "reviewer".to_owned(),
            subagent_run_id: "abcd1234".to_owned(),
            parent_run_id: None,
            timestamp: "2026-11-22T08:00:00.000Z".to_owned(),
            tool_name: Some("execute_code".to_owned()),
            tool_call_id: Some("call-1".to_owned()),
            payload: "1 + 1".to_owned(),
            is_error: false,
            execution_timeout_seconds: None,
            token_usage: None,
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_whole_character() {
        let long = "\u{1}ü".repeat(LONGEST_PAYLOAD);
        let (tool_name, tool_call_id) = (Some(long.clone()), Some(long.clone()));
        let event = SubagentEvent { payload: long, tool_name, tool_call_id, ..event() };
        let event = event.bounded();
        let [name, call] = [&event.tool_name, &event.tool_call_id].map(|text| text.as_ref().unwrap());
        for (text, longest) in [(&event.payload, LONGEST_PAYLOAD), (name, LONGEST_NAME), (call, LONGEST_NAME)]
        {
            assert!(text.len() <= longest + '…'.len_utf8() && text.ends_with('…'), "{}", text.len());
        }
        assert!(serde_json::to_vec(&event).unwrap().len() < LONGEST_EVENT);
    }
}
