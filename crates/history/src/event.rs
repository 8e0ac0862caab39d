//! The events that an execution queues to be written.
//!
//! Times are milliseconds since the begin of the execution.

use std::path::PathBuf;
use std::sync::Arc;

use config::ArgumentsKept;
use runner::{CallRecord, Outcome, Status};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use terminal::Masker;
use tokio::sync::oneshot;

use crate::kept::{Parts, SentArguments, first};
use crate::record::PhaseStart;
use crate::tokens::Direct;

/// The requester of an execution. Only transport, address and subject are verified; the rest is the client's claim.
#[derive(Debug, Clone, Default)]
pub struct Requester {
    /// `command` for `toolsmith run`; otherwise as in the audit log: `stdio`, `http`, or `in-process` for an agent.
    pub transport: &'static str,
    /// `clientInfo.name` (MCP).
    pub client: Option<String>,
    /// `clientInfo.version` (MCP).
    pub client_version: Option<String>,
    /// The MCP session.
    pub session: Option<String>,
    /// The subject of the request's token, or the name of its token.
    pub subject: Option<String>,
    /// The issuer of the token.
    pub issuer: Option<String>,
    /// The remote address and port, over HTTP.
    pub address: Option<String>,
    /// The run of the requesting agent.
    pub parent_run: Option<String>,
}

/// An execution at its begin.
#[derive(Debug)]
pub struct NewExecution {
    /// Its id, as in the audit log.
    pub id: String,
    /// The requester.
    pub requester: Requester,
    /// The working folder.
    pub folder: PathBuf,
    /// The name of the saved program that is run, if it is one.
    pub program: Option<String>,
    /// The snippet as sent.
    pub code: String,
    /// Its arguments as a JSON object, if it has any.
    pub arguments: Option<Box<RawValue>>,
    /// Whether it is only compiled.
    pub check_only: bool,
}

/// A question to the user, as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The subject: `program` or `call` for a permission, `server` for a question of a server.
    pub(crate) about: &'static str,
    /// The tools, as `server.tool`.
    pub(crate) tools: Vec<String>,
    /// The question as shown.
    pub(crate) text: String,
}

/// The end of an execution. It has copies of only those parts of the outcome that may be kept.
#[derive(Debug)]
pub struct Ending {
    pub(crate) status: String,
    pub(crate) error_kind: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) calls: Option<u64>,
    pub(crate) total_ms: Option<f64>,
    pub(crate) parts: Parts,
    /// Members of the outcome that need no bound of their own.
    pub(crate) rest: Value,
}

impl Ending {
    /// The end with an outcome; `output` bounds its result, output and content together, in bytes.
    #[must_use]
    pub fn of(outcome: &Outcome, output: usize) -> Self {
        let mut sandbox = outcome.sandbox.clone();
        // Libraries try system calls that they can do without, such as opening a file with the time zone.
        if outcome.status == Status::Ok {
            sandbox.refused.clear();
        }
        Ending {
            status: outcome.status.to_string(),
            error_kind: outcome.error.as_ref().map(|error| error.kind.clone()),
            error: outcome.error.as_ref().map(|error| error.message.clone()),
            calls: Some(outcome.calls_total),
            total_ms: Some(outcome.phases_ms.total),
            parts: Parts::of(outcome, output),
            rest: json!({
                "error": outcome.error,
                "diagnostics": first(&outcome.diagnostics),
                "fixes": first(&outcome.fixes),
                "manifest": first(&outcome.manifest),
                "flows": outcome.flows,
                "phases_ms": outcome.phases_ms,
                "cpu_ms": outcome.cpu_ms,
                "cached": outcome.cached,
                "optimized": outcome.optimized,
                "truncated": outcome.truncated,
                "sandbox": sandbox,
                "calls_total": outcome.calls_total,
                "calls_refused": outcome.calls_refused,
                "shared_sessions": outcome.shared_sessions,
            }),
        }
    }

    /// The end of an execution that has no outcome, for example because the host failed.
    #[must_use]
    pub fn without_outcome(status: &str, error_kind: Option<&str>, error: Option<String>) -> Self {
        let rest = json!({});
        let (status, error_kind) = (status.to_owned(), error_kind.map(str::to_owned));
        Ending { status, error_kind, error, calls: None, total_ms: None, parts: Parts::default(), rest }
    }
}

/// Something to write.
#[derive(Debug)]
pub(crate) enum Event {
    Begin(Box<Begin>),
    Of(Arc<Owner>, Step),
    /// Write everything now.
    Flush(oneshot::Sender<()>),
    /// New bounds.
    Bounds(Bounds),
}

/// The bounds of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Maximum age of an execution, in milliseconds.
    pub(crate) age: i64,
    /// Maximum size of the file, in bytes.
    pub(crate) size: u64,
}

/// The members that all events of an execution share.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: String,
    pub(crate) masker: Masker,
    pub(crate) arguments: ArgumentsKept,
}

#[derive(Debug)]
pub(crate) struct Begin {
    pub(crate) owner: Arc<Owner>,
    pub(crate) new: NewExecution,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

/// Maximum number of calls that are listed of an execution. Further ones are only counted: a loop makes tens of thousands
/// in a second.
pub(crate) const CALLS: u64 = 2_000;

/// The next step of an execution.
#[derive(Debug)]
pub(crate) enum Step {
    Phase(PhaseStart),
    CallBegan {
        number: u64,
        at: f64,
        server: String,
        tool: String,
        arguments: SentArguments,
    },
    CallSent {
        number: u64,
        at: f64,
    },
    CallAnswered {
        number: u64,
        error: Option<&'static str>,
        direct: Direct,
    },
    CallEnded {
        number: u64,
        at: f64,
        ok: bool,
        bytes: usize,
        cached_age_ms: Option<f64>,
    },
    /// A call that is only counted ([`CALLS`]) has ended.
    UnlistedCallEnded,
    Asked {
        number: u64,
        at: f64,
        asked: Asked,
    },
    Answered {
        number: u64,
        at: f64,
        answer: &'static str,
        by: &'static str,
    },
    End {
        at: i64,
        ending: Box<Ending>,
        answer_tokens: u64,
    },
    /// The data for a replay, without secrets.
    Recording(String),
}

impl Step {
    /// The step at the end of a call.
    pub(crate) fn ended(number: u64, at: f64, record: &CallRecord) -> Self {
        let cached_age_ms = record.cached.map(|cached| cached.age_ms);
        Step::CallEnded { number, at, ok: record.ok, bytes: record.bytes, cached_age_ms }
    }
}

impl Event {
    /// Its size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        /// Bytes counted for each event in addition to its texts.
        const EVENT: usize = 256;
        /// Bytes counted for the rest of an outcome.
        const REST: usize = 16 << 10;
        EVENT
            + match self {
                Event::Begin(begin) => {
                    begin.new.code.len() + begin.new.arguments.as_ref().map_or(0, |raw| raw.get().len())
                }
                Event::Of(_, Step::CallBegan { server, tool, arguments, .. }) => {
                    server.len() + tool.len() + arguments.text().map_or(0, str::len)
                }
                Event::Of(_, Step::CallAnswered { direct, .. }) => direct.bytes(),
                Event::Of(_, Step::Asked { asked, .. }) => {
                    asked.text.len() + asked.tools.iter().map(String::len).sum::<usize>()
                }
                Event::Of(_, Step::End { ending, .. }) => ending.parts.bytes() + REST,
                Event::Of(_, Step::Recording(text)) => text.len(),
                Event::Of(..) | Event::Flush(_) | Event::Bounds(_) => 0,
            }
    }
}
