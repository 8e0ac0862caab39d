//! Where the arguments of a call come from: keeps earlier answers, and counts the characters of arguments that are in
//! runs of [`RUN`] or more consecutive characters of them.
//!
//! The counts help the user who is asked. They are no guarantee: a program can change a text so that no run is left.
//! Texts stay in this memory, which is bounded. What is recorded ([`Marks`]) has only counts and names.
//!
//! Keeping an answer copies at most [`ANSWER_KEPT`] bytes. Comparing takes time for the kept answers and the compared
//! arguments, each once: about 0.2 s if both are as long as they can be, so callers leave the event loop.

mod comparison;
mod marks;
mod strings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use comparison::Comparison;
pub use marks::{Mark, Marks, Origin};
pub use strings::RUN;

/// Limit on all kept answers, in bytes (8 MiB); the oldest ones are dropped.
pub const KEPT: usize = 8 << 20;

/// Limit on one kept answer, in bytes (2 MiB), so that a single answer does not drop all others.
pub const ANSWER_KEPT: usize = 2 << 20;

/// Limit on compared arguments of one call, in bytes (256 KiB).
pub const COMPARED: usize = 256 << 10;

/// Counts for each kept answer besides its text, in bytes; bounds the number of answers.
const OVERHEAD: usize = 128;

/// The earlier answers of an execution or a session. Clones share the texts.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    kept: VecDeque<Arc<Answer>>,
    bytes: usize,
    /// The number of answers of each tool so far.
    counts: BTreeMap<String, u64>,
    /// Whether an answer, or the end of one, is not kept.
    has_gaps: bool,
}

/// A kept answer.
#[derive(Debug)]
struct Answer {
    origin: Origin,
    /// Its JSON text, or the beginning.
    text: Box<str>,
}

impl Answers {
    /// The size of the kept answers, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an answer of `tool` (`server.tool`): a JSON text.
    pub fn add(&mut self, tool: &str, answer: &str) {
        let count = self.counts.get(tool).map_or(1, |count| count + 1);
        self.counts.insert(tool.to_owned(), count);
        let origin = Origin { tool: tool.to_owned(), answer: count };
        let text = strings::beginning(answer, ANSWER_KEPT);
        self.has_gaps |= text.len() < answer.len();
        self.bytes += text.len() + OVERHEAD;
        self.kept.push_back(Arc::new(Answer { origin, text: text.into() }));
        while self.bytes > KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.text.len() + OVERHEAD;
            self.has_gaps = true;
        }
    }

    /// Compares the arguments of a call, a JSON text, with the answers. A text of several answers counts for the oldest
    /// one.
    pub fn marks(&self, arguments: &str) -> Marks {
        let compared = strings::beginning(arguments, COMPARED);
        let mut comparison = Comparison::new(compared);
        for answer in &self.kept {
            if comparison.is_complete() {
                break;
            }
            comparison.find(&answer.origin, &answer.text);
        }
        Marks::new(comparison.marks(), self.has_gaps, compared.len() < arguments.len())
    }
}
