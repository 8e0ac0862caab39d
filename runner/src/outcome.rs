//! The outcome of a snippet, as the command line and the servers return it.
//!
//! The field names are a contract: fields may be added, but not renamed.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use serde_json::value::RawValue;
use snippet::{Diagnostic, Fix};

use crate::refused::CallsRefused;

/// The end of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Normally, with or without a result.
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
    /// It exceeded the output limit.
    OutputLimit,
    /// It could call a forbidden tool, or ended with the refusal of a call.
    Denied,
    /// It made a system call that the sandbox kills for, or broke the broker's protocol.
    SandboxViolation,
    /// Cancelled.
    Cancelled,
    /// Not started: too many executions are in progress.
    Busy,
}

impl Status {
    /// All statuses.
    pub const ALL: [Status; 11] = [
        Status::Ok,
        Status::CompileError,
        Status::RuntimeError,
        Status::Panic,
        Status::Timeout,
        Status::MemoryLimit,
        Status::OutputLimit,
        Status::Denied,
        Status::SandboxViolation,
        Status::Cancelled,
        Status::Busy,
    ];
}

impl fmt::Display for Status {
    /// The status as in JSON, such as `compile_error`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The whole outcome of one snippet.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The end.
    pub status: Status,
    /// Its final value, which may be `null`; `None` if it ended without one. JSON has `null` for both.
    pub result: Option<Box<RawValue>>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The content blocks that it emitted (MCP's `ContentBlock`).
    pub content: Vec<Box<RawValue>>,
    /// The reason why the status is not `ok`.
    pub error: Option<Failure>,
    /// The compiler's diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Corrections made before it was compiled.
    pub fixes: Vec<Fix>,
    /// The tools that it can call, as `server.tool`.
    pub manifest: Vec<String>,
    /// The flows between these tools that the host asks about or denies, in lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// The calls that it made and that have ended, at most [`CALLS_KEPT`](crate::CALLS_KEPT). Calls that were refused
    /// or cancelled before they were sent do not count.
    pub calls: Vec<CallRecord>,
    /// The total number of calls that it made.
    pub calls_total: u64,
    /// The calls that were refused before they reached a server.
    pub calls_refused: CallsRefused,
    /// The servers whose session other executions use as well, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_sessions: Vec<String>,
    /// Duration of each phase, in milliseconds.
    pub phases_ms: Phases,
    /// The processor time of its program, in milliseconds; 0 if it did not run.
    pub cpu_ms: f64,
    /// Whether its program had been compiled before.
    pub cached: bool,
    /// Whether the program that ran was compiled with optimization, because an earlier run of the same text used much
    /// processor time.
    pub optimized: bool,
    /// The truncated parts.
    pub truncated: Truncated,
    /// The program's sandbox; the compiler's, if the program did not run.
    pub sandbox: SandboxReport,
}

/// The reason why the status is not `ok`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The kind, finer than the status: `error`, `exit`, `wall_clock`, `cpu`, `stack_overflow`, …
    pub kind: String,
    /// The failure, in words.
    pub message: String,
    /// Details: the limit and its value, the line of the panic, the signal, the tool.
    pub evidence: Value,
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
    /// Its duration, in milliseconds.
    pub ms: f64,
    /// Size of the answer as JSON, in bytes.
    pub bytes: usize,
    /// The cached answer that was used instead of a call.
    #[serde(flatten)]
    pub cached: Option<CachedAnswer>,
}

/// An answer from the cache of results, in a call's record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CachedAnswer {
    /// Always true: records of calls that were made don't have this member.
    pub cached: bool,
    /// The answer's age, in milliseconds.
    pub age_ms: f64,
}

impl Outcome {
    /// Its value as a type.
    ///
    /// # Errors
    /// If it has none, because it did not end with [`Status::Ok`], or because the value does not fit.
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match (&self.result, &self.error) {
            (Some(value), _) => serde_json::from_str(value.get()),
            (None, Some(error)) => {
                Err(serde_json::Error::custom(format!("{}: {}", self.status, error.message)))
            }
            (None, None) => Err(serde_json::Error::custom("the snippet has no value")),
        }
    }
}

