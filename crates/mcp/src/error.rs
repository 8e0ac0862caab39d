//! Failures of a server, worded for the user who configured it.
//!
//! A tool's own failure (`isError`) is not an error here but a normal result.

use std::{fmt, time::Duration};

use report::{Kind, Report};
use serde_json::value::RawValue;

use crate::text::shown;

/// Maximum length of the data of a JSON-RPC error in a message, in bytes.
const MAX_DATA_BYTES: usize = 1_000;

/// A failure of one server.
#[derive(Debug, thiserror::Error)]
#[error("MCP server `{server}`: {kind}")]
pub struct Error {
    /// The name of the server in the configuration.
    pub server: String,
    /// The failure itself. Boxed to keep results small.
    pub kind: Box<ErrorKind>,
}

impl Error {
    /// An error of a server.
    pub fn new(server: &str, kind: ErrorKind) -> Self {
        Self { server: server.to_owned(), kind: Box::new(kind) }
    }

    /// Returns the remedies.
    pub fn hints(&self) -> Vec<String> {
        match &*self.kind {
            ErrorKind::Unauthorized { .. } => {
                vec![format!("log in with `toolsmith mcp login {}`", self.server)]
            }
            ErrorKind::NoLogin => {
                vec!["pass its key as a variable, such as `env: { API_KEY: \"${API_KEY}\" }`".to_owned()]
            }
            ErrorKind::Keyring { source } => source.hints(),
            _ => Vec::new(),
        }
    }

    /// The error in the form that is shown, with its message as `mask` returns it. The error itself is not kept,
    /// because it may hold what is masked.
    pub fn report(&self, mask: impl FnOnce(&str) -> String) -> Report {
        let kind = match *self.kind {
            ErrorKind::Unauthorized { .. }
            | ErrorKind::Login { .. }
            | ErrorKind::NoLogin
            | ErrorKind::NoSubject => Kind::Login,
            _ => Kind::Server,
        };
        self.hints().into_iter().fold(Report::new(kind, mask(&self.to_string())), Report::hint)
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        error.report(str::to_owned).caused_by(error)
    }
}

/// The kind of failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server's process could not be started.
    #[error("cannot start: {source}")]
    Spawn {
        /// Why, and what to do.
        source: SpawnError,
    },
    /// The handshake did not result in a session.
    #[error("cannot connect: {reason}{evidence}")]
    Initialize {
        /// Why, and what to do.
        reason: String,
        /// The state and output of the process.
        evidence: Evidence,
    },
    /// A request timed out.
    #[error("{phase} took longer than {}; {}{evidence}", seconds(*.limit), .phase.advice())]
    Timeout {
        /// The operation in progress.
        phase: Phase,
        /// The time limit.
        limit: Duration,
        /// The state and output of the process.
        evidence: Evidence,
    },
    /// The server ended the connection.
    #[error("the connection ended while waiting for {phase}{evidence}")]
    Closed {
        /// The operation in progress.
        phase: Phase,
        /// The state and output of the process.
        evidence: Evidence,
    },
    /// The session was closed on this side before the response arrived.
    #[error("the session was closed on this side, before or while waiting for {phase}")]
    SessionClosed {
        /// The operation in progress.
        phase: Phase,
    },
    /// The server broke the protocol.
    #[error("broke the protocol: {reason}")]
    Protocol {
        /// The reason given.
        reason: String,
    },
    /// The server answered with a JSON-RPC error.
    #[error("{phase} failed with error {code}: {message}{}{}", described(.message, .data.as_deref()), unsupported(.phase, *.code))]
    Rpc {
        /// The request.
        phase: Phase,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's message, bounded and without control characters.
        message: String,
        /// The server's additional data, unchanged.
        data: Option<Box<RawValue>>,
    },
    /// The server requires a login, or a different one.
    #[error("the server requires a login: {reason} (waiting for {phase})")]
    Unauthorized {
        /// The request.
        phase: Phase,
        /// The server's description of the required login.
        challenge: Challenge,
        /// The server's response.
        reason: String,
    },
    /// The request failed at the HTTP level.
    #[error("{reason} (waiting for {phase})")]
    Http {
        /// The request.
        phase: Phase,
        /// Why, and what to do.
        reason: String,
    },
    /// A login or logout failed.
    #[error("the login failed: {reason}")]
    Login {
        /// Why, and what to do.
        reason: String,
    },
    /// A secret of the server's settings can't be read from the keyring.
    #[error("{source}")]
    Keyring {
        /// Why, and what to do.
        source: KeyringError,
    },
    /// A login or logout of a server that is a program on this machine.
    #[error("it is a program on this machine, which has no login")]
    NoLogin,
    /// The request has no user whose token could be exchanged, or a login was tried in place of that.
    #[error(
        "each subject has its own token for this server (`oauth.grant: token_exchange`), so it can be used only through \
         `toolsmith serve --http`, by subjects with an access token of an issuer (`serve.auth`)"
    )]
    NoSubject,
    /// The arguments of a call are not a JSON object.
    #[error("the arguments of tool `{tool}` must be a JSON object")]
    Arguments {
        /// The called tool.
        tool: String,
    },
    /// The host itself failed.
    #[error("{reason}")]
    Host {
        /// The operation that failed.
        reason: String,
    },
}

