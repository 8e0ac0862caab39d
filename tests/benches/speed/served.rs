//! Measures snippets through `toolsmith serve`, as clients use it: warm, with a pause before each request.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json, value::to_raw_value};
use tokio::time::sleep;

use super::figures::{Figures, Row, median, milliseconds};
use super::snippets::{CALLS, LARGE, LOOP, SUM, TYPE_ERROR, TYPICAL, call};

/// Time without requests before each measurement. A client's model takes longer to write a program.
pub(super) const PAUSE: Duration = Duration::from_millis(400);

/// The number of executions that run at a time under load.
pub(super) const AT_ONCE: usize = 16;
/// Executions under load for each round.
const LOAD: usize = 32;

/// The rows of the table: a new snippet, and the same text again.
const TASKS: [(Row, Row); 4] = [
    (("serve_sum", "serve: `a + 1`, new"), ("serve_sum_again", "serve: `a + 1`, repeat")),
    (("serve_call", "serve: one tool call, new"), ("serve_call_again", "serve: one tool call, repeat")),
    (
        ("serve_calls", "serve: ten parallel tool calls, new"),
        ("serve_calls_again", "serve: ten parallel tool calls, repeat"),
    ),
    (
        ("serve_loop", "serve: loop of 3 million steps, new"),
        ("serve_loop_again", "serve: loop of 3 million steps, repeat"),
    ),
];
const ERROR: Row = ("serve_type_error", "serve: a type error, new");
const LARGE_CALL: Row = ("serve_call_large", "serve: one tool call, new, server with 999 tools");
const TYPICAL_ROW: Row = ("serve_typical", "serve: twelve typical snippets, new, geometric mean");

/// The rows that this module measures, in the order of the table.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    TASKS.into_iter().flat_map(|(new, again)| [new, again]).chain([ERROR, LARGE_CALL, TYPICAL_ROW])
}

/// Executions of a known snippet with one tool call, [`AT_ONCE`] at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) per_second: f64,
    /// In milliseconds.
    pub(super) median: f64,
    /// The 99th percentile, in milliseconds.
    pub(super) slowest: f64,
}

/// Memory of the idle server itself, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    pub(super) resident: u64,
    /// Pages of files, mostly of the executable, which the kernel can drop.
    pub(super) file: u64,
}

/// A running server, with its measurements of [`TYPICAL`].
pub(super) struct Served {
    session: mcp::Session,
    typical: BTreeMap<usize, Vec<f64>>,
}

impl Served {
    /// Starts the server with a configuration.
    pub(super) async fn start(program: &Path, config: &str, environment: BTreeMap<String, String>) -> Self {
        let arguments = ["serve", "--quiet", "--config", config];
        let mut server = mcp::ServerConfig::stdio("toolsmith", program.to_string_lossy(), arguments);
        if let mcp::Transport::Stdio(command) = &mut server.transport {
            command.env = environment;
        }
        let served =
            Served { session: mcp::Session::connect(&server).await.unwrap(), typical: BTreeMap::new() };
        // Compiles the bindings and fills the caches.
        for server in ["demo", LARGE] {
            served.execute(&call(server), "ok").await;
        }
        served
    }

    /// Measures every row once. `unique` makes the texts new.
    pub(super) async fn round(&mut self, unique: &str, figures: &mut Figures) {
        let text = |code: &str| format!("// {unique}\n{code}");
        for ((new, again), code) in TASKS.into_iter().zip([SUM, &call("demo"), CALLS, LOOP]) {
            figures.add(new.0, self.execute(&text(code), "ok").await);
            figures.add(again.0, self.execute(&text(code), "ok").await);
        }
        figures.add(ERROR.0, self.execute(&text(TYPE_ERROR), "compile_error").await);
        // Spare compilers are for the servers of the latest snippets, so that of this row must be one of them.
        self.execute(&text(&format!("// before\n{}", call(LARGE))), "ok").await;
        figures.add(LARGE_CALL.0, self.execute(&text(&call(LARGE)), "ok").await);
        for (number, code) in TYPICAL.into_iter().enumerate() {
            let time = self.execute(&text(&format!("// {number}\n{code}")), "ok").await;
            self.typical.entry(number).or_default().push(time);
        }
    }

    /// Adds the geometric mean of the medians of [`TYPICAL`].
    pub(super) fn add_typical(&self, figures: &mut Figures) {
        let medians: Vec<f64> = self.typical.values().map(|times| median(times)).collect();
        let logarithms: f64 = medians.iter().map(|median| median.ln()).sum();
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        figures.add(TYPICAL_ROW.0, (logarithms / medians.len() as f64).exp());
    }

    /// Executes a text after a pause and returns the time from request to answer, in milliseconds.
    async fn execute(&self, code: &str, status: &str) -> f64 {
        sleep(PAUSE).await;
        self.execute_at_once(code, status).await
    }

    async fn execute_at_once(&self, code: &str, status: &str) -> f64 {
        let arguments = to_raw_value(&json!({ "code": code })).unwrap();
        let started = Instant::now();
        let answer = self.session.call("execute_code", arguments).await.unwrap();
        let elapsed = milliseconds(started.elapsed());
        let answer: Value = serde_json::from_str(answer.raw().get()).unwrap();
        let outcome = &answer["_meta"]["io.toolsmith/outcome"];
        let is_corrected = outcome["fixes"].as_array().is_some_and(|fixes| !fixes.is_empty());
        assert!(
            outcome["status"] == status && !is_corrected,
            "expected {status:?} without corrections from {code:?}: {answer}"
        );
        elapsed
    }

    /// Repeats a snippet with one tool call, many at once.
    pub(super) async fn load(&self, rounds: u32) -> Load {
        let text = call("demo");
        self.execute_at_once(&text, "ok").await;
        let count = LOAD * rounds as usize;
        let started = Instant::now();
        let runs =
            stream::iter(0..count).map(|_| self.execute_at_once(&text, "ok")).buffer_unordered(AT_ONCE);
        let mut times: Vec<f64> = runs.collect().await;
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let per_second = count as f64 / started.elapsed().as_secs_f64();
        times.sort_by(f64::total_cmp);
        let slowest = times.get(count * 99 / 100).copied().unwrap_or(f64::NAN);
        Load { per_second, median: median(&times), slowest }
    }

    /// The memory of the server itself, without its servers, compilers and helpers.
    pub(super) async fn memory(&self) -> Memory {
        sleep(PAUSE).await;
        let id = self.session.process_group().unwrap_or_default();
        // See proc_pid_status(5).
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let bytes = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
            value.and_then(|value| value.parse::<u64>().ok()).unwrap_or_default() << 10
        };
        Memory { resident: bytes("VmRSS:"), file: bytes("RssFile:") }
    }

    /// Ends the server.
    pub(super) async fn end(self) {
        self.session.close().await;
    }
}
