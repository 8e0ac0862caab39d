//! The part of a configuration that says what `toolsmith serve` offers, and within what bounds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::checker::Checker;
use super::decode::{At, Problem};
use super::telemetry::Telemetry;

/// What `toolsmith serve` offers, and within what bounds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct ServeEntry {
    /// Tokens of the description of `execute_code`, about (default 2000): signatures stand in it as far as they fit.
    description_tokens: Option<At<u64>>,
    /// Most bytes of an answer's text, such as 64KiB (default 48KiB); the rest is a resource to read by range.
    output: Option<At<String>>,
    /// Whether answers of `execute_code` have their outcome as structured content too (default false). Several clients then
    /// show a model nothing else.
    structured_outcome: Option<bool>,
    /// How many executions run at once (default 16).
    max_executions: Option<At<u64>>,
    /// How many wait for their turn (default 64); one more is told that the server is busy.
    max_waiting: Option<At<u64>>,
    /// How long `tools/list` waits for servers that have not answered yet, in seconds (default 0.5).
    list_wait: Option<At<f64>>,
    /// How long running executions may go on when the server is stopped, in seconds (default 10).
    grace: Option<At<f64>>,
    /// How long a client may take to answer a question, in seconds (default 600); after that it is denied.
    question_timeout: Option<At<f64>>,
    /// How many sessions there are over HTTP at once (default 64).
    max_sessions: Option<At<u64>>,
    /// Names of this host that clients may use over HTTP, beside loopback addresses; `name` or `name:port`.
    hosts: Option<Vec<String>>,
    /// Origins of web pages that may use the server over HTTP, such as `https://app.example.com:443` (default none).
    origins: Option<Vec<String>>,
    /// A log of who ran what.
    audit: Option<At<AuditEntry>>,
    /// Export of traces over OTLP.
    telemetry: Option<At<TelemetryEntry>>,
}

/// A log of who ran what: JSON lines, readable by its owner alone.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AuditEntry {
    /// The file, from the folder of this file on.
    file: At<String>,
    /// What is kept of calls' arguments (default hash).
    #[serde(default)]
    arguments: ArgumentsKept,
}

/// How much of a call's arguments is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentsKept {
    /// Nothing.
    None,
    /// Their BLAKE3 hash and size.
    #[default]
    Hash,
    /// These, and the arguments without secrets, up to [`Arguments::KEPT`] bytes.
    Full,
}

/// Export of traces over OTLP.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TelemetryEntry {
    /// The collector's address, such as http://127.0.0.1:4318 (default: that of OTEL_EXPORTER_OTLP_ENDPOINT).
    #[serde(default)]
    endpoint: Option<At<String>>,
    /// Headers that it is sent.
    #[serde(default)]
    headers: BTreeMap<String, At<String>>,
    /// What this service is called (default: what OTEL_SERVICE_NAME says, or toolsmith).
    #[serde(default)]
    service_name: Option<String>,
}

/// What a layer sets of it.
#[derive(Debug, Clone, Default)]
pub(super) struct ServeSettings {
    description_tokens: Option<usize>,
    output: Option<usize>,
    structured_outcome: Option<bool>,
    max_executions: Option<usize>,
    max_waiting: Option<usize>,
    list_wait: Option<Duration>,
    grace: Option<Duration>,
    question_timeout: Option<Duration>,
    max_sessions: Option<usize>,
    hosts: Option<Vec<String>>,
    origins: Option<Vec<String>>,
    audit: Option<AuditLog>,
    telemetry: Option<Telemetry>,
}

/// What `toolsmith serve` offers, and within what bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Serve {
    /// Tokens of the description of `execute_code`, about.
    pub description_tokens: usize,
    /// Most bytes of an answer's text.
    pub output: usize,
    /// Whether answers of `execute_code` have their outcome as structured content too.
    pub structured_outcome: bool,
    /// How many executions run at once.
    pub max_executions: usize,
    /// How many wait for their turn.
    pub max_waiting: usize,
    /// How long `tools/list` waits for servers that have not answered yet.
    pub list_wait: Duration,
    /// How long running executions may go on when the server is stopped.
    pub grace: Duration,
    /// How long a client may take to answer a question.
    pub question_timeout: Duration,
    /// How many sessions there are over HTTP at once.
    pub max_sessions: usize,
    /// Names of this host that clients may use over HTTP, beside loopback addresses.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the server over HTTP.
    pub origins: Vec<String>,
    /// The log of who ran what.
    pub audit: Option<AuditLog>,
    /// Where traces are exported to.
    pub telemetry: Option<Telemetry>,
}

/// A log of who ran what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLog {
    pub file: PathBuf,
    pub arguments: ArgumentsKept,
}

