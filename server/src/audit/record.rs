//! What can stand in the log. The names are a contract: later fields may be added, none renamed.

use config::ArgumentsKept;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use terminal::Masker;

use super::line::cut;

/// One event. `execution` is the same in all records of an execution; a call that a client makes directly has one of
/// its own, and no `execution_begin`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Record<'a> {
    /// A snippet was taken.
    ExecutionBegin {
        execution: &'a str,
        who: Who<'a>,
        /// BLAKE3 of the text as it came, in hexadecimal.
        snippet_blake3: String,
        snippet_bytes: usize,
        /// What it gets as its arguments, if anything.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
        check_only: bool,
    },
    /// The tools that the compiled program can call, as `server.tool`.
    Manifest { execution: &'a str, tools: &'a [String] },
    /// A person, or whoever answers for one, was asked.
    Approval { execution: &'a str, question: &'a str, answer: Answer, tools: &'a [String] },
    /// A call is about to leave.
    CallBegin {
        execution: &'a str,
        /// Numbered within the execution.
        call: u64,
        server: &'a str,
        tool: &'a str,
        /// Of a direct call, where no `execution_begin` says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        who: Option<Who<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
    },
    /// What became of it.
    CallEnd {
        execution: &'a str,
        call: u64,
        server: &'a str,
        tool: &'a str,
        /// Whether the tool answered without an error.
        ok: bool,
        /// The kind of failure where there is no answer: `timeout`, `denied`, …; `tool_error` where the tool says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        ms: f64,
        /// Of the answer, as JSON.
        bytes: usize,
    },
    /// An execution has ended.
    ExecutionEnd {
        execution: &'a str,
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        calls: u64,
        /// The calls that were refused before they were made, by reason; left out where there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        calls_refused: Option<Refused>,
        /// The tools of these calls where they are known, as `server.tool` with their number.
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        refused_tools: &'a [String],
        ms: f64,
    },
    /// A call that a client makes directly was refused.
    CallRefused {
        execution: &'a str,
        server: &'a str,
        tool: &'a str,
        who: Who<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
    },
}

/// How many calls were refused, by reason.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Refused {
    pub(crate) forged: u64,
    pub(crate) denied: u64,
    pub(crate) invalid: u64,
    pub(crate) malformed: u64,
}

/// Who has asked, by its own word but for transport and address.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Who<'a> {
    /// `clientInfo.name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<&'a str>,
    /// `clientInfo.version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<&'a str>,
    /// The MCP session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    /// What the client speaks over: `stdio`, `http`, or `in-process` of an agent of this process.
    pub(crate) transport: &'static str,
    /// The other end's address and port, over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<std::net::SocketAddr>,
}

/// What was answered when a person was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// Yes, to this execution or call.
    Once,
    /// Yes, for as long as the session lives.
    Session,
    No,
    /// Nobody answered in time.
    Late,
    /// The client can't ask, or the question was withdrawn.
    Nobody,
}

/// What is kept of a call's arguments.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Arguments {
    bytes: usize,
    /// Of their JSON as it was sent, byte by byte, in hexadecimal.
    blake3: String,
    /// All of them, where they are kept and short enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// Their text, or the beginning of it, where a value can't be kept: they are too long, a secret stands in a name or
    /// number, or a value would hold another number than was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

impl Arguments {
    /// Bytes of JSON that are kept in full.
    pub(crate) const KEPT: usize = 16 * 1024;

    /// Longer ones are not looked into, only hashed: masking takes time, and this is not the place to spend it.
    const READ: usize = 256 * 1024;

    pub(super) fn of(raw: &RawValue, kept: ArgumentsKept, masker: &Masker) -> Option<Self> {
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
        // As a value, so that no escape hides a secret.
        let Ok(mut value) = serde_json::from_str::<Value>(raw.get()) else { return };
        let before = value.clone();
        masker.mask_value(&mut value);
        let mut text = value.to_string();
        let keeps_numbers = strict_json::keeps_numbers(raw);
        if !keeps_numbers && value == before {
            text = raw.get().to_owned();
        }
        // Names and numbers are masked in the text, which then may be no JSON any more.
        let masked = masker.mask(&text);
        if keeps_numbers && masked == text && text.len() <= Self::KEPT {
            self.value = Some(value);
        } else {
            self.cut = Some(cut(&masked, Self::KEPT));
        }
    }
}
