//! The error for JSON text that is not accepted.

use std::fmt;

/// An error in the text, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    what: String,
    line: usize,
    column: usize,
}

impl Error {
    /// An error at a byte offset in `text`.
    pub(crate) fn at(what: impl Into<String>, text: &str, byte: usize) -> Self {
        let before = text.as_bytes().get(..byte).unwrap_or_default();
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error { what: what.into(), line, column: before.len() - line_start + 1 }
    }

    /// An error that serde_json reported.
    pub(crate) fn of_reader(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        Error { what: text.strip_suffix(&place).unwrap_or(&text).to_owned(), line, column }
    }

    /// Returns the error without the position.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in bytes, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at line {} column {}", self.what, self.line, self.column)
    }
}

impl std::error::Error for Error {}