impl CachedAnswer {
    /// An answer of this age.
    #[must_use]
    pub fn of(age: Duration) -> Self {
        CachedAnswer { cached: true, age_ms: (age.as_secs_f64() * 1e6).round() / 1e3 }
    }
}

/// Duration of the phases, in milliseconds. They overlap: connecting, building bindings and compiling run concurrently.
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
    /// Waiting for the user's permission, which counts against no limit.
    pub permission: f64,
    /// Running, without waiting for permission.
    pub run: f64,
    /// The total.
    pub total: f64,
}

impl Phases {
    /// The phases by name, without the total.
    pub fn by_name(&self) -> [(&'static str, f64); 6] {
        let Phases { parse, connect, bindings, compile, permission, run, total: _ } = *self;
        [
            ("parse", parse),
            ("connect", connect),
            ("bindings", bindings),
            ("compile", compile),
            ("permission", permission),
            ("run", run),
        ]
    }
}

/// The truncated parts of an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Truncated {
    /// Standard output was cut.
    pub stdout: bool,
    /// Standard error was cut.
    pub stderr: bool,
}

/// The sandbox as actually enforced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SandboxReport {
    /// The tier's name.
    pub tier: String,
    /// The enforced layers.
    pub layers: Vec<String>,
    /// The names of system calls that were refused to the program, as reported by the kernel, not the program.
    pub refused: Vec<String>,
}

/// The compiler's error codes for a module, function or import that does not exist. A server that was not listed may
/// have it.
const UNRESOLVED: [&str; 3] = ["E0425", "E0432", "E0433"];

impl Outcome {
    /// Whether the snippet does not compile because it uses a name that does not exist.
    #[must_use]
    pub fn has_unresolved(&self) -> bool {
        let mut codes = self.diagnostics.iter().filter_map(|diagnostic| diagnostic.code.as_deref());
        self.status == Status::CompileError && codes.any(|code| UNRESOLVED.contains(&code))
    }

    /// The size of its texts, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let message = self.error.as_ref().map_or(0, |error| error.message.len());
        let result = self.result.as_ref().map_or(0, |result| result.get().len());
        let content = self.content.iter().map(|part| part.get().len());
        let rendered = self.diagnostics.iter().map(|diagnostic| diagnostic.rendered.len());
        message + result + self.stdout.len() + self.stderr.len() + content.chain(rendered).sum::<usize>()
    }

    /// The outcome of a snippet that was not tried because too many are in progress.
    #[must_use]
    pub fn busy(message: &str) -> Self {
        let mut outcome = Outcome::new(Status::Busy);
        outcome.error = Some(Failure::new("busy", message, Value::Object(serde_json::Map::new())));
        outcome
    }

    /// Says in the evidence of a refusal after how long another attempt may succeed, in whole seconds.
    #[must_use]
    pub fn retry_after(mut self, time: Duration) -> Self {
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        if let Some(evidence) = self.error.as_mut().and_then(|error| error.evidence.as_object_mut()) {
            evidence.insert("retry_after_seconds".to_owned(), seconds.into());
        }
        self
    }

    /// The outcome of a snippet that was cancelled before it was tried.
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

    /// An empty outcome.
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
            flows: Vec::new(),
            calls: Vec::new(),
            calls_total: 0,
            calls_refused: CallsRefused::default(),
            shared_sessions: Vec::new(),
            phases_ms: Phases::default(),
            cpu_ms: 0.0,
            cached: false,
            optimized: false,
            truncated: Truncated::default(),
            sandbox: SandboxReport::default(),
        }
    }

    /// Sets status and failure together, so that they match.
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

/// The time since `since`, for an outcome.
pub(crate) fn milliseconds(since: Instant) -> f64 {
    in_milliseconds(since.elapsed())
}

/// A duration for an outcome, rounded to microseconds.
pub(crate) fn in_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
