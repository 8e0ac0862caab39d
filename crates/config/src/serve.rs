//! The part of a configuration for `toolsmith serve`: what it provides, and its limits.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identities::{AuthForm, DeniedForm, SubjectLimitsForm, TokensForm};
use super::key_macros::{Kind, plain, record, section};
use super::key_types::{Address, Count, Expanded, FilePath, Number, Seconds, Size};
use super::placed::AsWritten;
use super::shared_state::SharedStateForm;
use crate::telemetry::Telemetry;

/// Minimum size of an answer's text, in bytes: enough for a useful head and tail.
const MIN_OUTPUT: u64 = 1 << 10;

section! {
    /// What `toolsmith serve` provides, and its limits.
    #[serde(rename_all = "camelCase")]
    Serve from ServeForm {
        /// Approximate size of the description of `execute_code`, in tokens; signatures are included as space allows.
        description_tokens: Number<usize> = 2_000,
        /// Maximum size of an answer's text, such as 64KiB; the full text is a resource that can be read by range.
        output: Size<usize, MIN_OUTPUT> = 48 << 10,
        /// Whether answers of `execute_code` also have their outcome as structured content. Several clients then show
        /// a model only that. By default, only clients that need it get it.
        structured_outcome: Option<bool>,
        /// Maximum executions that run at once.
        max_executions: Count<usize> = 16,
        /// Maximum executions that wait to start; further ones are refused as busy.
        max_waiting: Number<usize> = 64,
        /// How long an execution may wait to start, in seconds; then it is refused as busy.
        queue_timeout: Seconds = Duration::from_secs(120),
        /// Available memory below which executions wait to start while others run, such as 256MiB; 0 for no limit.
        min_memory: Size<u64, 0> = 256 << 20,
        /// How long `tools/list` waits for servers that have not answered yet, in seconds. By default 0.5, or 8 for
        /// clients that list tools only once.
        list_wait: Option<Seconds>,
        /// How long requests are still accepted after the server is asked to stop and no longer reports that it is ready, in
        /// seconds: as long as a load balancer needs to notice that. At most 300.
        drain_delay: Number<u64, 0, MOST_DRAIN_DELAY> = 0,
        /// How long running executions may continue after the server is asked to stop, in seconds.
        grace: Seconds = Duration::from_secs(10),
        /// Time limit for a client to answer a question, in seconds; then the call is denied.
        question_timeout: Seconds = Duration::from_secs(600),
        /// How long a client waits for the answer to `execute_code`, in seconds: then the answer says that the snippet
        /// still runs, and how to wait on. Default: by client, a little less than its own limit.
        answer_before: Option<Seconds>,
        /// Sessions with servers that are opened before an execution needs them.
        spares: SparesForm,
        /// Maximum compilers that are started before a snippet needs them; 0 for none. They end after
        /// `spares.idleTime` without a snippet.
        spare_compilers: Number<usize, 0, MOST_SPARE_COMPILERS> = 2,
        /// Maximum HTTP sessions at once.
        max_sessions: Count<usize> = 64,
        /// Names of this host that clients may use over HTTP, in addition to loopback addresses; `name` or
        /// `name:port`.
        hosts: Vec<String> = Vec::new(),
        /// Origins of web pages that may use the server over HTTP, such as `https://app.example.com:443`.
        origins: Vec<String> = Vec::new(),
        /// Saved programs to offer as tools, as globs such as `revenue_*`. Each must be approved:
        /// `toolsmith program approve`.
        programs: Vec<String> = Vec::new(),
        /// Whether models may save programs with the tool `save_program`. The user is asked each time.
        save_program: bool = false,
        /// The authorization server whose access tokens are accepted over HTTP.
        auth: Option<AuthForm>,
        /// Tokens that are accepted over HTTP, by the name of their subject.
        tokens: Option<TokensForm>,
        /// Subjects and tokens that are refused.
        deny: DeniedForm,
        /// Limits of each subject.
        subject_limits: SubjectLimitsForm,
        /// What several replicas share, so that clients without sessions need no particular one.
        shared_state: Option<SharedStateForm>,
        /// The audit log: who ran what.
        audit: Option<AuditForm>,
        /// Metrics for Prometheus.
        metrics: Option<MetricsForm>,
        /// Export of traces over OTLP.
        telemetry: Option<TelemetryForm>,
    }
}

/// Maximum of `serve.drainDelay`, in seconds: load balancers notice within seconds.
const MOST_DRAIN_DELAY: u64 = 300;

/// Maximum of `serve.spareCompilers`, because each takes about 50 MiB.
const MOST_SPARE_COMPILERS: u64 = 16;

/// Maximum of `serve.spares.total`, because each session may be a process.
const MOST_SPARES: u64 = 256;

section! {
    /// Sessions with servers that are opened before an execution needs them.
    #[serde(rename_all = "camelCase")]
    Spares from SparesForm {
        /// Maximum spare sessions with one server; 0 for none.
        per_server: Number<usize, 0, MOST_SPARES> = 2,
        /// Maximum spare sessions with all servers together; 0 for none.
        total: Number<usize, 0, MOST_SPARES> = 8,
        /// How long after its server was last used a spare session is kept, and a spare compiler after the last snippet, in
        /// seconds.
        idle_time: Seconds = Duration::from_secs(300),
    }
}

record! {
    /// The audit log: who ran what, as JSON lines readable only by the owner.
    #[serde(rename_all = "camelCase")]
    AuditLog from AuditForm {
        /// The file, relative to the folder of this file.
        file: LogFile,
        /// How much of a call's arguments is logged.
        arguments: ArgumentsKept = ArgumentsKept::default(),
    }
}

record! {
    /// Metrics for Prometheus, at the path `/metrics`.
    #[serde(rename_all = "camelCase")]
    Metrics from MetricsForm {
        /// The address of a listener for metrics alone, such as `127.0.0.1:9464`. It requires no token. Without it, they
        /// are at the address of `--http`, with the same token.
        address: Option<ListenAddress>,
    }
}

/// An IP address and a port to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline)]
pub struct ListenAddress(#[schemars(with = "String")] SocketAddr);

impl TryFrom<String> for ListenAddress {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let parsed = text.parse().map(ListenAddress);
        parsed.map_err(|_| "this is not an IP address with a port; write one such as 127.0.0.1:9464")
    }
}

impl Kind for ListenAddress {
    type Value = SocketAddr;

    fn value(self) -> SocketAddr {
        self.0
    }
}

/// A non-empty path of a file.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "AsWritten<FilePath>")]
#[schemars(with = "String")]
pub struct LogFile(PathBuf);

impl TryFrom<AsWritten<FilePath>> for LogFile {
    type Error = &'static str;

    fn try_from(file: AsWritten<FilePath>) -> Result<Self, &'static str> {
        if file.written.is_empty() {
            return Err("the path of the audit log is empty; write a path");
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

/// How much of a call's arguments is logged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentsKept {
    /// Nothing.
    None,
    /// Their BLAKE3 hash and size.
    #[default]
    Hash,
    /// Their hash and size, and the arguments without secrets, up to 16 KiB.
    Full,
}

plain!(ArgumentsKept);

/// Export of traces over OTLP.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TelemetryForm {
    /// The collector's address, such as http://127.0.0.1:4318 (default: the value of OTEL_EXPORTER_OTLP_ENDPOINT).
    endpoint: Option<Address>,
    /// Headers of each export.
    #[serde(default)]
    headers: BTreeMap<String, Expanded>,
    /// The name of this service (default: the value of OTEL_SERVICE_NAME, or toolsmith).
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
