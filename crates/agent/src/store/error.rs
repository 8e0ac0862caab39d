//! Failures of a store.

use std::error::Error;
use std::sync::Arc;

/// The failure of a store, with a remedy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// The operation that failed.
    pub kind: StoreErrorKind,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kinds of a store's failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such conversation or message.
    Missing,
    /// Several conversations have ids with this beginning.
    Ambiguous,
    /// The file or its folder can't be opened, read or written.
    File,
    /// The file is not one of this program, or of a newer version.
    Format,
    /// Messages are not stored, or not stored yet.
    NotStored,
    /// A thread can't be started, or has ended.
    Thread,
}

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        StoreError { kind, message: message.into(), source: None }
    }

    /// Adds the error below this one.
    pub(super) fn caused_by(self, source: impl Error + Send + Sync + 'static) -> Self {
        StoreError { source: Some(Arc::new(source)), ..self }
    }
}

impl From<StoreError> for report::Report {
    fn from(error: StoreError) -> Self {
        report::Report::new(report::Kind::Conversation, error.to_string()).caused_by(error)
    }
}
