//! A tool call as a future, used by generated stubs.

use std::task::{Context, Poll};

use crate::client::Ticket;
use crate::convert::{FromJson, Reader, Refused, ToJson, checked, named, taken_unfit};
use crate::error::ToolError;
use crate::result::{Reply, ToolResult, mismatch, read, reader};
use crate::tool::Tool;
use crate::unmade::Site;
use crate::wire::{CallFailure, FailureKind};

/// A call that is sent on the first poll and cancelled if dropped before its answer.
#[derive(Debug)]
pub struct Pending {
    state: State,
    /// Why an argument prevents sending the call.
    unfit: Option<Box<Refused>>,
}

#[derive(Debug)]
enum State {
    Idle(Site),
    Sent(Ticket),
    Answered(Box<Answer>),
    Done,
}

/// An answer to read; if the call failed, the reader is empty.
#[derive(Debug)]
struct Answer {
    reader: Reader,
    error: Option<ToolError>,
}

impl Pending {
    /// Creates an unsent call of a tool, after its arguments.
    #[must_use]
    #[track_caller]
    pub fn new(server: &'static str, tool: &'static str) -> Self {
        Pending { state: State::Idle(Site::built(server, tool)), unfit: taken_unfit() }
    }

    /// Adds an argument to the call, for the field `key`.
    #[inline]
    pub fn with<T>(&mut self, key: &str, argument: T) -> T {
        self.keep_unfit(key);
        argument
    }

    fn keep_unfit(&mut self, key: &str) {
        named(key, ());
        if let Some(unfit) = taken_unfit() {
            self.unfit.get_or_insert(unfit);
        }
    }

    /// Sends the call on the first poll, then waits for its answer.
    ///
    /// # Panics
    /// If polled again after completion, as futures may.
    // Compiled for every output: code is shortest if nothing follows the drop of the value.
    pub fn poll<O: FromJson>(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<O, ToolError>> {
        let Some(reader) = self.answer(context, tool, input) else { return Poll::Pending };
        {
            let output = O::from_json(reader.whole(), reader);
            if !reader.stopped {
                return Poll::Ready(Ok(output));
            }
        }
        Poll::Ready(Err(self.error(tool)))
    }

    /// Like [`Pending::poll`], for a tool without an output schema whose type was observed in its answers.
    ///
    /// # Errors
    /// Those of the call; an answer of another type is reported with how to widen the type.
    ///
    /// # Panics
    /// As for [`Pending::poll`].
    pub fn poll_observed<O: FromJson>(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<O, ToolError>> {
        self.poll(context, tool, input).map_err(ToolError::of_observed)
    }

    /// Like [`Pending::poll`], for a tool without an output schema.
    ///
    /// # Errors
    /// Those of the call.
    ///
    /// # Panics
    /// As for [`Pending::poll`].
    pub fn poll_untyped(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<ToolResult, ToolError>> {
        self.reply(context, tool, input).map(|reply| ToolResult::of(reply?, tool))
    }

    fn reply(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<Reply, ToolError>> {
        if let State::Idle(site) = self.state
            // Even if the argument was not named.
            && let Some(unfit) = self.unfit.take().or_else(taken_unfit)
        {
            site.polled();
            self.state = State::Done;
            return Poll::Ready(Err(ToolError::from_failure(invalid(&unfit), tool)));
        }
        self.state.poll(context, tool, input)
    }

    /// The answer, if it has arrived.
    fn answer(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Option<&mut Reader> {
        let Poll::Ready(reply) = self.reply(context, tool, input) else { return None };
        let answer = match reply.and_then(|reply| reader(reply, tool)) {
            Ok(reader) => Answer { reader, error: None },
            Err(error) => Answer { reader: Reader::stopped(), error: Some(error) },
        };
        self.state = State::Answered(Box::new(answer));
        match &mut self.state {
            State::Answered(answer) => Some(&mut answer.reader),
            _ => None,
        }
    }

    /// Why the value read from the answer is invalid.
    fn error(&mut self, tool: &Tool) -> ToolError {
        let State::Answered(answer) = std::mem::replace(&mut self.state, State::Done) else { again(tool) };
        let Answer { reader, error } = *answer;
        error.unwrap_or_else(|| mismatch(reader, tool))
    }
}

/// The failure of a call whose arguments can't be serialized to JSON.
fn invalid(refused: &Refused) -> CallFailure {
    CallFailure { kind: FailureKind::InvalidParams, message: refused.message() }
}

fn again(tool: &Tool) -> ! {
    panic!("{}.{} was polled after its answer", tool.server, tool.name)
}

impl State {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<Reply, ToolError>> {
        if let State::Idle(site) = self {
            site.polled();
            let sent = checked(|| input.to_json()).map_err(|refused| invalid(&refused));
            match sent.and_then(|arguments| Ticket::send(&tool.mark, &arguments)) {
                Ok(ticket) => *self = State::Sent(ticket),
                Err(failure) => return Poll::Ready(Err(ToolError::from_failure(failure, tool))),
            }
        }
        let State::Sent(ticket) = self else { again(tool) };
        let answer = match ticket.poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(answer) => answer,
        };
        *self = State::Done;
        Poll::Ready(match answer {
            Ok(result) => read(&result, tool),
            Err(failure) => Err(ToolError::from_failure(failure, tool)),
        })
    }
}
