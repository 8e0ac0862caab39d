//! Why a store does not do what it should, with what to do about it.

/// Why a store does not do what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);
