//! The part of a configuration that says what `toolsmith serve` offers, and within what bounds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key_macros::{Kind, plain, record, section};
use super::key_types::{Address, Count, Expanded, FilePath, Number, Seconds, Size};
use super::placed::AsWritten;
use crate::telemetry::Telemetry;

/// Least bytes of an answer's text: head and tail that say something.
const LEAST_OUTPUT: u64 = 1 << 10;

section! {
    /// What `toolsmith serve` offers, and within what bounds.
    #[serde(rename_all = "camelCase")]
    Serve from ServeForm {
        /// Tokens of the description of `execute_code`, about: signatures stand in it as far as they fit.
        description_tokens: Number<usize> = 2_000,
        /// Most bytes of an answer's text, such as 64KiB; the rest is a resource to read by range.
        output: Size<usize, LEAST_OUTPUT> = 48 << 10,
        /// Whether answers of `execute_code` have their outcome as structured content too. Several clients then show a
        /// model nothing else.
        structured_outcome: bool = false,
        /// How many executions run at once.
        max_executions: Count<usize> = 16,
        /// How many wait for their turn; one more is told that the server is busy.
        max_waiting: Number<usize> = 64,
        /// How long `tools/list` waits for servers that have not answered yet, in seconds.
        list_wait: Seconds = Duration::from_millis(500),
        /// How long running executions may go on when the server is stopped, in seconds.
        grace: Seconds = Duration::from_secs(10),
        /// How long a client may take to answer a question, in seconds; after that it is denied.
        question_timeout: Seconds = Duration::from_secs(600),
        /// How many sessions there are over HTTP at once.
        max_sessions: Count<usize> = 64,
        /// Names of this host that clients may use over HTTP, beside loopback addresses; `name` or `name:port`.
        hosts: Vec<String> = Vec::new(),
        /// Origins of web pages that may use the server over HTTP, such as `https://app.example.com:443`.
        origins: Vec<String> = Vec::new(),
        /// A log of who ran what.
        audit: Option<AuditForm>,
        /// Export of traces over OTLP.
        telemetry: Option<TelemetryForm>,
    }
}

record! {
    /// A log of who ran what: JSON lines, readable by its owner alone.
    #[serde(rename_all = "camelCase")]
    AuditLog from AuditForm {
        /// The file, from the folder of this file on.
        file: LogFile,
        /// What is kept of calls' arguments.
        arguments: ArgumentsKept = ArgumentsKept::default(),
    }
}

/// A file with a name.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "AsWritten<FilePath>")]
#[schemars(with = "String")]
pub struct LogFile(PathBuf);

impl TryFrom<AsWritten<FilePath>> for LogFile {
    type Error = &'static str;

    fn try_from(file: AsWritten<FilePath>) -> Result<Self, &'static str> {
        if file.written.is_empty() {
            return Err("the file of the audit log has no name; write a path");
        }
        Ok(LogFile(file.value()))
    }
}

impl Kind for LogFile {
    type Value = PathBuf;

    fn value(self) -> PathBuf {
        self.0
    }
}

/// How much of a call's arguments is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentsKept {
    /// Nothing.
    None,
    /// Their BLAKE3 hash and size.
    #[default]
    Hash,
    /// These, and the arguments without secrets, up to 16 KiB.
    Full,
}

plain!(ArgumentsKept);

/// Export of traces over OTLP.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TelemetryForm {
    /// The collector's address, such as http://127.0.0.1:4318 (default: that of OTEL_EXPORTER_OTLP_ENDPOINT).
    endpoint: Option<Address>,
    /// Headers that it is sent.
    #[serde(default)]
    headers: BTreeMap<String, Expanded>,
    /// What this service is called (default: what OTEL_SERVICE_NAME says, or toolsmith).
    service_name: Option<String>,
}

impl Kind for TelemetryForm {
    type Value = Telemetry;

    fn value(self) -> Telemetry {
        Telemetry {
            endpoint: self.endpoint.value(),
            headers: self.headers.value(),
            service_name: self.service_name,
        }
    }
}
