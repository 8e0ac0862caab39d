//! What happens in a run, for whoever watches it.

use std::time::Duration;

use crate::message::{Message, ToolCall, ToolResult};
use crate::model::{Delta, Usage};

/// Something that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A part of a reply that is not whole yet, or a request that is made again.
    Delta(Delta<'a>),
    /// The model's thoughts before it speaks, whole.
    Thought(&'a str),
    /// The model's text, whole; empty texts are not told.
    Response(&'a str),
    /// A tool is called.
    ToolCall(&'a ToolCall),
    /// A tool has answered, cut to the budget.
    ToolResult(&'a ToolResult, Duration),
    /// A message is whole: whoever keeps the conversation keeps it now, before anything follows from it. The usage is
    /// that of the reply, and nothing for other messages.
    Message(&'a Message, Usage),
}

/// Who sees what happens in a run.
pub trait Watcher: Send + Sync {
    /// Something happened. It must not take long: the run waits for it.
    fn event(&self, event: Event<'_>);
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Watcher for Silent {
    fn event(&self, _: Event<'_>) {}
}
