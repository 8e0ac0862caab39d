//! What became of a snippet, as the command line and the servers give it back.
//!
//! The field names are a contract: later fields may be added, none renamed.

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::refused::CallsRefused;

/// How a snippet ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// By itself, with or without a result.
    Ok,
    /// It does not compile.
    CompileError,
    /// With an `Err`, or with an exit code other than 0.
    RuntimeError,
    /// With a panic.
    Panic,
    /// Out of time: wall clock or processor.
    Timeout,
    /// Out of memory or stack.
    MemoryLimit,
    /// It printed more than it may.
    OutputLimit,
    /// It could call what it may not, or ended with the refusal of a call.
    Denied,
    /// It made a system call that the sandbox kills for, or broke the broker's protocol.
    SandboxViolation,
    /// Ended from outside.
    Cancelled,
    /// Not tried: too much is under way.
    Busy,
}

impl fmt::Display for Status {
    /// As JSON has it, such as `compile_error`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The whole outcome of one snippet.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The value that it ended with, which may be `null`; nothing where it ended without one. JSON has `null` for both.
    pub result: Option<Box<RawValue>>,
    /// What it printed.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    /// The content parts that it emitted (MCP's `ContentBlock`).
    pub content: Vec<Box<RawValue>>,
    /// Why it is not `ok`.
    pub error: Option<Failure>,
    /// What the compiler says.
    pub diagnostics: Vec<Diagnostic>,
    /// Corrections that were made before it was compiled.
    pub fixes: Vec<Fix>,
    /// The tools that it can call, as `server.tool`.
    pub manifest: Vec<String>,
    /// The calls that it made and that have ended, at most [`CALLS_KEPT`](crate::CALLS_KEPT) of them. Those that were refused,
    /// or given up before they were sent, are not made.
    pub calls: Vec<CallRecord>,
    /// How many calls it made in all.
    pub calls_total: u64,
    /// Those that were refused before they reached a server.
    pub calls_refused: CallsRefused,
    /// Where the time went, in milliseconds.
    pub phases_ms: Phases,
    /// Whether its program had been compiled before.
    pub cached: bool,
    /// What was cut.
    pub truncated: Truncated,
    /// The sandbox that it ran in; of the compiler, where it did not run.
    pub sandbox: SandboxReport,
}

/// Why an outcome is not `ok`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The kind, finer than the status: `error`, `exit`, `wall_clock`, `cpu`, `stack_overflow`, …
    pub kind: String,
    /// What happened, in words.
    pub message: String,
    /// What is known of it: the limit and its value, the panic's line, the signal, the tool.
    pub evidence: Value,
}

/// A message of the compiler, in the snippet's own lines and columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`.
    pub level: String,
    /// The compiler's code, such as `E0308`.
    pub code: Option<String>,
    /// The message.
    pub message: String,
    /// Line of the snippet, from 1.
    pub line: u32,
    /// Column of the snippet in characters, from 1.
    pub column: u32,
    /// The message with the lines that it is about.
    pub rendered: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A correction of the snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Line of the snippet, from 1.
    pub line: u32,
    /// The line before.
    pub before: String,
    /// The line as it was compiled.
    pub after: String,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// Whether the tool answered without an error.
    pub ok: bool,
    /// How long it took, in milliseconds.
    pub ms: f64,
    /// Size of the answer, in bytes of JSON.
    pub bytes: usize,
}

/// Milliseconds by phase. Phases overlap: connecting, bindings and compiling go on side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Reading the snippet.
    pub parse: f64,
    /// Opening sessions.
    pub connect: f64,
    /// Building missing bindings.
    pub bindings: f64,
    /// Compiling and linking.
    pub compile: f64,
    /// Waiting for a person's permission, which counts against no limit.
    pub permission: f64,
    /// Running, without that.
    pub run: f64,
    /// All of it.
    pub total: f64,
}

/// What was cut from an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Truncated {
    /// Standard output was cut.
    pub stdout: bool,
    /// Standard error was cut.
    pub stderr: bool,
}

/// The sandbox, as it was really enforced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SandboxReport {
    /// The tier's name.
    pub tier: String,
    /// The layers that hold it.
    pub layers: Vec<String>,
    /// The system calls that the program was refused, by name; the kernel's word, not the program's.
    pub refused: Vec<String>,
}

impl Outcome {
    /// Of a snippet that was not tried, because too much is under way.
    #[must_use]
    pub fn busy(message: &str) -> Self {
        let mut outcome = Outcome::new(Status::Busy);
        outcome.error = Some(Failure::new("busy", message, Value::Object(serde_json::Map::new())));
        outcome
    }

    /// Of a snippet that was ended from outside before it was tried.
    #[must_use]
    pub fn cancelled() -> Self {
        let mut outcome = Outcome::new(Status::Cancelled);
        outcome.error = Some(Failure::new(
            "cancelled",
            "cancelled before the snippet was tried",
            Value::Object(serde_json::Map::new()),
        ));
        outcome
    }

    /// An outcome with nothing in it yet.
    pub(crate) fn new(status: Status) -> Self {
        Outcome {
            status,
            result: None,
            stdout: String::new(),
            stderr: String::new(),
            content: Vec::new(),
            error: None,
            diagnostics: Vec::new(),
            fixes: Vec::new(),
            manifest: Vec::new(),
            calls: Vec::new(),
            calls_total: 0,
            calls_refused: CallsRefused::default(),
            phases_ms: Phases::default(),
            cached: false,
            truncated: Truncated::default(),
            sandbox: SandboxReport::default(),
        }
    }

    /// Sets status and failure together, so that they can't disagree.
    pub(crate) fn fail(&mut self, status: Status, failure: Failure) {
        self.status = status;
        self.error = Some(failure);
    }
}

impl Failure {
    /// A failure with its evidence.
    pub(crate) fn new(kind: &str, message: impl Into<String>, evidence: Value) -> Self {
        Failure { kind: kind.to_owned(), message: message.into(), evidence }
    }
}

/// The time since then, as outcomes have it.
pub(crate) fn milliseconds(since: Instant) -> f64 {
    in_milliseconds(since.elapsed())
}

/// A time as outcomes have it, to the microsecond.
pub(crate) fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
