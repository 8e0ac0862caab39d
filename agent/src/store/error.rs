//! Failures of a store.

/// Why a store failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

impl From<StoreError> for report::Report {
    fn from(error: StoreError) -> Self {
        report::Report::new(report::Kind::Conversation, error.to_string()).caused_by(error)
    }
}
