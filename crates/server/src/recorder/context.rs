//! The common context of an execution's records and spans.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::requester::Requester;
use crate::audit::{Arguments, Record, Unrecorded};
use crate::sinks::Sinks;
use crate::telemetry::ExecutionSpan;

/// The context for the records and spans of an execution, or of a direct call.
pub(super) struct ExecutionContext {
    pub(super) sinks: Sinks,
    pub(super) requester: Requester,
    /// The id of the execution.
    pub(super) id: String,
    pub(super) span: ExecutionSpan,
}

impl ExecutionContext {
    /// Starts the span of a request that calls `tool` of this server.
    pub(super) fn new(sinks: Sinks, requester: Requester, id: String, tool: &str) -> Self {
        let span = ExecutionSpan::begin(tool, &id, &requester.incoming());
        ExecutionContext { sinks, requester, id, span }
    }

    pub(super) fn write(&self, record: &Record<'_>) -> Result<(), Unrecorded> {
        let settings = &self.sinks.settings;
        let Some(audit) = &settings.audit else { return Ok(()) };
        audit.record(record, &settings.masker)
    }

    pub(super) fn kept(&self, arguments: &RawValue) -> Option<Arguments> {
        let settings = &self.sinks.settings;
        settings.audit.as_ref()?.arguments(arguments, &settings.masker)
    }

    /// Logs the end of the execution with its data: who, how, and how long in milliseconds.
    pub(super) fn log_end(&self, status: &str, error: Option<&str>, calls: u64, ms: f64) {
        let who = self.requester.who();
        let members = json!({
            "execution": self.id,
            "session": who.session,
            "client": who.client,
            "subject": who.subject,
            "address": who.address,
            "status": status,
            "error": error,
            "calls": calls,
            "ms": ms,
            "trace_id": self.span.trace_id(),
        });
        let Value::Object(mut members) = members else { return };
        members.retain(|_, value| !value.is_null());
        self.sinks.notifier.event("an execution ended", &members);
    }
}
