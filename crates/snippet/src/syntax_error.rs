//! A syntax error in a snippet, with its position.

use proc_macro2::LineColumn;

/// A syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error.
    pub message: String,
    /// Line from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl SyntaxError {
    /// Creates an error at the parser's position, whose columns start at 0.
    pub(crate) fn at(message: impl Into<String>, at: LineColumn) -> Self {
        SyntaxError { message: message.into(), line: count(at.line).max(1), column: count(at.column + 1) }
    }
}

/// A number of lines or characters, as positions have it.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
