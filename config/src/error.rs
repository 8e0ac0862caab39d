//! The error of a configuration.

/// What is wrong with a configuration: file, line and column, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Error {
    /// What is wrong, in words for people.
    pub fn new(message: String) -> Self {
        Error(message)
    }
}
