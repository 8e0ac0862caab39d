//! The common context of an execution's records and spans.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::requester::Requester;
use crate::audit::{Arguments, Record, Unrecorded};
use crate::snapshot::Settings;
use crate::telemetry::ExecutionSpan;

/// The context for the records and spans of an execution, or of a direct call.
pub(super) struct ExecutionContext {
    pub(super) settings: Arc<Settings>,
    pub(super) requester: Requester,
    /// The id of the execution.
    pub(super) id: String,
    pub(super) span: ExecutionSpan,
}

impl ExecutionContext {
    /// Starts the span of a request that calls `tool` of this server.
    pub(super) fn new(settings: Arc<Settings>, requester: Requester, id: String, tool: &str) -> Self {
        let span = ExecutionSpan::begin(tool, &id, &requester.incoming());
        ExecutionContext { settings, requester, id, span }
    }

    pub(super) fn write(&self, record: &Record<'_>) -> Result<(), Unrecorded> {
        let Some(audit) = &self.settings.audit else { return Ok(()) };
        audit.record(record, &self.settings.masker)
    }

    pub(super) fn kept(&self, arguments: &RawValue) -> Option<Arguments> {
        self.settings.audit.as_ref()?.arguments(arguments, &self.settings.masker)
    }
}
