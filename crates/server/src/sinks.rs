//! Where executions and calls are recorded, in addition to their spans.

use std::sync::Arc;

use terminal::Notifier;

use crate::metrics::Metrics;
use crate::snapshot::Settings;

/// The places of records.
#[derive(Clone)]
pub(crate) struct Sinks {
    /// With the audit log.
    pub(crate) settings: Arc<Settings>,
    pub(crate) metrics: Arc<Metrics>,
    /// Logs the end of each execution, if logs are JSON lines.
    pub(crate) notifier: Notifier,
}
