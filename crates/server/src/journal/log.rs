//! Logs the end of each execution with its data, if logs are JSON lines.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use runner::{Begin, EndedExecution, Refused, Sink};
use serde_json::{Value, json};

use super::context::RequestContext;

/// The sink of the log.
pub(super) struct LogSink(pub(super) Arc<RequestContext>);

impl LogSink {
    fn end(&self, ended: &EndedExecution<'_>) {
        let who = self.0.requester.who();
        let members = json!({
            "execution": self.0.id,
            "session": who.session,
            "client": who.client,
            "subject": who.subject,
            "address": who.address,
            "status": ended.status,
            "error": ended.error,
            "calls": ended.calls,
            "ms": ended.duration.as_secs_f64() * 1e3,
            "trace_id": self.0.span.trace_id(),
        });
        let Value::Object(mut members) = members else { return };
        members.retain(|_, value| !value.is_null());
        self.0.sinks.notifier.event("an execution ended", &members);
    }
}

impl Sink for LogSink {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        if let Begin::Outcome(ended) = begin {
            self.end(ended);
        }
        ready(Ok(())).boxed()
    }
}
