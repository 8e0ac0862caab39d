//! Metrics for Prometheus: executions, calls, the queue, sessions, and this process.
//!
//! They are always counted; `serve.metrics` decides whether they are exported. A label's value is a fixed word or the
//! name of a configured server. None comes from a client, a snippet or an answer, so nobody can create series.

#[cfg(test)]
mod tests;

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use runner::Outcome;

use crate::resource::Refusals;

/// A label set: names are fixed.
pub(crate) type Labels<const N: usize> = [(&'static str, String); N];

/// Durations of phases and calls in seconds: from a cached program's start to the longest time limit.
const BUCKETS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0];

/// The counters and histograms of this process.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    executions: Family<Labels<1>, Counter>,
    phases: Family<Labels<1>, Histogram>,
    programs: Family<Labels<1>, Counter>,
    tiers: Family<Labels<1>, Counter>,
    processor: Counter<f64>,
    calls: Family<Labels<2>, Counter>,
    call_durations: Family<Labels<1>, Histogram>,
    /// Sessions of clients over HTTP.
    pub(crate) http_sessions: Gauge,
    /// Refusals because others use what is shared.
    pub(crate) refusals: Refusals,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        Metrics {
            executions: Family::default(),
            phases: Family::new_with_constructor(histogram),
            programs: Family::default(),
            tiers: Family::default(),
            processor: Counter::default(),
            calls: Family::default(),
            call_durations: Family::new_with_constructor(histogram),
            http_sessions: Gauge::default(),
            refusals: Refusals::default(),
        }
    }
}

impl Metrics {
    /// Counts the end of an execution by its status: one of [`runner::Status`], `input_required`, or `host_error`.
    pub(crate) fn execution(&self, status: &str) {
        self.executions.get_or_create(&[("status", status.to_owned())]).inc();
    }

    /// Counts what an execution took: its phases, its processor time, and whether its program was in the cache.
    pub(crate) fn outcome(&self, outcome: &Outcome) {
        for (phase, ms) in outcome.phases_ms.by_name() {
            // A phase that did not happen would only lower the quantiles.
            if ms > 0.0 {
                self.phases.get_or_create(&[("phase", phase.to_owned())]).observe(ms / 1e3);
            }
        }
        self.processor.inc_by(outcome.cpu_ms / 1e3);
        if outcome.phases_ms.run > 0.0 && !outcome.sandbox.tier.is_empty() {
            self.tiers.get_or_create(&[("tier", outcome.sandbox.tier.clone())]).inc();
        }
        if let Some(source) = source(outcome) {
            self.programs.get_or_create(&[("source", source.to_owned())]).inc();
        }
    }

    /// Counts a call that has ended. `outcome` is `ok`, `cached`, `tool_error`, `cancelled`, or the kind of the failure.
    pub(crate) fn call(&self, server: &str, outcome: &str, duration: Duration) {
        let server = server.to_owned();
        self.calls.get_or_create(&[("server", server.clone()), ("outcome", outcome.to_owned())]).inc();
        if outcome != "cached" {
            self.call_durations.get_or_create(&[("server", server)]).observe(duration.as_secs_f64());
        }
    }

    /// Adds them to a registry, which then contains their current values at each scrape.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("executions", "Executions that have ended, by status", self.executions.clone());
        registry.register_with_unit(
            "execution_phase_duration",
            "Duration of the phases of executions; phases overlap",
            Unit::Seconds,
            self.phases.clone(),
        );
        registry.register(
            "programs",
            "Programs of executions, by source: cached, or compiled",
            self.programs.clone(),
        );
        registry.register(
            "sandboxed_programs",
            "Programs that ran, by tier of their sandbox",
            self.tiers.clone(),
        );
        registry.register_with_unit(
            "program_processor_time",
            "Processor time of programs",
            Unit::Seconds,
            self.processor.clone(),
        );
        registry.register(
            "tool_calls",
            "Calls of tools and readings of resources, by server and outcome",
            self.calls.clone(),
        );
        registry.register_with_unit(
            "tool_call_duration",
            "Duration of the calls that were sent to a server",
            Unit::Seconds,
            self.call_durations.clone(),
        );
        registry.register(
            "refusals",
            "Requests that were refused because others use a shared resource, by resource",
            self.refusals.family(),
        );
        registry.register("http_sessions", "Sessions of clients over HTTP", self.http_sessions.clone());
    }
}

/// Where the program of an execution came from; `None` if there was none.
fn source(outcome: &Outcome) -> Option<&'static str> {
    match outcome.cached {
        true => Some("cached"),
        false => (outcome.phases_ms.compile > 0.0).then_some("compiled"),
    }
}
