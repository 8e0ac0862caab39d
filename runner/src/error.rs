//! Failures of the host, which prevent a snippet from being tried at all.
//!
//! Failures of the snippet itself are an [`Outcome`](crate::Outcome).

use std::path::Path;

use report::{Kind, Report};

/// A failure of the host.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The part that failed.
    pub kind: ErrorKind,
    message: Box<str>,
    hint: Option<Box<str>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
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
    /// The bundle that this program is part of can't be used.
    Bundle,
    /// Others use what it needs, for now.
    Busy,
}

impl Error {
    /// Creates an error; the message says what failed, where and why.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into().into(), hint: None, source: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }

    /// Adds the error below this one.
    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
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
            let advice = system::file::advice(&error);
            Error::new(ErrorKind::Cache, message)
                .caused_by(error)
                .hint(format!("{advice}, or name another folder in TOOLSMITH_CACHE_DIR"))
        }
    }
}

impl From<ErrorKind> for Kind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Toolchain => Kind::Toolchain,
            ErrorKind::Layer => Kind::Layer,
            ErrorKind::Bindings => Kind::Bindings,
            ErrorKind::Cache => Kind::Cache,
            ErrorKind::Sandbox => Kind::Sandbox,
            ErrorKind::Export => Kind::Export,
            ErrorKind::Bundle => Kind::Bundle,
            ErrorKind::Busy => Kind::System,
        }
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        let kind = Kind::from(error.kind);
        let report =
            error.hint.iter().fold(Report::new(kind, &*error.message), |report, hint| report.hint(&**hint));
        report.caused_by(error)
    }
}

/// Results of the host.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
