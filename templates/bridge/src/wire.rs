//! The broker's protocol: one Unix socket, length-delimited frames of JSON.
//!
//! A frame is a 32-bit big-endian length and that many bytes of one JSON value. The host speaks first with
//! [`ToProgram::Welcome`]; the program's first frame is [`ToHost::Hello`]. Values of tools travel as raw JSON.
//! Reading and writing frames on the host's side is the host's; the blocking pair for programs is here.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::size::size;

/// Version of the protocol. Host and program must agree exactly: they are built from the same sources.
pub const VERSION: u32 = 6;

/// Largest frame in bytes, either way (32 MiB). A larger one ends the connection.
pub const FRAME_LIMIT: usize = 32 * 1024 * 1024;

/// Calls and questions in flight at once. The program keeps further ones to itself until there is room, so that the host can
/// always read what needs none: cancellations, content, progress, the end.
pub const CALLS_IN_FLIGHT: usize = 256;

/// Bytes of their arguments in flight at once (32 MiB), where they are not of one call alone.
pub const BYTES_IN_FLIGHT: usize = FRAME_LIMIT;

/// Most bytes of a progress message or a warning that are kept (2 KiB): it is one line. The rest is cut off, by the program
/// and, where that does not, by the host.
pub const PROGRESS_LIMIT: usize = 2 * 1024;

/// Warnings that a program may give; the host drops further ones.
pub const WARNINGS_LIMIT: usize = 20;

/// The descriptor that a program finds its socket on.
pub const BROKER_DESCRIPTOR: i32 = 3;

/// What the host says to the program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToProgram {
    /// The first frame.
    Welcome(Welcome),
    /// A call was answered: `result` is MCP's `CallToolResult` as the server sent it. Or a question was.
    Reply {
        /// The call's number.
        id: u64,
        /// The whole `CallToolResult`.
        result: Box<RawValue>,
    },
    /// A call did not come to an answer.
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
    /// What the program must repeat in its hello; new for each execution.
    pub token: String,
    /// The execution's arguments (`--arg KEY=VALUE`).
    pub args: BTreeMap<String, String>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What happened and what to do, for a person or a model.
    pub message: String,
}

/// Kinds of [`CallFailure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The tool is not among those that this execution may call.
    Denied,
    /// The server did not answer in time.
    Timeout,
    /// The server is not connected, or its connection ended.
    Unavailable,
    /// The arguments do not fit the tool's input schema; the call was not sent.
    InvalidParams,
    /// The server answered with a JSON-RPC error, most often about the arguments.
    Rejected,
    /// Request or answer does not fit the protocol or its limits.
    Protocol,
}

impl FailureKind {
    /// Whether the host refused the call, so that no server saw it.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(self, FailureKind::Denied | FailureKind::InvalidParams)
    }
}

/// What the program says to the host, with nothing beside it.
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
        /// Number of the call, from 0, each one higher than the last.
        id: u64,
        /// Identity of the tool: see [`crate::tool::Tool::mark`].
        tool: String,
        /// The arguments object.
        arguments: Box<RawValue>,
    },
    /// Look something up. Answered like a call, as each [`Question`] says.
    Ask {
        /// Its number, among those of calls.
        id: u64,
        /// What is asked.
        question: Question,
    },
    /// The program no longer waits for a call.
    Cancel {
        /// The call's number.
        id: u64,
    },
    /// A content part for the outcome (MCP's `ContentBlock`).
    Emit {
        /// The part.
        content: Box<RawValue>,
    },
    /// How far the program has come.
    Progress {
        /// Units done.
        done: f64,
        /// Units in all.
        total: f64,
        /// What is going on, up to [`PROGRESS_LIMIT`].
        #[serde(deserialize_with = "short_text")]
        message: String,
    },
    /// Something in the snippet that is most likely wrong, and that the compiler could not see.
    Warn(Warning),
    /// The program has ended by itself; its last frame.
    Finish(Finish),
}

/// A warning about a snippet that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// What is most likely wrong, up to [`PROGRESS_LIMIT`].
    #[serde(deserialize_with = "short_text")]
    pub message: String,
    /// Line of the snippet, from 1, where the place is known.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// What a program asks about tools and resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// Which tools there are for something; answered with an array of [`FoundTool`].
    Search {
        /// In words; none for all tools.
        query: String,
        /// Only tools of this server.
        server: Option<String>,
        /// At most so many tools.
        limit: Option<u32>,
    },
    /// All about some tools, as a text.
    Describe {
        /// Their names.
        tools: Vec<String>,
    },
    /// Which resources and templates of resources there are; answered with an array of [`FoundResource`].
    Resources {
        /// Only those of this server.
        server: Option<String>,
        /// Only those that have each of these words somewhere.
        query: Option<String>,
    },
    /// What a resource holds; answered with MCP's `ReadResourceResult`. Needs permission, as a call does.
    Resource {
        /// Its address.
        uri: String,
        /// The server that has it; none where the address says enough.
        server: Option<String>,
    },
}

