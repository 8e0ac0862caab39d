//! The error of a tool call.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::content::Content;
use crate::wire::{CallFailure, FailureKind};

/// A tool call that failed.
#[derive(Clone)]
pub struct ToolError {
    /// The kind of failure.
    pub kind: ToolErrorKind,
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The failure, in words.
    pub message: String,
    /// The content blocks sent with the failure.
    pub content: Vec<Content>,
    /// The tool's complete answer, if any.
    pub raw: Option<Box<Value>>,
}

/// Kinds of [`ToolError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolErrorKind {
    /// The tool reported a failure (`isError`).
    Failed,
    /// The arguments do not fit the tool's input schema. The call was not sent.
    InvalidParams,
    /// The server answered with a JSON-RPC error, usually because of the arguments.
    Rejected,
    /// The server did not answer in time: within `requestTimeout`, or within the time in `toolTimeouts` for this tool.
    Timeout,
    /// The server is not connected, or its connection ended.
    Unavailable,
    /// The answer does not fit the Rust type that was generated from the tool's output schema. The server declares this
    /// schema, or `mcp observe` infers it. `raw` has the answer.
    Mismatch,
    /// The request or the answer violates the protocol or a size limit.
    Protocol,
    /// The program may not call this tool.
    Denied,
    /// The program may not call this tool after the answers that it or its session has received: a rule in `flows`
    /// denies it, or the user did not allow it.
    Flow,
}

impl ToolErrorKind {
    /// The kind in lower case, such as `invalid_params`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::Denied => "denied",
            ToolErrorKind::Flow => "flow",
            ToolErrorKind::Timeout => "timeout",
            ToolErrorKind::Unavailable => "unavailable",
            ToolErrorKind::InvalidParams => "invalid_params",
            ToolErrorKind::Rejected => "rejected",
            ToolErrorKind::Protocol => "protocol",
            ToolErrorKind::Mismatch => "mismatch",
        }
    }
}

impl FailureKind {
    /// The kind in lower case, such as `invalid_params`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ToolErrorKind::from(self).as_str()
    }
}

impl From<FailureKind> for ToolErrorKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Denied => ToolErrorKind::Denied,
            FailureKind::Flow => ToolErrorKind::Flow,
            FailureKind::Timeout => ToolErrorKind::Timeout,
            FailureKind::Unavailable => ToolErrorKind::Unavailable,
            FailureKind::InvalidParams => ToolErrorKind::InvalidParams,
            FailureKind::Rejected => ToolErrorKind::Rejected,
            FailureKind::Protocol => ToolErrorKind::Protocol,
        }
    }
}

impl fmt::Display for ToolErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl ToolError {
    pub(crate) fn from_failure(failure: CallFailure, tool: &crate::tool::Tool) -> Self {
        ToolError {
            kind: failure.kind.into(),
            server: tool.server.to_owned(),
            tool: tool.name.to_owned(),
            message: failure.message,
            content: Vec::new(),
            raw: None,
        }
    }

    /// The same error for a tool whose output type was observed: a mismatch is not the server's fault.
    pub(crate) fn of_observed(mut self) -> Self {
        if self.kind == ToolErrorKind::Mismatch {
            self.message.push_str(&format!(
                ". This type was observed in earlier answers: `toolsmith mcp observe {}.{} --args \
                 ARGUMENTS` with the arguments of this call widens it",
                self.server, self.tool
            ));
        }
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolError { kind, server, tool, message, .. } = self;
        write!(formatter, "{server}.{tool} {}: {message}", kind.verb())
    }
}

/// Says everything once: `raw` includes `content`, and neither is shown if the message is all that the tool sent.
impl fmt::Debug for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolError { kind, server, tool, message, content, raw } = self;
        let mut shown = formatter.debug_struct("ToolError");
        shown.field("kind", kind).field("server", server).field("tool", tool).field("message", message);
        let is_message = matches!(&content[..], [only] if only.as_text() == Some(message));
        match raw {
            Some(raw) if !is_message => shown.field("raw", &format_args!("{raw}")).finish_non_exhaustive(),
            _ => shown.finish_non_exhaustive(),
        }
    }
}

impl ToolErrorKind {
    fn verb(self) -> &'static str {
        match self {
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::Denied => "was denied",
            ToolErrorKind::Flow => "may not receive this data",
            ToolErrorKind::Timeout => "timed out",
            ToolErrorKind::Unavailable => "is unavailable",
            ToolErrorKind::InvalidParams => "was not called, because its arguments do not fit",
            ToolErrorKind::Rejected => "refused the request",
            ToolErrorKind::Protocol => "broke the protocol",
            ToolErrorKind::Mismatch => "returned a result that does not match its type",
        }
    }
}

impl std::error::Error for ToolError {}

/// An error serializes as its message: for example in a list of results, next to successful ones.
impl Serialize for ToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("error: {self}"))
    }
}
