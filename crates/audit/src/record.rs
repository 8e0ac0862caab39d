//! The records of the log. Their names are a contract: fields may be added later, but not renamed.

use config::ArgumentsKept;
use runner::CachedAnswer;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use terminal::Masker;

use super::line::cut;

/// One event. `execution` is the same in all records of an execution; a direct call has its own id, and no
/// `execution_begin`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[allow(missing_docs, reason = "names in the log, which docs/serve.md describes")]
pub enum Record<'a> {
    /// The start of an execution.
    ExecutionBegin {
        execution: &'a str,
        who: Who<'a>,
        /// BLAKE3 of the text as sent, in hexadecimal.
        snippet_blake3: String,
        snippet_bytes: usize,
        /// The snippet's arguments, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
        check_only: bool,
    },
    /// The tools that the compiled program can call, as `server.tool`.
    Manifest {
        execution: &'a str,
        tools: &'a [String],
        /// The flows between them that are asked about or denied, in lines.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        flows: &'a [String],
    },
    /// The user, or a client on their behalf, answered a permission question. Or a call was denied because of flows.
    Approval {
        execution: &'a str,
        question: &'a str,
        answer: Answer,
        tools: &'a [String],
        /// The flows in question, and the parts of earlier answers in the call's arguments, in lines without their texts.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        flows: &'a [String],
    },
    /// A call is about to leave.
    CallBegin {
        execution: &'a str,
        /// Numbered within the execution.
        call: u64,
        server: &'a str,
        tool: &'a str,
        /// The caller of a direct call, which has no `execution_begin`.
        #[serde(skip_serializing_if = "Option::is_none")]
        who: Option<Who<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
    },
    /// The result of a call.
    CallEnd {
        execution: &'a str,
        call: u64,
        server: &'a str,
        tool: &'a str,
        /// Whether the tool answered without an error.
        ok: bool,
        /// The kind of failure if there is no answer: `timeout`, `denied`, …; `tool_error` if the tool reported one.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        ms: f64,
        /// Size of the answer as JSON.
        bytes: usize,
        /// The cached answer that was used instead of a call, if any.
        #[serde(flatten)]
        cached: Option<CachedAnswer>,
    },
    /// The end of an execution.
    ExecutionEnd {
        execution: &'a str,
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        calls: u64,
        /// The calls that were refused before they were made, by reason, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        calls_refused: Option<Refused>,
        /// The tools of these calls if known, as `server.tool` with the count.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        refused_tools: &'a [String],
        ms: f64,
    },
    /// The refusal of a direct call.
    CallRefused {
        execution: &'a str,
        server: &'a str,
        tool: &'a str,
        who: Who<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
    },
}

/// The number of refused calls, by reason.
#[derive(Debug, Clone, Copy, Serialize)]
#[allow(missing_docs, reason = "names in the log, which docs/serve.md describes")]
pub struct Refused {
    pub forged: u64,
    pub denied: u64,
    pub invalid: u64,
    pub malformed: u64,
}

/// The requester. Only transport, address and subject are verified; the rest is the client's claim.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Who<'a> {
    /// `clientInfo.name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<&'a str>,
    /// `clientInfo.version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'a str>,
    /// The MCP session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    /// The subject of the request's token, or the name of its token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<&'a str>,
    /// The issuer of the token; none for a token of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<&'a str>,
    /// The transport: `stdio`, `http`, or `in-process` for an agent of this process.
    pub transport: &'static str,
    /// The remote address and port, over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<std::net::SocketAddr>,
}

/// The answer to a permission question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, to this execution or call.
    Once,
    /// Yes, for the rest of the session.
    Session,
    /// Yes, from now on.
    Always,
    /// No.
    No,
    /// No answer in time.
    Late,
    /// The client can't ask, or the question was withdrawn.
    Nobody,
    /// The configuration denies it, without a question.
    Denied,
}

/// The logged part of a call's arguments.
#[derive(Debug, Clone, Serialize)]
pub struct Arguments {
    bytes: usize,
    /// Hash of their JSON as sent, byte by byte, in hexadecimal.
    blake3: String,
    /// All of them, if configured and short enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// Their text, or its beginning, if they can't be logged as a value: they are too long, a name or number contains a
    /// secret, or a number would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

impl Arguments {
    /// Maximum size of arguments that are logged in full, in bytes of JSON.
    pub const KEPT: usize = 16 * 1024;

    /// Longer ones are only hashed, because masking them takes too long. In bytes.
    const READ: usize = 256 * 1024;

    pub(crate) fn of(raw: &RawValue, kept: ArgumentsKept, masker: &Masker) -> Option<Self> {
        if kept == ArgumentsKept::None {
            return None;
        }
        let blake3 = blake3::hash(raw.get().as_bytes()).to_hex().to_string();
        let mut arguments = Arguments { bytes: raw.get().len(), blake3, value: None, cut: None };
        if kept == ArgumentsKept::Full {
            arguments.keep(raw, masker);
        }
        Some(arguments)
    }

    fn keep(&mut self, raw: &RawValue, masker: &Masker) {
        if self.bytes > Self::READ {
            self.cut = Some("…".to_owned());
            return;
        }
        // Masks the parsed value, so that escapes can't hide a secret.
        let Ok(mut value) = serde_json::from_str::<Value>(raw.get()) else { return };
        let before = value.clone();
        masker.mask_value(&mut value);
        let mut text = value.to_string();
        let keeps_numbers = strict_json::keeps_numbers(raw);
        if !keeps_numbers && value == before {
            text = raw.get().to_owned();
        }
        // Names and numbers are masked in the text, which then may no longer be JSON.
        let masked = masker.mask(&text);
        if keeps_numbers && masked == text && text.len() <= Self::KEPT {
            self.value = Some(value);
        } else {
            self.cut = Some(cut(&masked, Self::KEPT));
        }
    }
}
