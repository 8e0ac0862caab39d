//! Determines the status of a run that ended: which limit, which signal, whose error.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use bridge::size::size;
use bridge::wire::{ErrorReport, Finish, PanicReport};
use rustix::process::Signal;
use serde_json::{Value, json};
use snippet::diagnostics;

use crate::broker::{CONTENT_LIMIT, ProgramRecord, Violation};
use crate::outcome::{Failure, Outcome, Status};
use crate::program::ProgramEnd;
use crate::sandbox_policies::Limits;

/// The facts about a run in addition to the exit status.
pub(crate) struct Facts<'a> {
    pub(crate) limits: &'a Limits,
    /// The snippet as it was sent.
    pub(crate) text: &'a str,
    /// The sandbox's observations.
    pub(crate) evidence: &'a sandbox::Evidence,
}

/// Sets status, result and error of a program that has ended.
pub(crate) fn ended(
    outcome: &mut Outcome,
    ended: &ProgramEnd,
    ledger: &mut ProgramRecord,
    facts: &Facts<'_>,
) {
    match ended {
        ProgramEnd::Exited(status) => exited(outcome, *status, ledger, facts),
        ProgramEnd::Output => {
            let limit = facts.limits.output;
            let shown = size(limit);
            let message = format!(
                "it printed more than {shown} and was stopped; print less, or raise codeMode.sandbox.output"
            );
            let evidence = json!({ "limit": "output", "bytes": limit });
            outcome.fail(Status::OutputLimit, Failure::new("output", message, evidence));
        }
        ProgramEnd::Violation(Violation::Content) => {
            let evidence = json!({ "limit": "content", "bytes": CONTENT_LIMIT });
            outcome
                .fail(Status::OutputLimit, Failure::new("content", Violation::Content.to_string(), evidence));
        }
        ProgramEnd::Violation(violation) => {
            let failure = Failure::new("protocol", violation.to_string(), json!({}));
            outcome.fail(Status::SandboxViolation, failure);
        }
    }
}

/// Sets status and error of a run that exceeded its time limit.
pub(crate) fn timed_out(outcome: &mut Outcome, timeout: Duration, phase: &str) {
    let seconds = timeout.as_secs_f64();
    let message = format!(
        "it was stopped after {seconds} s, while {phase}; do less at once, or raise the time limit: --timeout, \
         codeMode.sandbox.wallClock, or the timeout of execute_code (at most codeMode.maxTimeout)"
    );
    let evidence = json!({ "limit": "wall_clock", "seconds": seconds, "phase": phase });
    outcome.fail(Status::Timeout, Failure::new("wall_clock", message, evidence));
}

/// Sets status and error of a run that was cancelled.
pub(crate) fn cancelled(outcome: &mut Outcome, phase: &str) {
    let message = format!("it was cancelled while {phase}");
    outcome.fail(Status::Cancelled, Failure::new("cancelled", message, json!({ "phase": phase })));
}

/// System calls by name, or by number if they have none.
pub(crate) fn names(calls: &BTreeSet<u32>) -> Vec<String> {
    calls.iter().map(|&number| name(number)).collect()
}

fn name(number: u32) -> String {
    sandbox::system_call_name(number).map_or_else(|| format!("number {number}"), str::to_owned)
}

/// Adds to the evidence how far a stopped program had come; `printed` is the size of its standard output in bytes.
pub(crate) fn add_progress(outcome: &mut Outcome, printed: usize) {
    let calls = outcome.calls_total;
    let Some(Value::Object(evidence)) = outcome.error.as_mut().map(|error| &mut error.evidence) else {
        return;
    };
    if ["limit", "signal", "phase"].iter().any(|key| evidence.contains_key(*key)) {
        evidence.insert("calls".to_owned(), calls.into());
        evidence.insert("stdout_bytes".to_owned(), printed.into());
    }
}

fn exited(outcome: &mut Outcome, status: ExitStatus, ledger: &mut ProgramRecord, facts: &Facts<'_>) {
    match (ledger.finish.take(), status.code()) {
        (Some(Finish::Ok { result, unmade }), Some(0)) => {
            outcome.status = Status::Ok;
            diagnostics::add_unmade(&mut outcome.diagnostics, unmade, facts.text);
            outcome.result = result;
        }
        (Some(Finish::Error(report)), _) => error(outcome, report),
        (Some(Finish::Panic(report)), _) => panicked(outcome, report, facts.limits),
        (_, Some(0)) => outcome.status = Status::Ok,
        (_, Some(code)) => {
            let message = format!("it exited with code {code}");
            let failure = Failure::new("exit", message, json!({ "code": code }));
            outcome.fail(Status::RuntimeError, failure);
        }
        (_, None) => signalled(outcome, status.signal().unwrap_or(0), facts),
    }
}

