//! What a run tells while it is under way.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;

use crate::outcome::CallRecord;

/// What an execution is doing. Each phase begins once, in this order; one that ends early has no further ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Reading the snippet.
    Checking,
    /// Compiling and linking it; meanwhile sessions to the servers that it names are opened.
    Compiling,
    /// Waiting for sessions to the servers that its program can call.
    Connecting,
    /// Finding out whether the program may run, which a person may be asked.
    Permission,
    /// Running the program.
    Running,
}

impl Phase {
    /// What the execution is doing, in a word: `compiling`.
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

/// A call that a program makes.
#[derive(Debug, Clone, Copy)]
pub struct CallBegun<'a> {
    /// Number of the call within its execution, each one higher than the last.
    pub number: u64,
    /// The server's name; empty for a tool that the program may not call.
    pub server: &'a str,
    /// The tool's name; of one that the program may not call, the beginning of the identity that it gave.
    pub tool: &'a str,
    /// The arguments in their canonical form, which nobody has checked yet against the tool's schema; `null` where they
    /// have none and the call fails.
    pub arguments: &'a RawValue,
}

/// Listens to a run. Every method may be called from any thread, and must not block for long.
pub trait Observer: Send + Sync {
    /// Long work has begun, in words for a person: the first build of a layer, waiting for another process.
    fn progress(&self, message: &str);

    /// Returns when more of the program's output can be taken. Until then it is not read, and a program that prints on
    /// waits, as it does for any reader that is slow.
    fn takes_output(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    /// The program printed `bytes` to standard output.
    fn stdout(&self, bytes: &[u8]);

    /// The program printed `bytes` to standard error.
    fn stderr(&self, bytes: &[u8]);

    /// The program says how far it has come: `done` of `total` units.
    fn program_progress(&self, done: f64, total: f64, message: &str);

    /// A phase has begun.
    fn phase(&self, _phase: Phase) {}

    /// The program makes a call, before anybody has looked at it.
    fn call_began(&self, _call: &CallBegun<'_>) {}

    /// A call has ended: each that began, once; also one that was refused, cancelled, or cut off by the program's end.
    fn call_ended(&self, _number: u64, _record: &CallRecord) {}
}

/// An observer that does not look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&self, _message: &str) {}
    fn stdout(&self, _bytes: &[u8]) {}
    fn stderr(&self, _bytes: &[u8]) {}
    fn program_progress(&self, _done: f64, _total: f64, _message: &str) {}
}
