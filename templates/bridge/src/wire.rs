//! The messages of the broker's protocol, and its limits; [`crate::frame`] has their frames.
//!
//! The host starts with [`ToProgram::Welcome`]; the program's first frame is [`ToHost::Hello`]. Tool values are
//! transmitted as raw JSON.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Version of the protocol. Host and program must match exactly: they are built from the same sources.
pub const VERSION: u32 = 8;

/// Maximum size of a frame, in bytes, in either direction (32 MiB). A larger one ends the connection.
pub const FRAME_LIMIT: usize = 32 * 1024 * 1024;

/// Maximum number of calls and questions in flight. The program holds back further ones, so that the host can always
/// read what needs no room: cancellations, content, progress, the end.
pub const CALLS_IN_FLIGHT: usize = 256;

/// Maximum total size of the arguments in flight, in bytes (32 MiB), except for a single call.
pub const BYTES_IN_FLIGHT: usize = FRAME_LIMIT;

/// Maximum size of a progress message or warning, in bytes (2 KiB): it is one line. It is truncated by the program and,
/// if necessary, by the host.
pub const PROGRESS_LIMIT: usize = 2 * 1024;

/// Maximum number of warnings from a program; the host drops further ones.
pub const WARNINGS_LIMIT: usize = 20;

/// The file descriptor of the program's socket.
pub const BROKER_DESCRIPTOR: i32 = 3;

/// A message from the host to the program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToProgram {
    /// The first frame.
    Welcome(Welcome),
    /// The answer to a call: `result` is MCP's `CallToolResult` as the server sent it. Also the answer to a question.
    Reply {
        /// The call's number.
        id: u64,
        /// The whole `CallToolResult`.
        result: Box<RawValue>,
    },
    /// A call failed.
    Failure {
        /// The call's number.
        id: u64,
        /// Why.
        failure: CallFailure,
    },
}

/// The host's first frame.
#[derive(Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// [`VERSION`] of the host.
    pub version: u32,
    /// The program must repeat it in its hello; new for each execution.
    pub token: String,
    /// The execution's arguments (`--arg KEY=VALUE`).
    pub args: BTreeMap<String, String>,
}

/// The reason why a call has no answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The failure and its remedy, for the user or a model.
    pub message: String,
}

/// Kinds of [`CallFailure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The tool is not among those that this execution may call.
    Denied,
    /// Answers that were received may not flow into this call; it was not sent.
    Flow,
    /// The server did not answer in time.
    Timeout,
    /// The server is not connected, or its connection ended.
    Unavailable,
    /// The arguments do not fit the tool's input schema; the call was not sent.
    InvalidParams,
    /// The server answered with a JSON-RPC error, usually about the arguments.
    Rejected,
    /// The request or answer violates the protocol or its limits.
    Protocol,
}

impl FailureKind {
    /// Whether the host refused the call, so that no server received it.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(self, FailureKind::Denied | FailureKind::Flow | FailureKind::InvalidParams)
    }
}

/// A message from the program to the host; unknown members are errors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToHost {
    /// The first frame.
    Hello {
        /// [`VERSION`] of the program.
        version: u32,
        /// The token of the welcome.
        token: String,
    },
    /// Call a tool.
    Call {
        /// Number of the call, from 0 and increasing.
        id: u64,
        /// Identity of the tool: see [`crate::tool::Tool::mark`].
        tool: String,
        /// The arguments object.
        arguments: Box<RawValue>,
    },
    /// A question. Answered like a call, as each [`Question`] says.
    Ask {
        /// Its number, from the same sequence as calls.
        id: u64,
        /// The question.
        question: Question,
    },
    /// The program no longer waits for a call.
    Cancel {
        /// The call's number.
        id: u64,
    },
    /// A content block for the outcome (MCP's `ContentBlock`).
    Emit {
        /// The block.
        content: Box<RawValue>,
    },
    /// Progress of the program.
    Progress {
        /// Units done.
        done: f64,
        /// Units in all.
        total: f64,
        /// A description, up to [`PROGRESS_LIMIT`].
        #[serde(deserialize_with = "short_text")]
        message: String,
    },
    /// A likely mistake in the snippet that the compiler could not see.
    Warn(Warning),
    /// The program has ended; its last frame.
    Finish(Finish),
}

/// A warning of a running snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// The likely mistake, up to [`PROGRESS_LIMIT`].
    #[serde(deserialize_with = "short_text")]
    pub message: String,
    /// Line of the snippet, from 1, if known.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// A program's question about tools or resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// Searches for tools; answered with an array of [`FoundTool`].
    Search {
        /// In words; empty for all tools.
        query: String,
        /// Only tools of this server.
        server: Option<String>,
        /// Maximum number of tools.
        limit: Option<u32>,
    },
    /// Describes tools in full, as text.
    Describe {
        /// Their names.
        tools: Vec<String>,
    },
    /// Lists resources and resource templates; answered with an array of [`FoundResource`].
    Resources {
        /// Only those of this server.
        server: Option<String>,
        /// Only those that contain each of these words.
        query: Option<String>,
    },
    /// Reads a resource; answered with MCP's `ReadResourceResult`. Needs permission, like a call.
    Resource {
        /// Its URI.
        uri: String,
        /// The server that has it; optional if the URI is unique.
        server: Option<String>,
    },
}

