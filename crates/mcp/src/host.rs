//! The interface for the user of sessions: it handles a server's requests and notifications.

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

/// The extension by which clients declare that they show views of tools (MCP Apps, SEP-1865, "Client<>Server Capability
/// Negotiation").
pub const APPS: &str = "io.modelcontextprotocol/ui";

/// The type of a view's document (SEP-1865, "UI Resource Format").
pub const VIEW_TYPE: &str = "text/html;profile=mcp-app";

/// Handles the requests and notifications of servers for the user of a session. The client declares only those
/// capabilities to a server that the host has.
pub trait Host: Send + Sync + 'static {
    /// Whether [`Host::elicit`] can show a form to the user.
    fn elicits(&self) -> bool {
        false
    }

    /// Whether [`Host::elicit`] can also send the user to a URL (`mode: url`).
    fn elicits_by_url(&self) -> bool {
        false
    }

    /// Whether [`Host::sample`] has a model.
    fn samples(&self) -> bool {
        false
    }

    /// Whether the client behind it shows views of tools (MCP Apps, SEP-1865).
    fn shows_apps(&self) -> bool {
        false
    }

    /// Asks the user: MCP's `elicitation/create`, with its parameters unchanged. Returns an `ElicitResult`: `action`,
    /// and `content` for `accept`.
    ///
    /// # Errors
    /// Returns an error if the user can't be asked; its text is sent to the server.
    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let _ = (server, parameters);
        std::future::ready(Ok(serde_json::json!({ "action": "decline" }))).boxed()
    }

    /// Asks a model: MCP's `sampling/createMessage`, with its parameters unchanged. Returns a `CreateMessageResult`.
    ///
    /// # Errors
    /// Returns an error if the model can't be asked; its text is sent to the server.
    fn sample<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let _ = (server, parameters);
        std::future::ready(Err(QuestionError::NoSampling)).boxed()
    }

    /// Whether [`Host::notice`] shows every line of a server's standard error to the user. Errors then leave them out.
    fn shows_stderr(&self) -> bool {
        false
    }

    /// Receives a notification from a server. Must not block.
    fn notice(&self, server: &str, notice: &Notice) {
        let _ = (server, notice);
    }
}

/// Limit on questions of one server that wait for the user or a model at once; further ones are refused.
pub const MAX_QUESTIONS: usize = 16;

/// Limit on the parameters of these questions together, in bytes (2 MiB).
pub const MAX_QUESTION_BYTES: usize = 2 * 1024 * 1024;

/// The reason why a server's question to the user or a model has no answer. The text is sent to the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The client did not declare the capability.
    #[error("this client does not declare {0}")]
    Undeclared(&'static str),
    /// The host has no model.
    #[error("sampling is not allowed here")]
    NoSampling,
    /// Too many questions of the server are pending.
    #[error(
        "too many questions are pending (limit: {MAX_QUESTIONS}, or {MAX_QUESTION_BYTES} bytes); try again"
    )]
    TooMany,
    /// The question's form can't be shown, and why.
    #[error("{0}")]
    Form(String),
    /// The question belongs to a client's request, and none is in progress.
    #[error("no client request is in progress that this question could belong to")]
    NoRequest,
    /// The client that is asked on the server's behalf did not answer.
    #[error(transparent)]
    Client(Box<dyn std::error::Error + Send + Sync>),
}

/// A notification from a server, or its stray output. All of it is untrusted text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A line on a local server's standard error, bounded and without control characters.
    Stderr(String),
    /// The first output that is not a protocol message, bounded and without control characters.
    Stray(String),
    /// A log message (`notifications/message`) with its level, logger and data.
    Log {
        /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: String,
        /// The logger's name, if the server sends one.
        logger: Option<String>,
        /// The message; any JSON.
        data: Value,
    },
    /// The progress of a call (`notifications/progress`).
    Progress {
        /// Progress so far.
        done: f64,
        /// The total, if known.
        total: Option<f64>,
        /// A description of the current step.
        message: Option<String>,
    },
    /// A list has changed.
    ListChanged(ListKind),
    /// A resource has changed.
    ResourceUpdated(String),
}

/// The kind of list that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `resources/list`, or its templates.
    Resources,
    /// `prompts/list`.
    Prompts,
}

/// A host without a user or a model, which ignores all notifications.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {}
