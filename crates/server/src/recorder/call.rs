//! The record of one call: its start before it leaves, and its end in any case.

use std::time::{Duration, Instant};

use gateway::propagation::{self, process_depth};
use runner::{Answer, CachedAnswer, CallFailure};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::context::ExecutionContext;
use crate::audit::{Record, Unrecorded};
use crate::telemetry::{CallSpan, Network, meters};

/// A call whose start is recorded. Dropping it records its cancellation.
pub(super) struct Call<'a> {
    execution: &'a ExecutionContext,
    number: u64,
    server: &'a str,
    tool: &'a str,
    network: Network,
    started: Instant,
    /// Taken when the call ends.
    span: Option<CallSpan>,
}

/// The end of a call.
struct Ending {
    ok: bool,
    error: Option<&'static str>,
    bytes: usize,
    /// The age of an answer from the cache.
    cached: Option<Duration>,
}

impl<'a> Call<'a> {
    /// `direct` is true outside an execution.
    ///
    /// # Errors
    /// If the start can't be recorded; then the call must not be made.
    pub(super) fn begin(
        execution: &'a ExecutionContext,
        number: u64,
        (server, tool): (&'a str, &'a str),
        arguments: &RawValue,
        direct: bool,
    ) -> Result<Self, Unrecorded> {
        let network =
            match execution.sinks.settings.config.server(server).map(|server| &server.connection.transport) {
                Some(mcp::Transport::Stdio(_)) | None => Network::Pipe,
                Some(mcp::Transport::Http(_) | mcp::Transport::Sse(_)) => Network::Http,
            };
        execution.write(&Record::CallBegin {
            execution: &execution.id,
            call: number,
            server,
            tool,
            who: direct.then(|| execution.requester.who()),
            arguments: execution.kept(arguments),
        })?;
        let started = Instant::now();
        let span = Some(execution.span.call(server, tool, network, None));
        Ok(Call { execution, number, server, tool, network, started, span })
    }

    /// The `_meta` of the call to the server (MCP).
    pub(super) fn meta(&self) -> Map<String, Value> {
        let mut meta = self.span.as_ref().map(CallSpan::meta).unwrap_or_default();
        meta.extend(process_depth::next(self.execution.requester.depth, self.network == Network::Http));
        meta.extend(self.execution.requester.run.iter().flat_map(|run| propagation::meta_of(run)));
        meta
    }

    /// For `Instrument::instrument`.
    pub(super) fn span(&self) -> tracing::Span {
        self.span.as_ref().map_or_else(tracing::Span::none, |span| span.span().clone())
    }

    /// Records the result.
    ///
    /// # Errors
    /// If it can't be recorded.
    pub(super) fn end(mut self, answer: &Result<Answer, CallFailure>) -> Result<(), Unrecorded> {
        self.write(&match answer {
            Ok(answer) => Ending {
                ok: !answer.is_error,
                error: answer.is_error.then_some("tool_error"),
                bytes: answer.result.get().len(),
                cached: answer.cached,
            },
            Err(failure) => Ending { ok: false, error: Some(failure.kind.as_str()), bytes: 0, cached: None },
        })
    }

    fn write(&mut self, ending: &Ending) -> Result<(), Unrecorded> {
        let Some(span) = self.span.take() else { return Ok(()) };
        let Ending { ok, error, bytes, cached } = *ending;
        match error {
            Some(error) if error != "tool_error" => span.failed(error, None),
            _ => span.answered(!ok, bytes),
        }
        let duration = self.started.elapsed();
        let outcome = if cached.is_some() { "cached" } else { error.unwrap_or("ok") };
        self.execution.sinks.metrics.call(self.server, outcome, duration);
        if cached.is_none() {
            meters::call(self.server, error, duration);
        }
        let ms = duration.as_secs_f64() * 1e3;
        let (execution, call) = (&self.execution.id, self.number);
        let (server, tool) = (self.server, self.tool);
        let cached = cached.map(CachedAnswer::of);
        self.execution.write(&Record::CallEnd { execution, call, server, tool, ok, error, ms, bytes, cached })
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        // The failure can't refuse anything any more.
        let _ = self.write(&Ending { ok: false, error: Some("cancelled"), bytes: 0, cached: None });
    }
}
