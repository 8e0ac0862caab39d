//! The progress of a request, and who receives it.

use std::sync::Arc;

/// The progress of a request (`notifications/progress`).
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressMade {
    /// Progress so far.
    pub done: f64,
    /// The total, if known.
    pub total: Option<f64>,
    /// A description of the current step.
    pub message: Option<String>,
}

/// Receives the progress of a request. Must not block.
pub type ProgressSink = Arc<dyn Fn(ProgressMade) + Send + Sync>;