impl Question {
    /// Its size in flight: the total length of its strings, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Question::Search { query, server, .. } => query.len() + optional(server),
            Question::Resources { server, query } => optional(server) + optional(query),
            Question::Resource { uri, server } => uri.len() + optional(server),
            Question::Describe { tools } => tools.iter().map(|name| size_of::<String>() + name.len()).sum(),
        }
    }
}

/// A server's resource or resource template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundResource {
    /// The server's name in the configuration.
    pub server: String,
    /// The URI; for a template, with expressions in braces (RFC 6570).
    pub uri: String,
    /// The server's name for it.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// Its size in bytes, according to the server.
    pub size: Option<u64>,
    /// Whether it is a template.
    pub is_template: bool,
}

/// A tool found by a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The module of the server's tools.
    pub module: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The function that calls it.
    pub function: String,
    /// The function and its types in brief.
    pub signature: String,
}

/// The end of a program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Finish {
    /// With a value.
    Ok {
        /// The value; absent if there is none, which differs from `null`.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// The calls that were built but never made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unmade: Vec<UnmadeReport>,
    },
    /// With an `Err`.
    Error(ErrorReport),
    /// With a panic.
    Panic(PanicReport),
}

/// Deserializes a present member, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The `Err` that a program ended with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// The error and its causes.
    pub message: String,
    /// The tool call that it comes from, if any.
    pub tool: Option<ToolReport>,
    /// Line of the snippet where it became the snippet's error, from 1.
    pub line: Option<u32>,
    /// Column in that line, from 1.
    pub column: Option<u32>,
}

/// The failed call behind an [`ErrorReport`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReport {
    /// The kind, as [`crate::ToolErrorKind`] prints it.
    pub kind: String,
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
}

/// Maximum number of places with unmade calls to report.
pub const UNMADE_KEPT: usize = 16;

/// Calls that one place built and that were never awaited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmadeReport {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The number.
    pub count: u64,
    /// Line of the snippet, from 1, if the place is in the snippet.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// The panic that a program ended with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicReport {
    /// The panic's message.
    pub message: String,
    /// Line of the snippet, from 1, if the panic is in the snippet.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// Reads the start of a string, up to [`PROGRESS_LIMIT`]. Longer ones are never decoded as a whole.
fn short_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?.get();
    if raw.len() <= PROGRESS_LIMIT {
        return serde_json::from_str(raw).map_err(D::Error::custom);
    }
    if !raw.starts_with('"') {
        return Err(D::Error::custom("the message is not a string"));
    }
    let kept = raw.floor_char_boundary(PROGRESS_LIMIT);
    // A cut may split an escape; the longest is a surrogate pair.
    let beginnings = (0..=MAX_ESCAPE).filter_map(|back| raw.get(..kept.checked_sub(back)?));
    let mut texts = beginnings.filter_map(|beginning| serde_json::from_str(&format!("{beginning}\"")).ok());
    texts.next().ok_or_else(|| D::Error::custom("the message is not a string"))
}

/// Length of the longest escaped character in JSON, in bytes: `\ud83d\ude00`.
const MAX_ESCAPE: usize = 12;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn message(text: &str) -> Result<String, String> {
        let frame = format!("{{\"progress\":{{\"done\":1,\"total\":1,\"message\":{text}}}}}");
        match serde_json::from_slice(frame.as_bytes()).map_err(|error| error.to_string())? {
            ToHost::Progress { message, .. } => Ok(message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_progress_message_is_cut_at_a_character_boundary() {
        assert_eq!(message("\"a\\u00e4\""), Ok("aä".to_owned()));
        for (text, decoded) in [("x", "x"), ("ä", "ä"), ("\\n", "\n"), ("\\ud83d\\ude00", "\u{1f600}")] {
            for before in 0..MAX_ESCAPE {
                let long = format!("\"{}{}\"", "y".repeat(before), text.repeat(10_000));
                let kept = message(&long).unwrap();
                let whole = format!("{}{}", "y".repeat(before), decoded.repeat(10_000));
                assert!(whole.starts_with(&kept), "{text}");
                let limit = PROGRESS_LIMIT / text.len() * decoded.len();
                assert!(kept.len() <= PROGRESS_LIMIT && kept.len() + 40 >= limit, "{text}: {}", kept.len());
            }
        }
    }

    #[test]
    fn a_progress_message_must_be_a_string() {
        for wrong in ["7", "null", "[]", "\"\\ud800\""] {
            assert!(message(wrong).is_err(), "{wrong}");
        }
        assert!(message(&format!("[{}1]", "1,".repeat(10_000))).is_err());
    }
}
