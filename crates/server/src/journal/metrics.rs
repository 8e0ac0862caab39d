//! Counts executions and calls, and measures their durations.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use runner::{AnsweredCall, Begin, Refused, Sink};
use telemetry::meters;

use super::context::RequestContext;

/// The sink of metrics, and of those that are exported with traces.
pub(super) struct MetricsSink(pub(super) Arc<RequestContext>);

impl MetricsSink {
    fn call(&self, answered: &AnsweredCall<'_>) {
        let (server, error, duration) = (answered.call.server, answered.error(), answered.duration);
        let is_cached = answered.cached().is_some();
        let outcome = if is_cached { "cached" } else { error.unwrap_or("ok") };
        self.0.sinks.metrics.call(server, outcome, duration);
        if !is_cached {
            meters::call(server, error, duration);
        }
    }
}

impl Sink for MetricsSink {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        match begin {
            Begin::Answer(answered) => self.call(answered),
            Begin::Outcome(ended) => {
                self.0.sinks.metrics.execution(ended.status);
                meters::execution(ended.status, ended.error, ended.duration);
            }
            _ => {}
        }
        ready(Ok(())).boxed()
    }
}
