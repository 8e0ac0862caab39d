//! The error type of configurations.

use std::error::Error as StdError;

use report::{Kind, Problem, Report};

/// An error in a configuration, or in what belongs to one.
#[derive(Debug, thiserror::Error)]
#[error("{}", Report::of(Kind::Configuration, .problems.clone()).message())]
pub struct Error {
    /// The part of the configuration with the error.
    pub kind: ErrorKind,
    /// Everything that is wrong, with places.
    pub problems: Vec<Problem>,
    hints: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The parts of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file or a variable.
    Configuration,
    /// A project's trust, or the record of it.
    Trust,
    /// A lock file.
    Lock,
    /// The place of the cache.
    Cache,
}

impl Error {
    /// An error in the configuration with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(vec![Problem::new(message)])
    }

    /// An error with everything that is wrong.
    pub fn of(problems: Vec<Problem>) -> Self {
        Error { kind: ErrorKind::Configuration, problems, hints: Vec::new(), source: None }
    }

    /// Sets the part that it is in.
    #[must_use]
    pub(crate) fn kind(self, kind: ErrorKind) -> Self {
        Error { kind, ..self }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn caused_by(self, source: impl StdError + Send + Sync + 'static) -> Self {
        Error { source: Some(Box::new(source)), ..self }
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Configuration => Kind::Configuration,
            ErrorKind::Trust => Kind::Trust,
            ErrorKind::Lock => Kind::Lock,
            ErrorKind::Cache => Kind::Cache,
        };
        let report = error.hints.iter().fold(Report::of(kind, error.problems.clone()), Report::hint);
        report.caused_by(error)
    }
}

impl From<mcp::LockError> for Error {
    fn from(error: mcp::LockError) -> Self {
        Error::new(error.to_string()).kind(ErrorKind::Lock).hint(error.hint()).caused_by(error)
    }
}
