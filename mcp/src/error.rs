//! What can go wrong with a server, worded for the person who configured it.
//!
//! A tool's own failure (`isError`) is no error here: it is a result like any other.

use std::{fmt, time::Duration};

use serde_json::value::RawValue;

/// A failure of one server.
#[derive(Debug, thiserror::Error)]
#[error("MCP server `{server}`: {kind}")]
pub struct Error {
    /// The name of the server in the configuration.
    pub server: String,
    /// What happened. Boxed to keep results small.
    pub kind: Box<ErrorKind>,
}

impl Error {
    /// An error of a server.
    pub fn new(server: &str, kind: ErrorKind) -> Self {
        Self { server: server.to_owned(), kind: Box::new(kind) }
    }
}

/// What happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server's process could not be started.
    #[error("cannot start: {reason}")]
    Spawn {
        /// Why, and what to do.
        reason: String,
    },
    /// The handshake ended in something else than a session.
    #[error("cannot connect: {reason}{evidence}")]
    Initialize {
        /// Why, and what to do.
        reason: String,
        /// What the process left behind.
        evidence: Evidence,
    },
    /// A deadline passed.
    #[error("{phase} took longer than {}; {}{evidence}", seconds(*.limit), .phase.advice())]
    Timeout {
        /// What was waited for.
        phase: Phase,
        /// The limit that was reached.
        limit: Duration,
        /// What the process left behind.
        evidence: Evidence,
    },
    /// The connection ended, by the server's doing.
    #[error("the connection ended while waiting for {phase}{evidence}")]
    Closed {
        /// What was waited for.
        phase: Phase,
        /// What the process left behind.
        evidence: Evidence,
    },
    /// The session was closed on this side before the answer came.
    #[error("the session was closed on this side, before or while waiting for {phase}")]
    SessionClosed {
        /// What was waited for.
        phase: Phase,
    },
    /// The server broke the protocol.
    #[error("broke the protocol: {reason}")]
    Protocol {
        /// How.
        reason: String,
    },
    /// The server answered with a JSON-RPC error.
    #[error("{phase} is error {code}: {message}")]
    Rpc {
        /// What was asked.
        phase: Phase,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's message, bounded and without control characters.
        message: String,
        /// The server's further data, as it came.
        data: Option<Box<RawValue>>,
    },
    /// The server wants a login, or another one than there is.
    #[error("the server wants a login: {reason} (waiting for {phase})")]
    Unauthorized {
        /// What was asked.
        phase: Phase,
        /// How to be let in, in the server's words.
        challenge: Challenge,
        /// What it answered.
        reason: String,
    },
    /// The request could not be carried over HTTP.
    #[error("{reason} (waiting for {phase})")]
    Http {
        /// What was asked.
        phase: Phase,
        /// Why, and what to do.
        reason: String,
    },
    /// Nobody could be logged in, or out.
    #[error("the login failed: {reason}")]
    Login {
        /// Why, and what to do.
        reason: String,
    },
    /// The arguments of a call are no JSON object.
    #[error("the arguments of tool `{tool}` must be a JSON object")]
    Arguments {
        /// The tool that was to be called.
        tool: String,
    },
    /// This side could not do its part.
    #[error("{reason}")]
    Host {
        /// What failed here.
        reason: String,
    },
}

/// How a server says that it lets nobody in without a token (RFC 6750, section 3; RFC 9728, section 5.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    header: Option<String>,
}

impl Challenge {
    /// The challenge in this value of `WWW-Authenticate`, if there was one.
    pub fn new(header: Option<String>) -> Self {
        Self { header }
    }

    /// The value of `WWW-Authenticate`.
    pub fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Whether there is a token, but one that is not good enough for this request.
    pub fn is_for_scope(&self) -> bool {
        self.header.as_deref().is_some_and(|header| header.contains("insufficient_scope"))
    }
}

/// What was waited for when something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The start of the process.
    Spawn,
    /// The handshake.
    Initialize,
    /// The tool list.
    ListTools,
    /// A call of the tool with this name.
    Call(String),
    /// Another request, by its method.
    Request(&'static str),
}

impl Phase {
    fn advice(&self) -> &'static str {
        match self {
            Self::Spawn => "is the command on a file system that does not answer?",
            Self::Initialize => {
                "check that this is an MCP server that speaks the configured transport, or raise `timeout`"
            }
            Self::ListTools => "raise `requestTimeout` or `timeout` if the server is only slow",
            Self::Call(_) => "the request was cancelled; raise `requestTimeout` if the tool needs longer",
            Self::Request(_) => {
                "the request was cancelled; raise `requestTimeout` if the server is only slow"
            }
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn => formatter.write_str("the start of its process"),
            Self::Initialize => formatter.write_str("the answer to `initialize`"),
            Self::ListTools => formatter.write_str("the answer to `tools/list`"),
            Self::Call(tool) => write!(formatter, "the answer of tool `{tool}`"),
            Self::Request(method) => write!(formatter, "the answer to `{method}`"),
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// It is gone, but how it ended cannot be known.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(formatter, "exited with status {status}"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
            Self::Unknown => formatter.write_str("is gone"),
        }
    }
}

/// What a server's process left behind: how it ended, and what it wrote beside the protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How the process ended; `None` while it runs.
    pub exit: Option<Exit>,
    /// The last lines on standard error, bounded and without control characters.
    pub stderr: Vec<String>,
    /// How many lines on standard output were no protocol messages.
    pub stray_lines: u64,
    /// The first of those lines, bounded and without control characters.
    pub first_stray_line: Option<String>,
    /// How many of its messages were dropped: too long, or too many to answer.
    pub dropped_messages: u64,
}

impl fmt::Display for Evidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(exit) = self.exit {
            write!(formatter, "; the process {exit}")?;
        }
        if let Some(line) = &self.first_stray_line {
            let lines = self.stray_lines;
            write!(formatter, "; what came that is no MCP message: {lines} lines, the first: {line}")?;
        }
        if !self.stderr.is_empty() {
            formatter.write_str("; last lines on standard error:")?;
            for line in &self.stderr {
                write!(formatter, "\n  {line}")?;
            }
        }
        Ok(())
    }
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}
