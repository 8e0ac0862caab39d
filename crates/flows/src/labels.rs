//! The labels of an answer.

use serde::{Deserialize, Serialize};

/// The labels of an answer, or of several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Labels {
    /// It must not leave.
    pub private: bool,
    /// It may contain instructions.
    pub untrusted: bool,
}

impl Labels {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Labels::default()
    }

    /// The labels of both.
    #[must_use]
    pub fn and(self, other: Labels) -> Labels {
        Labels { private: self.private || other.private, untrusted: self.untrusted || other.untrusted }
    }

    /// The labels in words: `private`, `untrusted`, both or none.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let words = [(self.private, "private"), (self.untrusted, "untrusted")];
        words.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word)
    }
}
