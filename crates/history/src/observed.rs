//! Records what a run reports to its observer: its phases and its calls.

use futures::future::BoxFuture;
use runner::{Answer, CallBegun, CallFailure, CallRecord, Observer, Phase};

use crate::event::{CALLS, Step};
use crate::record::PhaseStart;
use crate::recorder::RecordedExecution;
use crate::tokens::Direct;

/// Passes everything on to another observer, and records phases and calls.
pub struct Observed<'a> {
    execution: &'a RecordedExecution,
    observer: &'a dyn Observer,
}

impl RecordedExecution {
    /// Observes a run, and passes everything on to `observer`.
    pub fn observe<'a>(&'a self, observer: &'a dyn Observer) -> Observed<'a> {
        Observed { execution: self, observer }
    }
}

impl Observer for Observed<'_> {
    fn progress(&self, message: &str) {
        self.observer.progress(message);
    }

    fn step(&self, done: usize, total: usize, message: &str) {
        self.observer.step(done, total, message);
    }

    fn takes_output(&self) -> BoxFuture<'_, ()> {
        self.observer.takes_output()
    }

    fn stdout(&self, bytes: &[u8]) {
        self.observer.stdout(bytes);
    }

    fn stderr(&self, bytes: &[u8]) {
        self.observer.stderr(bytes);
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        self.observer.program_progress(done, total, message);
    }

    fn phase(&self, phase: Phase) {
        let start = PhaseStart { phase: phase.words().to_owned(), at_ms: self.execution.elapsed() };
        self.execution.step(Step::Phase(start));
        self.observer.phase(phase);
    }

    fn call_began(&self, call: &CallBegun<'_>) {
        if is_listed(call.number) {
            self.execution.step(Step::CallBegan {
                number: call.number,
                at: self.execution.elapsed(),
                server: call.server.to_owned(),
                tool: call.tool.to_owned(),
                arguments: self.execution.arguments(call.arguments),
            });
        }
        self.observer.call_began(call);
    }

    fn call_sent(&self, number: u64) {
        if is_listed(number) {
            self.execution.step(Step::CallSent { number, at: self.execution.elapsed() });
        }
        self.observer.call_sent(number);
    }

    fn call_answered(&self, number: u64, answer: &Result<Answer, CallFailure>) {
        if is_listed(number) {
            let (error, direct) = match answer {
                Ok(answer) => {
                    (answer.is_error.then_some("tool_error"), self.execution.direct(&answer.result))
                }
                Err(failure) => (Some(failure.kind.as_str()), Direct::Nothing),
            };
            self.execution.step(Step::CallAnswered { number, error, direct });
        }
        self.observer.call_answered(number, answer);
    }

    fn call_ended(&self, number: u64, record: &CallRecord) {
        self.execution.step(match is_listed(number) {
            true => Step::ended(number, self.execution.elapsed(), record),
            false => Step::UnlistedCallEnded,
        });
        self.observer.call_ended(number, record);
    }
}

fn is_listed(number: u64) -> bool {
    number < CALLS
}
