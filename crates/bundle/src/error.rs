//! The errors of writing a bundle.

use std::path::Path;

use report::{Kind, Report};

/// Results of writing a bundle.
pub(crate) type Result<T> = std::result::Result<T, Report>;

/// An error with this message.
pub(crate) fn failed(message: impl Into<String>) -> Report {
    Report::new(Kind::Bundle, message)
}

/// An error of the file system, whose text names the path; fits `map_err`.
pub(crate) fn unusable(error: std::io::Error) -> Report {
    failed(format!("the bundle can't be written: {error}")).caused_by(error)
}

/// An error about one file; fits `map_err`.
pub(crate) fn at<E: std::error::Error + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> Report + '_ {
    move |error| failed(format!("{} can't be used: {error}", path.display())).caused_by(error)
}
