//! The events of an execution, as sinks are notified of them.

use std::time::Duration;

use bridge::wire::{CallFailure, FailureKind, Question};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tracing::Span;

use crate::host::Answer;
use crate::outcome::CallRecord;
use crate::refused::CallsRefused;

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

/// Something that is about to happen, and that a sink can refuse.
#[derive(Debug)]
pub enum Begin<'a> {
    /// An execution.
    Execution(&'a NewExecution<'a>),
    /// A session with a server.
    Session {
        /// The server's name.
        server: &'a str,
    },
    /// The decision whether a program may run, which may involve the user.
    Admission {
        /// The tools that the program can call, as pairs of server and tool.
        tools: &'a [(String, String)],
    },
    /// An admitted program.
    Program,
    /// A request to a server.
    Call {
        /// The request.
        call: &'a SentCall<'a>,
        /// Its arguments in canonical form.
        arguments: &'a RawValue,
        /// The data that is sent with it, and the span in which it is made.
        outgoing: &'a mut Outgoing,
    },
    /// Handing over the answer to a request. An answer that is refused is withheld.
    Answer(&'a AnsweredCall<'a>),
    /// The refusal of a direct call, which is not sent.
    Refusal {
        /// The server's name.
        server: &'a str,
        /// The tool's name.
        tool: &'a str,
        /// The arguments in canonical form.
        arguments: &'a RawValue,
    },
    /// Handing over the outcome. An outcome that is refused is withheld.
    Outcome(&'a EndedExecution<'a>),
}

/// An execution at its begin.
#[derive(Debug)]
pub struct NewExecution<'a> {
    /// The snippet as sent.
    pub code: &'a str,
    /// Its arguments.
    pub arguments: &'a Value,
    /// Whether it is only compiled.
    pub check_only: bool,
}

/// A request that leaves for a server: the call of a tool, or reading a resource.
#[derive(Debug)]
pub struct SentCall<'a> {
    /// Number of the request within its execution, in the order in which requests leave.
    pub number: u64,
    /// The server's name.
    pub server: &'a str,
    /// The tool's name; [`READ`](super::READ) for a resource.
    pub tool: &'a str,
    /// The resource that is read; `None` for the call of a tool.
    pub uri: Option<&'a str>,
}

/// The additions of sinks to a request.
#[derive(Debug)]
pub struct Outgoing {
    /// Members of its `_meta` (MCP).
    pub meta: Map<String, Value>,
    /// The span in which it is made.
    pub span: Span,
}

impl Default for Outgoing {
    fn default() -> Self {
        Outgoing { meta: Map::new(), span: Span::none() }
    }
}

/// A request that has ended.
#[derive(Debug)]
pub struct AnsweredCall<'a> {
    /// The request.
    pub call: &'a SentCall<'a>,
    /// The span in which it was made.
    pub span: &'a Span,
    /// Its answer; `None` if it was cancelled.
    pub answer: Option<&'a Result<Answer, CallFailure>>,
    /// The time since it left.
    pub duration: Duration,
}

impl AnsweredCall<'_> {
    /// Whether the tool answered without an error.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.answered().is_some_and(|answer| !answer.is_error)
    }

    /// The kind of failure in a word: `timeout`, `cancelled`, `tool_error`, …
    #[must_use]
    pub fn error(&self) -> Option<&'static str> {
        match self.answer {
            None => Some("cancelled"),
            Some(Err(failure)) => Some(failure.kind.as_str()),
            Some(Ok(answer)) => answer.is_error.then_some("tool_error"),
        }
    }

    /// The server's answer, if there is one.
    #[must_use]
    pub fn answered(&self) -> Option<&Answer> {
        self.answer.and_then(|answer| answer.as_ref().ok())
    }

    /// The size of the answer as JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.answered().map_or(0, |answer| answer.result.get().len())
    }

    /// The age of an answer from the cache.
    #[must_use]
    pub fn cached(&self) -> Option<Duration> {
        self.answered().and_then(|answer| answer.cached)
    }
}

