//! From what is left of a run to its status: which limit, which signal, whose error.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use bridge::wire::{ErrorReport, Finish, PanicReport};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::broker::{CONTENT_LIMIT, Ledger, Violation};
use crate::outcome::{Failure, Outcome, Status};
use crate::policies::Limits;
use crate::program::Ended;

/// Sets status, result and error of a program that has ended.
pub(crate) fn ended(
    outcome: &mut Outcome,
    ended: &Ended,
    ledger: &mut Ledger,
    limits: &Limits,
    ran: Duration,
) {
    match ended {
        Ended::Exited(status) => exited(outcome, *status, ledger, limits, ran),
        Ended::Output => {
            let limit = limits.output;
            let message = format!("it printed more than {limit} bytes and was stopped");
            let evidence = json!({ "limit": "output", "bytes": limit });
            outcome.fail(Status::OutputLimit, Failure::new("output", message, evidence));
        }
        Ended::Violation(Violation::Content) => {
            let evidence = json!({ "limit": "content", "bytes": CONTENT_LIMIT });
            outcome
                .fail(Status::OutputLimit, Failure::new("content", Violation::Content.to_string(), evidence));
        }
        Ended::Violation(violation) => {
            let failure = Failure::new("protocol", violation.to_string(), json!({}));
            outcome.fail(Status::SandboxViolation, failure);
        }
    }
}

/// Sets status and error of a run that was out of time.
pub(crate) fn timed_out(outcome: &mut Outcome, timeout: Duration, phase: &str) {
    let seconds = timeout.as_secs_f64();
    let message = format!("it was stopped after {seconds} s, while {phase}");
    let evidence = json!({ "limit": "wall_clock", "seconds": seconds, "phase": phase });
    outcome.fail(Status::Timeout, Failure::new("wall_clock", message, evidence));
}

/// Sets status and error of a run that was ended from outside.
pub(crate) fn cancelled(outcome: &mut Outcome, phase: &str) {
    let message = format!("it was cancelled while {phase}");
    outcome.fail(Status::Cancelled, Failure::new("cancelled", message, json!({ "phase": phase })));
}

fn exited(outcome: &mut Outcome, status: ExitStatus, ledger: &mut Ledger, limits: &Limits, ran: Duration) {
    match (ledger.finish.take(), status.code()) {
        (Some(Finish::Ok { result }), Some(0)) => {
            outcome.status = Status::Ok;
            outcome.result = (result.get() != "null").then_some(result);
        }
        (Some(Finish::Error(report)), _) => error(outcome, report),
        (Some(Finish::Panic(report)), _) => panicked(outcome, report),
        (_, Some(0)) => outcome.status = Status::Ok,
        (_, Some(code)) => {
            let message = format!("it exited with code {code}");
            let failure = Failure::new("exit", message, json!({ "code": code }));
            outcome.fail(Status::RuntimeError, failure);
        }
        (_, None) => signalled(outcome, status.signal().unwrap_or(0), limits, ran),
    }
}

fn error(outcome: &mut Outcome, report: ErrorReport) {
    let denied = report.tool.as_ref().is_some_and(|tool| tool.kind == "denied");
    let evidence = json!({ "tool": report.tool });
    let (status, kind) = match (denied, &report.tool) {
        (true, _) => (Status::Denied, "denied"),
        (false, Some(_)) => (Status::RuntimeError, "tool"),
        (false, None) => (Status::RuntimeError, "error"),
    };
    outcome.fail(status, Failure::new(kind, shortened(report.message), evidence));
}

/// A message that is no longer than what programs that keep to the rules send.
fn shortened(mut message: String) -> String {
    const LIMIT: usize = 66 << 10;
    message.truncate(message.floor_char_boundary(LIMIT));
    message
}

fn panicked(outcome: &mut Outcome, report: PanicReport) {
    let PanicReport { message, line, column } = report;
    let evidence = json!({ "line": line, "column": column });
    outcome.fail(Status::Panic, Failure::new("panic", shortened(message), evidence));
}

fn signalled(outcome: &mut Outcome, signal: i32, limits: &Limits, ran: Duration) {
    // A program that ignores SIGXCPU is killed a second later.
    let outlived_cpu = signal == Signal::KILL.as_raw() && ran.as_secs() >= limits.cpu_seconds;
    let (status, failure) = if signal == Signal::XCPU.as_raw() || outlived_cpu {
        let seconds = limits.cpu_seconds;
        let message = format!("it used more than {seconds} s of processor time");
        (Status::Timeout, Failure::new("cpu", message, json!({ "limit": "cpu", "seconds": seconds })))
    } else if signal == Signal::SYS.as_raw() {
        let message = "it made a system call that the sandbox kills for";
        (Status::SandboxViolation, Failure::new("syscall", message, json!({ "signal": signal })))
    } else if signal == Signal::ABORT.as_raw() {
        aborted(&outcome.stderr, limits)
    } else {
        let message = format!("it was ended by signal {signal}");
        (Status::RuntimeError, Failure::new("signal", message, json!({ "signal": signal })))
    };
    outcome.fail(status, failure);
}

/// The standard library aborts where it has no memory or no stack, and says so last.
fn aborted(stderr: &str, limits: &Limits) -> (Status, Failure) {
    let last = stderr.lines().rev().take(8);
    let wanted = last
        .clone()
        .find_map(|line| line.strip_prefix("memory allocation of ")?.split(' ').next()?.parse::<u64>().ok());
    if let Some(wanted) = wanted {
        let limit = limits.memory;
        let message = format!("it wanted {wanted} more bytes of memory; the limit is {limit} in all");
        let evidence = json!({ "limit": "memory", "bytes": limit, "wanted": wanted });
        return (Status::MemoryLimit, Failure::new("memory", message, evidence));
    }
    if last.clone().any(|line| line.contains("has overflowed its stack")) {
        let message = "its stack overflowed: endless or very deep recursion, or large values on the stack";
        let evidence = json!({ "limit": "stack" });
        return (Status::MemoryLimit, Failure::new("stack_overflow", message, evidence));
    }
    let signal = Signal::ABORT.as_raw();
    (Status::RuntimeError, Failure::new("signal", "it aborted", json!({ "signal": signal })))
}

/// A program that could call what it may not: refused before anything runs.
pub(crate) fn refused(outcome: &mut Outcome, message: String, evidence: Value) {
    outcome.fail(Status::Denied, Failure::new("denied", message, evidence));
}
