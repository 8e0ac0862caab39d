//! An outcome for users: the result on standard output, everything else on standard error.

use std::fmt::Write as _;

use runner::{Failure, Outcome, Status, size};
use serde_json::Value;
use serde_json::value::RawValue;
use snippet::Diagnostic;

/// Limit on a value that is shown on one line if its lines would be few, in bytes.
const ONE_LINE: usize = 100;
/// Limit on a value that is laid out over several lines, in characters: indentation takes up to half more tokens.
const LAID_OUT: usize = 2_000;

/// The text for standard output after the program's own output.
pub fn result(outcome: &Outcome) -> Option<String> {
    let raw = outcome.result.as_ref()?;
    match raw.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw.get()).ok(),
        // Numbers keep their text.
        _ if strict_json::value_with_numbers(raw).is_ok() => Some(json(raw)),
        // A value that is nested too deeply to parse is shown unchanged.
        _ => Some(raw.get().to_owned()),
    }
}

/// A value on one line if it fits there, over several lines if these are short enough, or else on one line again.
fn json(raw: &RawValue) -> String {
    let compact =
        strict_json::canonical(raw).map_or_else(|_| raw.get().to_owned(), |raw| raw.get().to_owned());
    if compact.len() <= ONE_LINE {
        return compact;
    }
    // A character has at most four bytes.
    let lines = strict_json::lines(raw, LAID_OUT * 4);
    let fits = !lines.is_cut && lines.text.chars().count() < LAID_OUT;
    if fits { lines.text } else { compact }
}

/// One line for each content part that the program emitted; texts are unchanged.
pub fn content(outcome: &Outcome) -> Vec<String> {
    let parts = outcome.content.iter().filter_map(|part| serde_json::from_str::<Value>(part.get()).ok());
    parts
        .map(|part| match part["text"].as_str() {
            Some(text) => text.to_owned(),
            None => {
                let kind = part["type"].as_str().unwrap_or("content");
                let mime = part["mimeType"].as_str().unwrap_or("of unknown type");
                let bytes = part["data"].as_str().map_or(0, |data| data.len() / 4 * 3);
                printable::prose(&format!("[{kind} {mime}, about {}; --json prints it]", size(bytes)))
            }
        })
        .collect()
}

/// Whether a refused system call can be the reason why a program failed. An error that names no system error is not
/// caused by one: std itself reads optional files, such as `/proc/self/cgroup`. The text is all that is known of a
/// snippet's error, which may be of any type; `(os error N)` is std's notation for a system error's number.
fn may_be_refusal(error: &Failure) -> bool {
    error.kind != "error" || error.message.contains("(os error ")
}

/// Describes why the outcome is not `ok`, with the compiler's messages.
pub fn trouble(outcome: &Outcome) -> Option<String> {
    let error = outcome.error.as_ref()?;
    let mut text = messages(&outcome.diagnostics);
    // Writing to a string does not fail.
    // An error at a place of the program says itself what was denied.
    let is_own = outcome.status == Status::Denied && error.evidence["line"].is_u64();
    let status = if is_own { Status::RuntimeError } else { outcome.status };
    let _ = write!(text, "{}: {}", name(status), error.message);
    if let (Some(line), Some(column)) = (error.evidence["line"].as_u64(), error.evidence["column"].as_u64()) {
        let _ = write!(text, " (line {line}, column {column})");
    } else if let (Some(program), Some(line)) =
        (error.evidence["program"].as_str(), error.evidence["line"].as_u64())
    {
        let _ = write!(text, " (saved program {program}, line {line})");
    }
    if !outcome.sandbox.refused.is_empty() && may_be_refusal(error) {
        let refused = &outcome.sandbox.refused;
        let _ = write!(text, "; the sandbox refused these system calls: {}", refused.join(", "));
        advice(refused).into_iter().for_each(|advice| text.extend(["; ", advice]));
    }
    for (calls, noun, done) in
        [(outcome.calls_total, "tool call", "made"), (outcome.calls_refused.total(), "call", "refused")]
    {
        if calls > 0 {
            let were = if calls == 1 { "was" } else { "were" };
            let _ = write!(text, "; {} {were} {done}", report::count(calls, noun));
        }
    }
    Some(text)
}

/// Advice about refused system calls.
fn advice(refused: &[String]) -> Option<&'static str> {
    let is_any = |calls: &[&str]| refused.iter().any(|call| calls.contains(&call.as_str()));
    if is_any(&["socket", "connect"]) {
        return Some("a snippet has no network: call a tool instead");
    }
    if is_any(&["fork", "vfork", "clone", "clone3", "execve", "execveat"]) {
        return Some("a snippet starts no programs: call a tool instead");
    }
    let of_files = ["open", "openat", "openat2", "stat", "statx", "newfstatat", "mkdir", "unlink", "rename"];
    is_any(&of_files).then_some(
        "a snippet sees only the files that `codeMode.sandbox.read` grants: call a tool, or grant the path",
    )
}

/// The compiler's messages, each followed by its hint.
pub fn messages(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", diagnostic.rendered.trim_end());
        if let Some(hint) = &diagnostic.hint {
            let _ = writeln!(text, "help: {}", hint.replace('\n', "\n      "));
        }
        let _ = writeln!(text);
    }
    text
}

fn name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::CompileError => "the snippet does not compile",
        Status::RuntimeError => "the snippet failed",
        Status::Panic => "the snippet panicked",
        Status::Timeout => "time limit",
        Status::MemoryLimit => "memory limit",
        Status::OutputLimit => "output limit",
        Status::Denied => "denied",
        Status::SandboxViolation => "stopped by the sandbox",
        Status::Cancelled => "cancelled",
        Status::Busy => "busy",
    }
}

/// A duration in milliseconds, as outcomes contain it.
pub fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_values_of_some_lines_are_laid_out() {
        let shown = |value: Value| {
            let mut outcome = Outcome::busy("");
            outcome.result = RawValue::from_string(value.to_string()).ok();
            result(&outcome).unwrap()
        };
        assert_eq!(shown(json!({ "a": [1, { "b": null }] })), r#"{"a":[1,{"b":null}]}"#);
        let words = vec!["some words"; 20];
        assert_eq!(shown(json!(words)), format!("[\n  {}\n]", vec!["\"some words\""; 20].join(",\n  ")));
        let words = vec!["some words"; 150];
        assert_eq!(shown(json!(words)), json!(words).to_string());
        assert_eq!((shown(json!("a\nb")), shown(json!("ä".repeat(90)))), ("a\nb".to_owned(), "ä".repeat(90)));
    }

    #[test]
    fn a_refused_system_call_is_named_only_if_it_can_be_the_cause() {
        let is_named = |kind: &str, message: &str| {
            let mut outcome = Outcome::busy(message);
            outcome.sandbox.refused = vec!["open".to_owned()];
            if let Some(error) = &mut outcome.error {
                error.kind = kind.to_owned();
            }
            trouble(&outcome)
                .is_some_and(|text| text.contains("the sandbox refused these system calls: open"))
        };
        assert!(!is_named("error", "no such order"));
        assert!(is_named("error", "notes.txt: Operation not permitted (os error 1)"));
        assert!(is_named("signal", "it was killed"));
    }
}