fn error(outcome: &mut Outcome, report: ErrorReport) {
    let denied = report.tool.as_ref().is_some_and(|tool| matches!(tool.kind.as_str(), "denied" | "flow"));
    let mut evidence = json!({ "tool": report.tool });
    if let (Some(line), Some(column)) = (report.line, report.column) {
        evidence["line"] = line.into();
        evidence["column"] = column.into();
    }
    let (status, kind) = match (denied, &report.tool) {
        (true, _) => (Status::Denied, "denied"),
        (false, Some(_)) => (Status::RuntimeError, "tool"),
        (false, None) => (Status::RuntimeError, "error"),
    };
    outcome.fail(status, Failure::new(kind, shortened(report.message), evidence));
}

/// Truncates a message to the length that well-behaved programs send.
fn shortened(mut message: String) -> String {
    const LIMIT: usize = 66 << 10;
    message.truncate(message.floor_char_boundary(LIMIT));
    message
}

fn panicked(outcome: &mut Outcome, report: PanicReport, limits: &Limits) {
    let PanicReport { message, line, column } = report;
    let mut message = shortened(message);
    let mut evidence = json!({ "line": line, "column": column });
    if NO_THREAD.iter().any(|sign| message.starts_with(sign)) {
        add_thread_limits(&mut message, &mut evidence, limits);
    }
    outcome.fail(Status::Panic, Failure::new("panic", message, evidence));
}

/// Prefixes of the standard library's panics if a thread cannot be started (std::thread::spawn), or has no memory for
/// its signal stack; the latter aborts.
const NO_THREAD: [&str; 3] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
];

fn add_thread_limits(message: &mut String, evidence: &mut Value, limits: &Limits) {
    let Limits { threads, memory, .. } = limits;
    let shown = shown(*memory);
    message.push_str(&format!(
        "; the limits are {threads} threads and {shown} of memory (codeMode.sandbox.threads, codeMode.sandbox.memory)"
    ));
    evidence["limit"] = "threads".into();
    evidence["threads"] = (*threads).into();
    evidence["bytes"] = (*memory).into();
}

fn signalled(outcome: &mut Outcome, signal: i32, facts: &Facts<'_>) {
    let Facts { limits, evidence, .. } = facts;
    let is_killed = signal == Signal::KILL.as_raw();
    // A program that ignores SIGXCPU is killed a second later.
    let outlived_cpu = is_killed && evidence.processor_time.as_secs() >= limits.cpu_seconds;
    let (status, failure) = if evidence.out_of_memory {
        let bytes = limits.memory;
        let shown = shown(bytes);
        let message = format!("it used more than {shown} of memory and was killed; {LESS_MEMORY}");
        let evidence = json!({ "limit": "memory", "bytes": bytes });
        (Status::MemoryLimit, Failure::new("memory", message, evidence))
    } else if signal == Signal::XCPU.as_raw() || outlived_cpu {
        let seconds = limits.cpu_seconds;
        let message = format!(
            "it used more than {seconds} s of processor time; compute less, or raise codeMode.sandbox.cpu"
        );
        (Status::Timeout, Failure::new("cpu", message, json!({ "limit": "cpu", "seconds": seconds })))
    } else if is_killed && evidence.out_of_tasks {
        let threads = limits.threads;
        let message = format!(
            "it had more than {threads} threads and was killed; start fewer, or raise codeMode.sandbox.threads"
        );
        let evidence = json!({ "limit": "threads", "threads": threads });
        (Status::SandboxViolation, Failure::new("threads", message, evidence))
    } else if signal == Signal::SYS.as_raw() {
        (Status::SandboxViolation, forbidden(signal, evidence.fatal))
    } else if signal == Signal::ABORT.as_raw() {
        aborted(&outcome.stderr, limits)
    } else {
        let message = format!("it was killed by signal {signal}");
        (Status::RuntimeError, Failure::new("signal", message, json!({ "signal": signal })))
    };
    outcome.fail(status, failure);
}

/// Advice for programs that ran out of memory.
const LESS_MEMORY: &str = "hold less at once, or raise codeMode.sandbox.memory";

