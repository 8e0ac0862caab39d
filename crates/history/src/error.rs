//! Failures of the history.

use std::error::Error;
use std::sync::Arc;

/// The failure of the history, with a remedy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct HistoryError {
    /// The operation that failed.
    pub kind: HistoryErrorKind,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryErrorKind {
    /// There is no such execution.
    Missing,
    /// Several executions have ids with this beginning.
    Ambiguous,
    /// The file or its folder can't be opened, read or written.
    File,
    /// The file is not one of this program, or of a newer version.
    Format,
}

impl HistoryError {
    pub(crate) fn new(kind: HistoryErrorKind, message: impl Into<String>) -> Self {
        HistoryError { kind, message: message.into(), source: None }
    }

    /// Adds the error below this one.
    pub(crate) fn caused_by(self, source: impl Error + Send + Sync + 'static) -> Self {
        HistoryError { source: Some(Arc::new(source)), ..self }
    }
}

impl From<HistoryError> for report::Report {
    fn from(error: HistoryError) -> Self {
        report::Report::new(report::Kind::History, error.to_string()).caused_by(error)
    }
}