/// Least bytes of an answer's text: head and tail that say something.
const LEAST_OUTPUT: u64 = 1 << 10;

impl Default for Serve {
    fn default() -> Self {
        Serve {
            description_tokens: 2_000,
            output: 48 << 10,
            structured_outcome: false,
            max_executions: 16,
            max_waiting: 64,
            list_wait: Duration::from_millis(500),
            grace: Duration::from_secs(10),
            question_timeout: Duration::from_secs(600),
            max_sessions: 64,
            hosts: Vec::new(),
            origins: Vec::new(),
            audit: None,
            telemetry: None,
        }
    }
}

impl ServeSettings {
    pub(super) fn over(self, weaker: ServeSettings) -> ServeSettings {
        ServeSettings {
            description_tokens: self.description_tokens.or(weaker.description_tokens),
            output: self.output.or(weaker.output),
            structured_outcome: self.structured_outcome.or(weaker.structured_outcome),
            max_executions: self.max_executions.or(weaker.max_executions),
            max_waiting: self.max_waiting.or(weaker.max_waiting),
            list_wait: self.list_wait.or(weaker.list_wait),
            grace: self.grace.or(weaker.grace),
            question_timeout: self.question_timeout.or(weaker.question_timeout),
            max_sessions: self.max_sessions.or(weaker.max_sessions),
            hosts: self.hosts.or(weaker.hosts),
            origins: self.origins.or(weaker.origins),
            audit: self.audit.or(weaker.audit),
            telemetry: self.telemetry.or(weaker.telemetry),
        }
    }

    /// With the defaults for what no layer says.
    pub(super) fn serve(self) -> Serve {
        let default = Serve::default();
        Serve {
            description_tokens: self.description_tokens.unwrap_or(default.description_tokens),
            output: self.output.unwrap_or(default.output),
            structured_outcome: self.structured_outcome.unwrap_or(default.structured_outcome),
            max_executions: self.max_executions.unwrap_or(default.max_executions),
            max_waiting: self.max_waiting.unwrap_or(default.max_waiting),
            list_wait: self.list_wait.unwrap_or(default.list_wait),
            grace: self.grace.unwrap_or(default.grace),
            question_timeout: self.question_timeout.unwrap_or(default.question_timeout),
            max_sessions: self.max_sessions.unwrap_or(default.max_sessions),
            hosts: self.hosts.unwrap_or_default(),
            origins: self.origins.unwrap_or_default(),
            audit: self.audit,
            telemetry: self.telemetry,
        }
    }
}

impl Checker<'_> {
    pub(super) fn serve(&self, entry: &ServeEntry) -> ServeSettings {
        let count = |number: &Option<At<u64>>| {
            let number = number.as_ref().and_then(|number| self.keep(self.at_least_one(number)))?;
            Some(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let any = |number: &Option<At<u64>>| {
            number.as_ref().map(|number| usize::try_from(number.value).unwrap_or(usize::MAX))
        };
        let seconds = |time: &Option<At<f64>>| time.as_ref().and_then(|time| self.keep(self.seconds(time)));
        let output = entry.output.as_ref().and_then(|size| self.keep(self.size(size, LEAST_OUTPUT)));
        ServeSettings {
            description_tokens: any(&entry.description_tokens),
            output: output.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            structured_outcome: entry.structured_outcome,
            max_executions: count(&entry.max_executions),
            max_waiting: any(&entry.max_waiting),
            list_wait: seconds(&entry.list_wait),
            grace: seconds(&entry.grace),
            question_timeout: seconds(&entry.question_timeout),
            max_sessions: count(&entry.max_sessions),
            hosts: entry.hosts.clone(),
            origins: entry.origins.clone(),
            audit: entry.audit.as_ref().and_then(|audit| self.keep(self.audit(&audit.value))),
            telemetry: entry.telemetry.as_ref().and_then(|entry| self.keep(self.telemetry(&entry.value))),
        }
    }

    fn audit(&self, entry: &AuditEntry) -> Result<AuditLog, Problem> {
        if entry.file.value.is_empty() {
            return Err(self.wrong(&entry.file, "the file of the audit log has no name; write a path"));
        }
        let file = self.source.folder.join(self.expand(&entry.file)?);
        Ok(AuditLog { file, arguments: entry.arguments })
    }

    fn telemetry(&self, entry: &TelemetryEntry) -> Result<Telemetry, Problem> {
        let endpoint = entry.endpoint.as_ref().map(|address| self.address(address)).transpose()?;
        let mut headers = BTreeMap::new();
        for (name, value) in &entry.headers {
            headers.insert(name.clone(), self.expand(value)?);
        }
        Ok(Telemetry { endpoint, headers, service_name: entry.service_name.clone() })
    }
}
