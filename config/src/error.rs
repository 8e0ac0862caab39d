//! The error type of configurations.

/// An error in a configuration: file, line, column and fix.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Error {
    /// An error with this message.
    pub fn new(message: String) -> Self {
        Error(message)
    }
}
