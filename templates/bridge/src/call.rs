//! A tool call as a future: what generated stubs hold.

use std::task::{Context, Poll};

use crate::client::Ticket;
use crate::convert::{FromJson, Reader, Refused, ToJson, checked, unfit};
use crate::error::ToolError;
use crate::result::{Reply, ToolResult, mismatch, read, reader};
use crate::tool::Tool;
use crate::unmade::Site;
use crate::wire::{CallFailure, FailureKind};

/// A call that is sent on the first poll and cancelled when dropped before its answer.
#[derive(Debug)]
pub struct Pending {
    state: State,
    /// Why it can't be sent: the first argument that is not what the tool takes.
    refused: Option<Box<Refused>>,
}

#[derive(Debug)]
enum State {
    Idle(Site),
    Sent(Ticket),
    Answered(Box<Answer>),
    Done,
}

/// An answer that is read: where the call failed, as nothing.
#[derive(Debug)]
struct Answer {
    reader: Reader,
    error: Option<ToolError>,
}

impl Pending {
    /// A call of a tool that has not been sent, built where this is called.
    #[must_use]
    #[track_caller]
    pub fn new(server: &'static str, tool: &'static str) -> Self {
        Pending { state: State::Idle(Site::built(server, tool)), refused: unfit() }
    }

    /// Takes note of what was found of an argument that was just converted.
    pub fn converted(&mut self) {
        let unfit = unfit();
        self.refused = self.refused.take().or(unfit);
    }

    /// Sends the call at first, then looks for its answer.
    ///
    /// # Panics
    /// When polled again after it was ready, as futures may.
    // Compiled for every output: a drop of what was read that nothing follows is the shortest.
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

    /// As [`Pending::poll`] for a tool that does not say what it answers with: the type was observed in its answers.
    ///
    /// # Errors
    /// Those of the call; an answer of another type is told with what widens it.
    ///
    /// # Panics
    /// As [`Pending::poll`].
    pub fn poll_observed<O: FromJson>(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<O, ToolError>> {
        self.poll(context, tool, input).map_err(ToolError::of_observed)
    }

    /// As [`Pending::poll`] for a tool that does not say what it answers with.
    ///
    /// # Errors
    /// Those of the call.
    ///
    /// # Panics
    /// As [`Pending::poll`].
    pub fn poll_untyped(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<ToolResult, ToolError>> {
        self.state.poll(context, tool, input, &mut self.refused).map(|reply| ToolResult::of(reply?, tool))
    }

    /// The answer, once it is there.
    fn answer(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Option<&mut Reader> {
        let Poll::Ready(reply) = self.state.poll(context, tool, input, &mut self.refused) else {
            return None;
        };
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

    /// Why what was read of the answer counts for nothing.
    fn error(&mut self, tool: &Tool) -> ToolError {
        let State::Answered(answer) = std::mem::replace(&mut self.state, State::Done) else { again(tool) };
        let Answer { reader, error } = *answer;
        error.unwrap_or_else(|| mismatch(reader, tool))
    }
}

/// The failure of a call whose arguments have no form in JSON.
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
        refused: &mut Option<Box<Refused>>,
    ) -> Poll<Result<Reply, ToolError>> {
        if let State::Idle(site) = self {
            site.polled();
            let sent = match refused.take() {
                Some(refused) => Err(invalid(&refused)),
                None => checked(|| input.to_json()).map_err(|refused| invalid(&refused)),
            };
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
            Ok(raw) => read(raw.get(), tool),
            Err(failure) => Err(ToolError::from_failure(failure, tool)),
        })
    }
}
