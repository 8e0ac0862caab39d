//! A change of a tool, in words.

use serde::{Deserialize, Serialize};

/// A change of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The change in one line.
    pub line: String,
    /// Whether it is one of a description, which affects no type.
    pub is_description: bool,
}

impl Change {
    pub(super) fn new(line: impl Into<String>) -> Self {
        Change { line: line.into(), is_description: false }
    }

    /// A change of the description at `place`, which ends with a separator.
    pub(super) fn of_description(place: &str) -> Self {
        Change { line: format!("{place}description changed"), is_description: true }
    }
}