impl Question {
    /// Bytes that it counts for while it is in flight: those of its texts.
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

/// A resource of a server, or a template of such.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundResource {
    /// The server's name in the configuration.
    pub server: String,
    /// The address; of a template with expressions in braces to fill in (RFC 6570).
    pub uri: String,
    /// The name that the server gives it.
    pub name: String,
    /// The same for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// Bytes of it, by the server's word.
    pub size: Option<u64>,
    /// Whether it is a template.
    pub is_template: bool,
}

/// A tool that was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The module of the server's tools.
    pub module: String,
    /// The name that the server knows the tool by.
    pub tool: String,
    /// The function that calls it.
    pub function: String,
    /// The function and its types in short.
    pub signature: String,
}

/// How a program ended by itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Finish {
    /// With a value.
    Ok {
        /// The value; not there where there is none, which is not the same as `null`.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// The calls that were built and never made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unmade: Vec<UnmadeReport>,
    },
    /// With an `Err`.
    Error(ErrorReport),
    /// With a panic.
    Panic(PanicReport),
}

/// A member that is there, also where it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The `Err` that a program ended with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// The error and its causes.
    pub message: String,
    /// The call that it comes from, where it is a tool's.
    pub tool: Option<ToolReport>,
    /// Line of the snippet that made it the snippet's error, from 1.
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

/// Most places of calls that are never made that are told.
pub const UNMADE_KEPT: usize = 16;

/// Calls that one place built, and that nothing has awaited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmadeReport {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// How many.
    pub count: u64,
    /// Line of the snippet, from 1, where the place is in the snippet.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// The panic that a program ended with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanicReport {
    /// The panic's message.
    pub message: String,
    /// Line of the snippet, from 1, where the panic is in the snippet.
    pub line: Option<u32>,
    /// Column of the snippet, from 1.
    pub column: Option<u32>,
}

/// Reads the beginning of a text, [`PROGRESS_LIMIT`] at the most. What is longer is never decoded as a whole.
fn short_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?.get();
    if raw.len() <= PROGRESS_LIMIT {
        return serde_json::from_str(raw).map_err(D::Error::custom);
    }
    if !raw.starts_with('"') {
        return Err(D::Error::custom("the message is no text"));
    }
    let kept = raw.floor_char_boundary(PROGRESS_LIMIT);
    // A cut may fall into an escape, of which a surrogate pair is the longest.
    let beginnings = (0..=LONGEST_ESCAPE).filter_map(|back| raw.get(..kept.checked_sub(back)?));
    let mut texts = beginnings.filter_map(|beginning| serde_json::from_str(&format!("{beginning}\"")).ok());
    texts.next().ok_or_else(|| D::Error::custom("the message is no text"))
}

/// Bytes of the longest character as JSON: `\ud83d\ude00`.
const LONGEST_ESCAPE: usize = 12;

/// Reads one frame; `None` at the end of the stream.
///
/// # Errors
/// What the stream says, and `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn read_frame(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {}; the limit is {}", size(length), size(FRAME_LIMIT)),
        ));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame)?;
    Ok(Some(frame))
}

/// Writes `message` as one frame.
///
/// # Errors
/// What the stream says, and `InvalidData` for a frame over [`FRAME_LIMIT`].
pub fn write_frame(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    if length > FRAME_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} in one message; the limit is {}", size(length), size(FRAME_LIMIT)),
        ));
    }
    let prefix = u32::try_from(length).map_err(io::Error::other)?.to_be_bytes();
    frame[..4].copy_from_slice(&prefix);
    stream.write_all(&frame)
}

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
    fn a_progress_message_is_cut_at_a_whole_character() {
        assert_eq!(message("\"a\\u00e4\""), Ok("aä".to_owned()));
        for (text, decoded) in [("x", "x"), ("ä", "ä"), ("\\n", "\n"), ("\\ud83d\\ude00", "\u{1f600}")] {
            for before in 0..LONGEST_ESCAPE {
                let long = format!("\"{}{}\"", "y".repeat(before), text.repeat(10_000));
                let kept = message(&long).unwrap();
                let whole = format!("{}{}", "y".repeat(before), decoded.repeat(10_000));
                assert!(whole.starts_with(&kept), "{text}");
                let most = PROGRESS_LIMIT / text.len() * decoded.len();
                assert!(kept.len() <= PROGRESS_LIMIT && kept.len() + 40 >= most, "{text}: {}", kept.len());
            }
        }
    }

    #[test]
    fn what_is_no_text_is_no_progress_message() {
        for wrong in ["7", "null", "[]", "\"\\ud800\""] {
            assert!(message(wrong).is_err(), "{wrong}");
        }
        assert!(message(&format!("[{}1]", "1,".repeat(10_000))).is_err());
    }
}
