//! Failures of the host, which prevent a snippet from being tried at all.
//!
//! Failures of the snippet itself are an [`Outcome`](crate::Outcome).

use std::fmt;
use std::path::Path;

/// A failure of the host.
#[derive(Debug)]
pub struct Error {
    /// The part that failed.
    pub kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The parts of the host that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The Rust toolchain is missing or unsuitable.
    Toolchain,
    /// The layer below the snippets could not be built.
    Layer,
    /// The generated bindings of a server do not compile.
    Bindings,
    /// The cache folder can't be used.
    Cache,
    /// The sandbox can't be set up.
    Sandbox,
    /// A crate can't be written.
    Export,
    /// A server can't be reached.
    Server,
}

impl Error {
    /// Creates an error; the message says what failed, where and why.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), hint: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What failed, where and why.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Advice on how to fix it.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// An error of the cache folder; fits `map_err`.
    pub(crate) fn cache(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        move |error| {
            let message = format!("the cache at {} can't be used: {error}", path.display());
            let error = Error::new(ErrorKind::Cache, message);
            error.hint("free some space there, or name another folder in TOOLSMITH_CACHE_DIR")
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "\nhelp: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Results of the host.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
