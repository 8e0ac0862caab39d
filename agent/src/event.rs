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
