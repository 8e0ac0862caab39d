//! A tool call as a future: what generated stubs hold.

use std::task::{Context, Poll};

use crate::client::Ticket;
use crate::convert::{FromJson, Reader, Refused, ToJson, checked, named, taken_unfit};
use crate::error::ToolError;
use crate::result::{Reply, ToolResult, mismatch, read, reader};
use crate::tool::Tool;
use crate::unmade::Site;
use crate::wire::{CallFailure, FailureKind};

/// A call that is sent on the first poll and cancelled when dropped before its answer.
#[derive(Debug)]
pub struct Pending {
    state: State,
    /// Why it can't be sent, as an argument that it was built with says.
    unfit: Option<Box<Refused>>,
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
    /// A call of a tool that has not been sent, built where this is called, after its arguments.
    #[must_use]
    #[track_caller]
    pub fn new(server: &'static str, tool: &'static str) -> Self {
        Pending { state: State::Idle(Site::built(server, tool)), unfit: taken_unfit() }
    }

    /// An argument that is added to the call, made for the field `key`.
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
        self.reply(context, tool, input).map(|reply| ToolResult::of(reply?, tool))
    }

    fn reply(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<Reply, ToolError>> {
        if let State::Idle(site) = self.state
            // Also where nothing has named the argument.
            && let Some(unfit) = self.unfit.take().or_else(taken_unfit)
        {
            site.polled();
            self.state = State::Done;
            return Poll::Ready(Err(ToolError::from_failure(invalid(&unfit), tool)));
        }
        self.state.poll(context, tool, input)
    }

    /// The answer, once it is there.
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
            Ok(raw) => read(raw.get(), tool),
            Err(failure) => Err(ToolError::from_failure(failure, tool)),
        })
    }
}
