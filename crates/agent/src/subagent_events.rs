//! Events of subagents, sent between processes to the root process: their form, and the sender. The listener is in
//! another crate.
//!
//! Processes pass the address of the listener, with a token, through the environment. Posting is best effort: in order,
//! without waiting, and given up if there is no listener. Lost events are counted.

#[cfg(feature = "run")]
mod poster;

use serde::{Deserialize, Serialize};

use crate::model::Usage;

#[cfg(feature = "run")]
pub use poster::{EventPoster, ListenerError};

/// The environment variable with the address of the listener and its token, as `http://TOKEN@127.0.0.1:PORT/events`.
pub const ADDRESS_VARIABLE: &str = "TOOLSMITH_SUBAGENT_LOGGING_ADDRESS";

/// Maximum size of an event's payload, in bytes; the rest is cut off.
const MAX_PAYLOAD: usize = 64 << 10;

/// Maximum size of the names in an event, in bytes, which a model may have made up; the rest is cut off.
const MAX_NAME: usize = 1 << 10;

/// Maximum size of an event as JSON, in bytes; a control character takes six.
const MAX_EVENT: usize = 512 << 10;

/// Maximum size of a batch as JSON, in bytes (1 MiB).
pub const MAX_BATCH: usize = 1 << 20;

/// Limit on the events of a batch.
pub const MOST_EVENTS: usize = 256;

/// The body of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventBatch<E = SubagentEvent> {
    /// The number of events dropped since the last batch, because the listener did not keep up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The events since then, in order; at most [`MOST_EVENTS`].
    pub events: Vec<E>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An event of a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubagentEvent {
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The subagent's name.
    pub subagent_name: String,
    /// The run of the subagent.
    pub subagent_run_id: String,
    /// The run that called this one, if that was a subagent's too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// The time in RFC 3339 form, in UTC.
    pub timestamp: String,
    /// The tool, for calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The call, for calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The text: the task, the thought, the arguments, the result, or the answer.
    #[serde(default)]
    pub payload: String,
    /// Whether it is a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The time limit of a started run or call, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_timeout_seconds: Option<f64>,
    /// The tokens used by the run so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<Usage>,
}

/// The kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A run has started.
    SubagentStart,
    /// A run has ended.
    SubagentEnd,
    /// A tool call has started.
    ToolCall,
    /// A tool call has ended.
    ToolResult,
    /// The model has thought.
    ThoughtTrace,
}

impl SubagentEvent {
    /// Cuts its texts to their limits.
    fn bounded(mut self) -> Self {
        cut(&mut self.payload, MAX_PAYLOAD);
        cut(&mut self.subagent_name, MAX_NAME);
        for name in [&mut self.tool_name, &mut self.tool_call_id].into_iter().flatten() {
            cut(name, MAX_NAME);
        }
        self
    }
}

/// Cuts a text to a number of bytes, at a whole character.
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
        let long = "\u{1}ü".repeat(MAX_PAYLOAD);
        let (tool_name, tool_call_id) = (Some(long.clone()), Some(long.clone()));
        let event = SubagentEvent { payload: long, tool_name, tool_call_id, ..event() };
        let event = event.bounded();
        let [name, call] = [&event.tool_name, &event.tool_call_id].map(|text| text.as_ref().unwrap());
        for (text, longest) in [(&event.payload, MAX_PAYLOAD), (name, MAX_NAME), (call, MAX_NAME)] {
            assert!(text.len() <= longest + '…'.len_utf8() && text.ends_with('…'), "{}", text.len());
        }
        assert!(serde_json::to_vec(&event).unwrap().len() < MAX_EVENT);
    }
}
