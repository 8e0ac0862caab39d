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
        let line = u32::try_from(at.line).unwrap_or(u32::MAX);
        let column = u32::try_from(at.column + 1).unwrap_or(u32::MAX);
        SyntaxError { message: message.into(), line: line.max(1), column }
    }
}
