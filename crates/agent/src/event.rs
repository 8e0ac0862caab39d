//! The events of a run, for its watcher.

use std::time::Duration;

use crate::message::{Message, ToolCall, ToolResult};
use crate::model::{Delta, Usage};

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A part of a reply that is still incomplete, or a retry of the request.
    Delta(Delta<'a>),
    /// The model's complete thoughts before its text.
    Thought(&'a str),
    /// The model's complete text; empty texts are not reported.
    Response(&'a str),
    /// A tool call starts.
    ToolCall(&'a ToolCall),
    /// A tool call has ended; the result is cut to the budget.
    ToolResult(&'a ToolResult, Duration),
    /// A message is complete: a watcher that stores the conversation must store it now, before anything follows from
    /// it. The usage is that of the reply, and zero for other messages.
    Message(&'a Message, Usage),
    /// The conversation is summarized, because it fills the model's context window.
    Compaction(Compaction<'a>),
}

/// A step of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction<'a> {
    /// The summary is requested: the conversation has about this many tokens of the model's context window.
    Begins {
        /// The tokens of the conversation, in part estimated.
        tokens: u64,
        /// The tokens of the context window.
        window: u64,
    },
    /// From now on the model reads the summary, which was reported as a message before.
    Done {
        /// The number of messages that it replaces.
        messages: usize,
        /// Its text.
        summary: &'a str,
    },
    /// There is no summary: the whole conversation is sent.
    Failed {
        /// Why.
        why: &'a str,
    },
}

/// Receives the events of a run.
pub trait Watcher: Send + Sync {
    /// Handles an event. It must not take long: the run waits for it.
    fn event(&self, event: Event<'_>);
}

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Watcher for Silent {
    fn event(&self, _: Event<'_>) {}
}
