//! Notifications from a run in progress.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;

use bridge::wire::CallFailure;

use crate::host::Answer;
use crate::outcome::CallRecord;

/// The phase of an execution. Each phase starts once, in this order; an execution that ends early skips the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Reading the snippet.
    Checking,
    /// Compiling and linking it, while sessions to the servers that it names are opened.
    Compiling,
    /// Waiting for sessions to the servers that its program can call.
    Connecting,
    /// Determining whether the program may run, which may involve the user.
    Permission,
    /// Running the program.
    Running,
}

impl Phase {
    /// The phase in a word: `compiling`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Phase::Checking => "checking",
            Phase::Compiling => "compiling",
            Phase::Connecting => "connecting",
            Phase::Permission => "asking",
            Phase::Running => "running",
        }
    }
}

/// A tool call by a program.
#[derive(Debug, Clone, Copy)]
pub struct CallBegun<'a> {
    /// Number of the call within its execution, each one higher than the last.
    pub number: u64,
    /// The server's name; empty for a tool that the program may not call.
    pub server: &'a str,
    /// The tool's name; for a tool that the program may not call, the start of the identity it gave.
    pub tool: &'a str,
    /// The arguments in canonical form, not yet checked against the tool's schema; `null` if they have none and the
    /// call fails.
    pub arguments: &'a RawValue,
}

/// Observes a run. Every method may be called from any thread, and must not block for long.
pub trait Observer: Send + Sync {
    /// Long work has started, described for the user: the first build of a layer, waiting for another process.
    fn progress(&self, message: &str);

    /// One more step of long work is done: `done` of about `total`.
    fn step(&self, done: usize, total: usize, message: &str) {
        self.progress(&format!("{message} ({done} of {total})"));
    }

    /// Returns when more of the program's output can be accepted. Until then, it is not read, and a program that keeps
    /// printing blocks, as with any slow reader.
    fn takes_output(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    /// The program printed `bytes` to standard output.
    fn stdout(&self, bytes: &[u8]);

    /// The program printed `bytes` to standard error.
    fn stderr(&self, bytes: &[u8]);

    /// The program reports progress: `done` of `total` units.
    fn program_progress(&self, done: f64, total: f64, message: &str);

    /// A phase has started.
    fn phase(&self, _phase: Phase) {}

    /// The program makes a call, which has not been checked yet.
    fn call_began(&self, _call: &CallBegun<'_>) {}

    /// A call that began is allowed, and is passed to the server's session.
    fn call_sent(&self, _number: u64) {}

    /// A call was answered or refused, before it ends. A call that is cancelled or cut off ends without this.
    fn call_answered(&self, _number: u64, _answer: &Result<Answer, CallFailure>) {}

    /// A call has ended. Every started call ends exactly once, even if it was refused, cancelled, or cut off by the
    /// program's end.
    fn call_ended(&self, _number: u64, _record: &CallRecord) {}
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&self, _message: &str) {}
    fn stdout(&self, _bytes: &[u8]) {}
    fn stderr(&self, _bytes: &[u8]) {}
    fn program_progress(&self, _done: f64, _total: f64, _message: &str) {}
}
