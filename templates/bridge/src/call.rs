//! A tool call as a future, used by generated stubs.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::answer::{Answer, Reply, read};
use crate::client::Ticket;
use crate::convert::{FromJson, Reader, Refused, ToJson, checked, named, taken_unfit};
use crate::error::ToolError;
use crate::result::ToolResult;
use crate::tool::Tool;
use crate::unmade::Site;
use crate::wire::{CallFailure, FailureKind};

/// A call that is sent on the first poll and cancelled if dropped before its answer.
#[derive(Debug)]
pub struct Pending {
    state: State,
    /// The reason why an argument prevents sending the call.
    unfit: Option<Box<Refused>>,
    /// Whether the result's type accepts any answer.
    unchecked: bool,
}

#[derive(Debug)]
enum State {
    Idle(Site),
    Sent(Ticket),
    Answered(Box<Answer>),
    Done,
}

/// A generated call.
pub trait Call: Unpin {
    /// The call, its tool and its arguments. Only code that can poll the call refers to the tool.
    fn parts(&mut self) -> (&mut Pending, &'static Tool, &dyn ToJson);
}

/// A call whose result is the whole answer.
#[derive(Debug)]
#[must_use = "a call does nothing until it is awaited: add `.await?`"]
pub struct Raw<C>(C);

impl<C: Call> Raw<C> {
    /// Makes the call's result the whole answer.
    pub fn new(call: C) -> Self {
        Raw(call)
    }
}

impl<C: Call> Future for Raw<C> {
    type Output = Result<ToolResult, ToolError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (pending, tool, input) = self.get_mut().0.parts();
        pending.poll_whole(context, tool, input)
    }
}

impl Pending {
    /// Creates an unsent call of a tool, after its arguments.
    #[must_use]
    #[track_caller]
    pub fn new(server: &'static str, tool: &'static str) -> Self {
        Pending { state: State::Idle(Site::built(server, tool)), unfit: taken_unfit(), unchecked: false }
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
    /// Returns the errors of the call; an answer of another type is reported with how to widen the type.
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

    /// Like [`Pending::poll`], for a type that accepts any answer.
    ///
    /// # Errors
    /// Returns the errors of the call.
    ///
    /// # Panics
    /// As for [`Pending::poll`].
    pub fn poll_unchecked<O: FromJson>(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<O, ToolError>> {
        self.unchecked = true;
        self.poll(context, tool, input)
    }

    /// Like [`Pending::poll`], for a tool without an output schema.
    ///
    /// # Errors
    /// Returns the errors of the call.
    ///
    /// # Panics
    /// As for [`Pending::poll`].
    pub fn poll_untyped(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<ToolResult, ToolError>> {
        self.reply(context, tool, input).map(|reply| reply?.untyped(tool))
    }

    /// Like [`Pending::poll`], for the whole answer, whatever it is.
    ///
    /// # Errors
    /// Returns the errors of the call.
    ///
    /// # Panics
    /// As for [`Pending::poll`].
    pub fn poll_whole(
        &mut self,
        context: &mut Context<'_>,
        tool: &'static Tool,
        input: &dyn ToJson,
    ) -> Poll<Result<ToolResult, ToolError>> {
        self.reply(context, tool, input).map(|reply| Ok(reply?.whole(tool)))
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
        let answer = match reply {
            Ok(reply) if self.unchecked => Answer::unchecked(reply, tool),
            Ok(reply) => Answer::of(reply, tool),
            Err(error) => Answer::failed(error),
        };
        self.state = State::Answered(Box::new(answer));
        match &mut self.state {
            State::Answered(answer) => Some(&mut answer.reader),
            _ => None,
        }
    }

    /// Returns the reason why the value read from the answer is invalid.
    fn error(&mut self, tool: &Tool) -> ToolError {
        let State::Answered(answer) = std::mem::replace(&mut self.state, State::Done) else { again(tool) };
        answer.error(tool)
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
