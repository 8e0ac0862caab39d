//! What happens in subagents, told across processes: they post events to a listener of the process at the root.
//!
//! The address of the listener, with a token, goes from process to process in the environment. Posting is best effort:
//! in order, never waited for, and given up where nobody listens.

mod listener;
mod poster;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::Usage;

pub use listener::EventListener;
pub use poster::EventPoster;

/// The environment variable with the address of the listener and its token, as `http://TOKEN@127.0.0.1:PORT/events`.
pub const ADDRESS_VARIABLE: &str = "TOOLSMITH_SUBAGENT_LOGGING_ADDRESS";

/// Most bytes of an event's payload; the rest is cut off.
pub(crate) const LONGEST_PAYLOAD: usize = 64 << 10;

/// Something that happened in a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// With a payload of at most [`LONGEST_PAYLOAD`] bytes.
    fn bounded(mut self) -> Self {
        if self.payload.len() > LONGEST_PAYLOAD {
            let mut end = LONGEST_PAYLOAD;
            while !self.payload.is_char_boundary(end) {
                end -= 1;
            }
            self.payload.truncate(end);
            self.payload.push('…');
        }
        self
    }
}
