//! Errors of the host. Every failure of a snippet is an outcome.

use std::fmt;

use gateway::failure::Failure;
use report::Report;

/// A failure of the host, such as a missing toolchain. A snippet that fails has an [`Outcome`](crate::Outcome) instead.
#[derive(Clone)]
pub struct Error(Report);

impl Error {
    /// The kind, in a stable word: `server`, `toolchain`, `sandbox` and others. `toolsmith explain KIND` explains it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The message, without advice.
    #[must_use]
    pub fn message(&self) -> String {
        self.0.message()
    }

    /// Advice: the next steps.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }
}

impl fmt::Display for Error {
    /// The message, with advice in further lines.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message())?;
        self.0.hints.iter().try_for_each(|hint| write!(formatter, "\nhelp: {hint}"))
    }
}

impl fmt::Debug for Error {
    /// The same: it is what a `main` that returns the error prints.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error(failure.report)
    }
}

impl From<Report> for Error {
    fn from(report: Report) -> Self {
        Error(report)
    }
}

impl From<runner::Error> for Error {
    fn from(error: runner::Error) -> Self {
        Error(error.into())
    }
}
