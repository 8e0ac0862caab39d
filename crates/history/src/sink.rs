//! Records what happens in an execution: its phases, its calls, and the questions to the user.

use runner::{Answer, Asked, CallBegun, CallFailure, Event, QuestionKind, Sink};

use crate::event::{self, CALLS, Step};
use crate::record::PhaseStart;
use crate::recorder::RecordedExecution;
use crate::tokens::Direct;

impl Sink for RecordedExecution {
    fn note(&self, event: &Event<'_>) {
        let at = self.elapsed();
        let step = match event {
            Event::Phase(phase) => Step::Phase(PhaseStart { phase: phase.words().to_owned(), at_ms: at }),
            Event::Asked(asked) => Step::Asked { number: asked.number, at, asked: self.kept(asked) },
            Event::Answered(answered) => {
                let (number, answer, by) = (answered.number, answered.answer, answered.by);
                Step::Answered { number, at, answer, by }
            }
            Event::CallBegan(call) if is_listed(call.number) => self.began(at, call),
            Event::CallSent(number) if is_listed(*number) => Step::CallSent { number: *number, at },
            Event::CallAnswered(number, answer) if is_listed(*number) => self.answer(*number, answer),
            Event::CallEnded(number, record) if is_listed(*number) => Step::ended(*number, at, record),
            Event::CallEnded(..) => Step::UnlistedCallEnded,
            _ => return,
        };
        self.step(step);
    }
}

impl RecordedExecution {
    fn began(&self, at: f64, call: &CallBegun<'_>) -> Step {
        let CallBegun { number, server, tool, arguments } = *call;
        let (server, tool, arguments) = (server.to_owned(), tool.to_owned(), self.arguments(arguments));
        Step::CallBegan { number, at, server, tool, arguments }
    }

    fn answer(&self, number: u64, answer: &Result<Answer, CallFailure>) -> Step {
        let (error, direct) = match answer {
            Ok(answer) => (answer.is_error.then_some("tool_error"), self.direct(&answer.result)),
            Err(failure) => (Some(failure.kind.as_str()), Direct::Nothing),
        };
        Step::CallAnswered { number, error, direct }
    }

    /// A question as it is kept: the arguments of a call only if arguments are kept in full.
    fn kept(&self, asked: &Asked<'_>) -> event::Asked {
        let is_whole = asked.about != QuestionKind::Call || self.keeps_arguments();
        let text = if is_whole { asked.text } else { asked.short };
        event::Asked { about: asked.about.word(), tools: asked.tools.to_vec(), text: text.to_owned() }
    }
}

fn is_listed(number: u64) -> bool {
    number < CALLS
}
