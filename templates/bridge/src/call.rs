//! A tool call as a future: what generated stubs hold.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use serde_json::Value;

use crate::client::Ticket;
use crate::error::ToolError;
use crate::result::{FromReply, Reply, read};
use crate::tool::Tool;

/// A call that is sent on the first poll and cancelled when dropped before its answer.
#[derive(Debug)]
pub struct Pending<O> {
    state: State,
    output: PhantomData<fn() -> O>,
}

#[derive(Debug)]
enum State {
    Idle,
    Sent(Ticket),
    Done,
}

impl<O> Pending<O> {
    /// A call that has not been sent.
    #[must_use]
    pub const fn new() -> Self {
        Pending { state: State::Idle, output: PhantomData }
    }
}

impl<O> Default for Pending<O> {
    fn default() -> Self {
        Pending::new()
    }
}

impl<O: FromReply> Pending<O> {
    /// Sends the call at first, then looks for its answer.
    ///
    /// # Panics
    /// When polled again after it was ready, as futures may.
    pub fn poll(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        arguments: &dyn Fn() -> Value,
    ) -> Poll<Result<O, ToolError>> {
        // Plain matches: closures and `?` are instantiated again for every output type.
        match self.state.poll(context, tool, arguments) {
            Poll::Ready(Ok(reply)) => Poll::Ready(O::from_reply(reply, tool)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl State {
    /// What is not generic, compiled once.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        arguments: &dyn Fn() -> Value,
    ) -> Poll<Result<Reply, ToolError>> {
        if let State::Idle = self {
            match Ticket::send(tool.mark, &arguments()) {
                Ok(ticket) => *self = State::Sent(ticket),
                Err(failure) => return Poll::Ready(Err(ToolError::from_failure(failure, tool))),
            }
        }
        let State::Sent(ticket) = self else {
            panic!("{}.{} was polled after its answer", tool.server, tool.name);
        };
        let answer = match ticket.poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(answer) => answer,
        };
        *self = State::Done;
        Poll::Ready(match answer {
            Ok(raw) => read(raw.get(), tool),
            Err(failure) => Err(ToolError::from_failure(failure, tool)),
        })
    }
}
