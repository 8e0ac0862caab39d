//! One thing that is wrong, and its place in a file.

use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The failure and its reason, in one sentence without help.
    pub message: String,
    /// Where it is wrong, if it is in a file or a variable.
    pub place: Option<Place>,
}

/// A place in a file or a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's path, or the variable's name.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1; `None` for the whole line.
    pub column: Option<u64>,
    /// The line's text, with secrets masked, if it may be shown.
    pub excerpt: Option<Excerpt>,
}

/// A part of a line, with secrets masked and without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The part, with `…` where the line continues.
    pub text: String,
    /// The number of characters before the place.
    pub mark: usize,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Problem { message: message.into(), place: None }
    }

    /// A problem at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Problem { message: message.into(), place: Some(place) }
    }
}

/// `FILE:LINE:COLUMN: message`.
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// `FILE:LINE:COLUMN`.
impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(formatter, ":{column}"),
            None => Ok(()),
        }
    }
}