/// The reason why the keyring can't be used. It contains no secrets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is no keyring, or it is locked.
    #[error("the keyring is not available: {reason}")]
    Unavailable {
        /// The keyring's message.
        reason: String,
    },
    /// The keyring has no such secret.
    #[error("the keyring has no secret {name}")]
    Missing {
        /// The secret's name.
        name: String,
    },
    /// The secret can't be used.
    #[error("the secret {name} in the keyring is {what}")]
    Unusable {
        /// The secret's name.
        name: String,
        /// The problem with it.
        what: &'static str,
    },
}

impl KeyringError {
    /// Returns the remedies.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Unavailable { .. } => vec![
                "start a keyring with a Secret Service, such as GNOME Keyring or KWallet, and unlock it"
                    .to_owned(),
                "or use environment variables instead: ${NAME} in place of ${keyring:NAME}".to_owned(),
            ],
            Self::Missing { name } | Self::Unusable { name, .. } => {
                vec![format!("to store it: toolsmith secret set {name}")]
            }
        }
    }
}

/// A failure to start a server's process, with a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The configured folder is missing.
    #[error("its folder `{0}` (`cwd`) does not exist or is not a folder; create it, or correct `cwd`")]
    Folder(String),
    /// The command is a name that no folder of PATH has.
    #[error("the command `{0}` was not found in the folders of PATH; {advice}", advice = not_in_path(.0))]
    NotInPath(String),
    /// The command is a path without a file, or the file's interpreter is missing.
    #[error(
        "the command `{0}` does not exist, or it is a script whose interpreter is missing; check the path"
    )]
    Missing(String),
    /// The file may not be executed.
    #[error(
        "the command `{0}` may not be executed; check that it is a program and that it is executable (chmod +x)"
    )]
    NotExecutable(String),
    /// The kernel refused to start it.
    #[error("the command `{command}` could not be started: {source}")]
    Refused {
        /// The command.
        command: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The server can't be confined.
    #[error("it can't be confined (`sandbox`): {0}")]
    Confined(String),
    /// The task that starts the process was cancelled or panicked.
    #[error("the start was interrupted: {0}")]
    Interrupted(#[source] tokio::task::JoinError),
}

/// A server's statement that a token is required (RFC 6750, section 3; RFC 9728, section 5.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    header: Option<String>,
}

impl Challenge {
    /// The challenge in a `WWW-Authenticate` header, if there was one.
    pub fn new(header: Option<String>) -> Self {
        Self { header }
    }

    /// The value of `WWW-Authenticate`.
    pub fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Whether the server accepts the token but requires a wider scope for this request.
    pub fn is_for_scope(&self) -> bool {
        self.header.as_deref().is_some_and(|header| header.contains("insufficient_scope"))
    }
}

/// The operation that was in progress when a failure happened.
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
    /// Another request, by its method name.
    Request(&'static str),
}

impl Phase {
    fn advice(&self) -> &'static str {
        match self {
            Self::Spawn => "is the command on a file system that does not answer?",
            Self::Initialize => {
                "check that this is an MCP server with the configured transport, or raise `timeout`"
            }
            Self::ListTools => "raise `requestTimeout` or `timeout` if the server is just slow",
            Self::Call(_) => "the request was cancelled; raise `requestTimeout` if the tool needs longer",
            Self::Request(_) => {
                "the request was cancelled; raise `requestTimeout` if the server is just slow"
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

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// It has ended, but its exit status cannot be known.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(formatter, "exited with status {status}"),
            Self::Signal(signal) => write!(formatter, "was terminated by signal {signal}"),
            Self::Unknown => formatter.write_str("has ended"),
        }
    }
}

/// The state and output of a server's process, for error messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The end of the process; `None` while it runs.
    pub exit: Option<Exit>,
    /// The last lines on standard error, bounded and without control characters.
    pub stderr: Vec<String>,
    /// The number of lines on standard output that were not protocol messages.
    pub stray_lines: u64,
    /// The first of those lines, bounded and without control characters.
    pub first_stray_line: Option<String>,
    /// The number of its messages that were dropped: too long, or too many to answer.
    pub dropped_messages: u64,
}

impl fmt::Display for Evidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(exit) = self.exit {
            write!(formatter, "; the process {exit}")?;
        }
        if let Some(line) = &self.first_stray_line {
            let lines = self.stray_lines;
            let lines = report::count(lines, "line");
            write!(formatter, "; its output has {lines} that are not MCP messages; the first: {line}")?;
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

/// Advice on a command that PATH does not have.
fn not_in_path(command: &str) -> String {
    match command.split_once(char::is_whitespace) {
        Some((program, _)) => {
            format!("write only the program as `command: {program}`, and each other word in `args`")
        }
        None => "install it, or give its absolute path as `command`".to_owned(),
    }
}

/// The data of a JSON-RPC error, unless its message says it.
fn described(message: &str, data: Option<&RawValue>) -> String {
    let Some(data) = data.map(RawValue::get).filter(|data| *data != "null") else { return String::new() };
    let text: String = serde_json::from_str(data).unwrap_or_else(|_| data.to_owned());
    let text = shown(&text, MAX_DATA_BYTES);
    if text.is_empty() || message.contains(&text) { String::new() } else { format!(" ({text})") }
}

/// Explains the JSON-RPC error "method not found" in a phase.
fn unsupported(phase: &Phase, code: i64) -> &'static str {
    if code == -32601 && !matches!(phase, Phase::Call(_)) {
        "; the server does not support this request"
    } else {
        ""
    }
}
