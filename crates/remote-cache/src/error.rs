//! Errors that prevent any use of a remote cache. Failures of a store during use are no errors but misses.

use report::{Kind, Report};

/// The reason why a remote cache can't be opened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
    hint: &'static str,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Error { message: message.into(), hint }
    }

    /// Returns the remedy.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        self.hint
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        let report = Report::new(Kind::Cache, error.message.clone()).hint(error.hint);
        report.caused_by(error)
    }
}