/// An execution at its end.
#[derive(Debug)]
pub struct EndedExecution<'a> {
    /// Its status: one of the outcome's, or `host_error`, `input_required`.
    pub status: &'a str,
    /// The kind of its error.
    pub error: Option<&'a str>,
    /// The number of tool calls that were sent.
    pub calls: u64,
    /// The calls that were refused before they were sent.
    pub refused: &'a CallsRefused,
    /// The time since the journal was opened.
    pub duration: Duration,
}

/// Something that has happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// Long work has started, described for the user: the first build of a layer, waiting for another process.
    Progress(&'a str),
    /// One more step of long work is done.
    Step {
        /// The number of steps that are done.
        done: usize,
        /// About how many there are.
        total: usize,
        /// The work that was done.
        message: &'a str,
    },
    /// A phase has started.
    Phase(Phase),
    /// The program printed to standard output.
    Stdout(&'a [u8]),
    /// The program printed to standard error.
    Stderr(&'a [u8]),
    /// The program reports progress.
    ProgramProgress {
        /// The number of units that are done.
        done: f64,
        /// About how many there are.
        total: f64,
        /// The work that is done.
        message: &'a str,
    },
    /// A question to the user.
    Asked(&'a Asked<'a>),
    /// The answer to a question.
    Answered(&'a Answered<'a>),
    /// The program makes a call, which has not been checked yet.
    CallBegan(CallBegun<'a>),
    /// A call that began is allowed, and is passed to the server's session.
    CallSent(u64),
    /// A call was answered or refused, before it ends. A call that is cancelled or cut off ends without this.
    CallAnswered(u64, &'a Result<Answer, CallFailure>),
    /// A call has ended. Every started call ends exactly once, even if it was refused, cancelled, or cut off by the
    /// program's end.
    CallEnded(u64, &'a CallRecord),
    /// A question of the program about tools or resources was answered.
    LookedUp(&'a Question, Result<&'a RawValue, &'a CallFailure>),
    /// The server of a resource was looked up.
    Located {
        /// The resource.
        uri: &'a str,
        /// The server that the program named.
        server: Option<&'a str>,
        /// The server that has it.
        found: &'a Result<String, CallFailure>,
    },
}

/// A question to the user.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Its number within the execution.
    pub number: u64,
    /// The subject.
    pub about: QuestionKind,
    /// The tools, as `server.tool`; the server of a server's question.
    pub tools: &'a [String],
    /// The question as shown.
    pub text: &'a str,
    /// The question without the arguments of a call.
    pub short: &'a str,
}

/// The subject of a question to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// Whether a program may run.
    Program,
    /// Whether a call may be made.
    Call,
    /// Whether a program may be saved.
    Save,
    /// The question of a server.
    Server,
}

impl QuestionKind {
    /// Its name in the history and the audit log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            QuestionKind::Program => "program",
            QuestionKind::Call => "call",
            QuestionKind::Save => "save",
            QuestionKind::Server => "server",
        }
    }
}

/// The answer to a question.
#[derive(Debug)]
pub struct Answered<'a> {
    /// The number of the question.
    pub number: u64,
    /// The subject of the question.
    pub about: QuestionKind,
    /// The tools, as `server.tool`.
    pub tools: &'a [String],
    /// The flows that it is about, and the parts of earlier answers in a call's arguments, in lines.
    pub flows: &'a [String],
    /// The answer in a word: `once`, `no`, …
    pub answer: &'static str,
    /// The answerer: `terminal`, `client`, `page`, `configuration` or `nobody`.
    pub by: &'static str,
}

/// The reason why a sink refused what was about to happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The kind of failure that the program sees.
    pub kind: FailureKind,
    /// The reason in a word, for the evidence of an outcome: `audit`.
    pub reason: &'static str,
    /// The reason, for the user or a model.
    pub message: String,
}

impl From<Refused> for CallFailure {
    fn from(Refused { kind, message, .. }: Refused) -> Self {
        CallFailure { kind, message }
    }
}