/// A size in bytes as shown in messages.
fn shown(bytes: u64) -> String {
    size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The failure of a program killed for a system call.
fn forbidden(signal: i32, call: Option<u32>) -> Failure {
    let (message, call) = match call.map(name) {
        Some(call) => (format!("it was killed for the forbidden system call {call}"), Value::from(call)),
        // A call of another interface, such as the 32-bit one.
        None => ("it was killed for a forbidden system call".to_owned(), Value::Null),
    };
    Failure::new("syscall", message, json!({ "signal": signal, "syscall": call }))
}

/// Classifies an abort: the last output of the standard library reports missing memory or stack.
fn aborted(stderr: &str, limits: &Limits) -> (Status, Failure) {
    let last = stderr.lines().rev().take(8);
    let requested = last
        .clone()
        // Possibly after partial output of another thread.
        .find_map(|line| line.split_once("memory allocation of ")?.1.split(' ').next()?.parse::<u64>().ok());
    if let Some(requested) = requested {
        let limit = limits.memory;
        let message = format!(
            "it needed {} more memory; the limit is {} in all; {LESS_MEMORY}",
            shown(requested),
            shown(limit)
        );
        let evidence = json!({ "limit": "memory", "bytes": limit, "wanted": requested });
        return (Status::MemoryLimit, Failure::new("memory", message, evidence));
    }
    if last.clone().any(|line| line.contains("has overflowed its stack")) {
        let message = "its stack overflowed: endless or very deep recursion, or large values on the stack";
        let evidence = json!({ "limit": "stack" });
        return (Status::MemoryLimit, Failure::new("stack_overflow", message, evidence));
    }
    let mut evidence = json!({ "signal": Signal::ABORT.as_raw() });
    if let Some(line) = last.clone().find(|line| NO_THREAD.iter().any(|sign| line.starts_with(sign))) {
        let mut message = shortened(line.to_owned());
        add_thread_limits(&mut message, &mut evidence, limits);
        return (Status::Panic, Failure::new("panic", message, evidence));
    }
    (Status::RuntimeError, Failure::new("signal", "it aborted", evidence))
}

/// The failure of a program that could call forbidden tools: refused before it runs.
pub(crate) fn refused(outcome: &mut Outcome, message: String, evidence: Value) {
    outcome.fail(Status::Denied, Failure::new("denied", message, evidence));
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;
    use std::time::Duration;

    use serde_json::json;

    use crate::broker::ProgramRecord;
    use crate::outcome::{Failure, Outcome, Status};
    use crate::program::ProgramEnd;
    use crate::sandbox_policies::Limits;

    use super::{Facts, aborted, ended};

    /// The status and error of a program that was killed.
    fn killed(evidence: &sandbox::Evidence) -> (Status, Option<Failure>) {
        let mut outcome = Outcome::new(Status::Ok);
        let facts = Facts { limits: &Limits::default(), text: "", evidence };
        let end = ProgramEnd::Exited(ExitStatus::from_raw(9));
        ended(&mut outcome, &end, &mut ProgramRecord::default(), &facts);
        (outcome.status, outcome.error)
    }

    #[test]
    fn a_killed_program_has_the_reason_that_the_sandbox_saw() {
        let none = sandbox::Evidence::default();
        let threads = sandbox::Evidence { out_of_tasks: true, ..none.clone() };
        let message =
            "it had more than 64 threads and was killed; start fewer, or raise codeMode.sandbox.threads";
        let failure = Failure::new("threads", message, json!({ "limit": "threads", "threads": 64 }));
        assert_eq!(killed(&threads), (Status::SandboxViolation, Some(failure)));
        // Also if its supervisor used the time, and if starting a thread failed before.
        let time = sandbox::Evidence { processor_time: Duration::from_secs(60), ..threads };
        let message = "it used more than 60 s of processor time; compute less, or raise codeMode.sandbox.cpu";
        let failure = Failure::new("cpu", message, json!({ "limit": "cpu", "seconds": 60 }));
        assert_eq!(killed(&time), (Status::Timeout, Some(failure)));
        let failure = Failure::new("signal", "it was killed by signal 9", json!({ "signal": 9 }));
        assert_eq!(killed(&none), (Status::RuntimeError, Some(failure)));
    }

    #[test]
    fn missing_memory_is_found_in_mixed_output() {
        for stderr in
            ["memory allocation of 544 bytes failed\n", "thread 'memory allocation of 544 bytes failed\n"]
        {
            let (status, failure) = aborted(stderr, &Limits::default());
            assert_eq!((status, &failure.evidence["wanted"]), (Status::MemoryLimit, &544.into()), "{stderr}");
        }
        assert_eq!(aborted("thread 'main' panicked\n", &Limits::default()).0, Status::RuntimeError);
    }
}
