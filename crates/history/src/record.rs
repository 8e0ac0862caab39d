//! The records read from a history. The names of the members are a contract: members may be added, but not renamed.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use system::calendar::of_milliseconds;

/// An execution in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its place in the history: each execution has a higher one than those that began before it in its process.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// When it began, in milliseconds since 1970; in JSON as a time of RFC 3339.
    #[serde(serialize_with = "time")]
    pub begun: i64,
    /// When it ended.
    #[serde(serialize_with = "time_if_any")]
    pub ended: Option<i64>,
    /// Its status: one of the outcome's, or `running`, `interrupted` (its process was killed), `input_required` (the
    /// client was asked for permission by the answer), `host_error`.
    pub status: String,
    /// Whether it is running, and waits for the answer to a question.
    pub is_waiting: bool,
    /// The kind of the error, if there is one.
    pub error_kind: Option<String>,
    /// The beginning of the error's message.
    pub error: Option<String>,
    /// The saved program that it ran; `null` for a snippet.
    pub program: Option<String>,
    /// The first line of its snippet.
    pub title: String,
    /// The tools that it called, as `server.tool`.
    pub tools: Vec<String>,
    /// The number of calls that it made.
    pub calls: u64,
    /// Its duration, in milliseconds.
    pub total_ms: Option<f64>,
    /// `command`, `stdio`, `http` or `in-process`.
    pub transport: String,
    /// The client's name, as it claims.
    pub client: Option<String>,
    /// The client's version, as it claims.
    pub client_version: Option<String>,
    /// The MCP session.
    pub session: Option<String>,
    /// The subject of the request's token.
    pub subject: Option<String>,
    /// The issuer of the token.
    pub issuer: Option<String>,
    /// The remote address.
    pub address: Option<String>,
    /// The run of the requesting agent.
    pub parent_run: Option<String>,
    /// The working folder.
    pub folder: String,
    /// Whether it was only compiled.
    pub check_only: bool,
    /// A hash of the snippet as sent. Equal snippets have equal hashes in one history.
    pub code_hash: String,
    /// The size of the snippet, in bytes.
    pub code_bytes: u64,
    /// Estimates of tokens.
    pub tokens: Tokens,
}

impl Summary {
    /// Whether it succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.status == "ok"
    }
}

fn time<S: Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&of_milliseconds(*at))
}

fn time_if_any<S: Serializer>(at: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(of_milliseconds).serialize(serializer)
}

/// Estimates of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// The snippet, which the model wrote.
    pub code: u64,
    /// The answer, which the model read.
    pub answer: u64,
    /// The arguments and results of its calls, which the model would have written and read with direct calls.
    pub direct: u64,
}

impl Tokens {
    /// Returns the further cost of direct calls beyond the snippet and its answer; negative if they would have cost
    /// less.
    #[must_use]
    pub fn saved(&self) -> i64 {
        let integer = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        integer(self.direct).saturating_sub(integer(self.code.saturating_add(self.answer)))
    }
}

/// A whole execution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Execution {
    /// Its entry in a list.
    #[serde(flatten)]
    pub summary: Summary,
    /// The snippet, with secrets masked.
    pub code: String,
    /// Whether `code` is the snippet as sent, without a masked secret.
    pub code_is_whole: bool,
    /// Whether `run --replay` has what it needs.
    pub is_recorded: bool,
    /// The snippet's arguments.
    pub arguments: Option<Arguments>,
    /// When each phase started.
    pub phases: Vec<PhaseStart>,
    /// The calls, in the order in which they began.
    pub calls_made: Vec<Call>,
    /// The questions to the user.
    pub questions: Vec<Question>,
    /// The members of the outcome, with its output cut to what is kept; `null` before its end.
    pub outcome: Value,
}

/// The start of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseStart {
    /// `checking`, `compiling`, `connecting`, `asking` or `running`.
    pub phase: String,
    /// Milliseconds since the execution began.
    pub at_ms: f64,
}

/// The kept form of arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arguments {
    /// Their size as JSON, in bytes.
    pub bytes: usize,
    /// A hash of their canonical JSON. Equal arguments have equal hashes in one history.
    pub hash: String,
    /// The arguments, if they are kept in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Their beginning, if they can't be kept as a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether a part of them is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A call of a tool. Toolsmith never repeats a call: if a snippet tries again, that is another call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Its number within the execution.
    pub number: u64,
    /// The server's name; empty for a tool that the program may not call.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// When the program made it, in milliseconds since the execution began, like the following times.
    pub began_ms: f64,
    /// When it was passed to the server's session, after the user's permission.
    pub sent_ms: Option<f64>,
    /// When it ended.
    pub ended_ms: Option<f64>,
    /// Whether the tool answered without an error.
    pub ok: Option<bool>,
    /// The kind of failure: `timeout`, `denied`, `tool_error`, …
    pub error: Option<String>,
    /// Size of the result as JSON.
    pub bytes: u64,
    /// The age of the cached result that was used instead of a call.
    pub cached_age_ms: Option<f64>,
    /// The kept form of its arguments.
    pub arguments: Option<Arguments>,
    /// An estimate of the tokens of its arguments and result.
    pub direct_tokens: u64,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The subject: `program`, `call`, or `server` for a question of a server.
    pub about: String,
    /// The tools, as `server.tool`.
    pub tools: Vec<String>,
    /// The question as shown, with secrets masked.
    pub text: String,
    /// When it was asked, in milliseconds since the execution began.
    pub asked_ms: f64,
    /// When it was answered.
    pub answered_ms: Option<f64>,
    /// The answer: `once`, `session`, `always`, `no`, `late`, `nobody`, …
    pub answer: Option<String>,
    /// The answerer: `terminal`, `client`, or `nobody`.
    pub answered_by: Option<String>,
}

/// The savings of code mode over a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Savings {
    /// The start of the period, in milliseconds since 1970; in JSON as a time of RFC 3339.
    #[serde(serialize_with = "time")]
    pub since: i64,
    /// The executions that ended.
    pub executions: u64,
    /// The number of them that failed.
    pub failed: u64,
    /// Their calls.
    pub calls: u64,
    /// The tokens of those that succeeded: what a failed one would have cost with direct calls is not known.
    pub tokens: Tokens,
}

impl Savings {
    /// Adds another period.
    pub fn add(&mut self, other: &Savings) {
        self.executions += other.executions;
        self.failed += other.failed;
        self.calls += other.calls;
        self.tokens.code += other.tokens.code;
        self.tokens.answer += other.tokens.answer;
        self.tokens.direct += other.tokens.direct;
    }
}
