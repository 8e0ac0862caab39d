//! The result of a comparison: counts and names, for users and records.

use std::cmp::Reverse;
use std::fmt;

use report::{count, grouped};

use super::strings::RUN;

/// Limit on the arguments that are named; those with the most characters are.
const NAMED: usize = 8;

/// Limit on the answers that are named for one argument.
const ORIGINS: usize = 3;

/// The arguments of a call of which parts are in earlier answers. Has no text of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// The arguments, the one with the most such characters first.
    pub arguments: Vec<Mark>,
    /// The number of further arguments.
    pub more: usize,
    /// Whether older answers, or the ends of long ones, were not compared.
    pub without_older: bool,
    /// Whether the end of the arguments was not compared.
    pub without_end: bool,
}

/// An argument of which parts are in earlier answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its place, such as `body` or `items[2].text`.
    pub argument: String,
    /// The number of its characters that are in earlier answers.
    pub characters: usize,
    /// The number of all its characters.
    pub of: usize,
    /// The answers, the one with the longest parts first.
    pub from: Vec<Origin>,
    /// The number of further answers.
    pub more: usize,
}

/// An earlier answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The tool, as `server.tool`.
    pub tool: String,
    /// The number of the answer among those of this tool, from 1.
    pub answer: u64,
}

impl Mark {
    pub(super) fn new(argument: String, characters: usize, of: usize, mut from: Vec<Origin>) -> Self {
        let more = from.len().saturating_sub(ORIGINS);
        from.truncate(ORIGINS);
        Mark { argument, characters, of, from, more }
    }
}

impl Marks {
    pub(super) fn new(mut arguments: Vec<Mark>, without_older: bool, without_end: bool) -> Self {
        arguments.sort_by_key(|mark| Reverse(mark.characters));
        let more = arguments.len().saturating_sub(NAMED);
        arguments.truncate(NAMED);
        Marks { arguments, more, without_older, without_end }
    }

    /// The lines that users read, also in records. All names are safe to show.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        if lines.is_empty() {
            lines.push(format!("no {RUN} consecutive characters of earlier answers"));
        }
        if self.more > 0 {
            lines.push(format!("{} more", count(self.more, "argument")));
        }
        if self.without_older {
            lines.push("older answers, and the ends of long ones, are not compared".to_owned());
        }
        if self.without_end {
            lines.push("the end of the arguments is not compared".to_owned());
        }
        lines
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark { argument, characters, of, from, more } = self;
        let from: Vec<String> = from.iter().map(ToString::to_string).collect();
        let (characters, of) = (grouped(*characters), grouped(*of));
        write!(f, "`{argument}`: {characters} of {of} characters from {}", from.join(", "))?;
        if *more > 0 { write!(f, " and {more} more") } else { Ok(()) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}", printable::name(&self.tool), self.answer)
    }
}
