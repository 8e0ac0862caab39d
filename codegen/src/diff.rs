//! What has changed between two lists of tools.

use serde::{Deserialize, Serialize};

use crate::Tool;

/// The difference between two lists of tools.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolsDiff {
    /// The names of tools that are new.
    pub added: Vec<String>,
    /// The names of tools that are gone.
    pub removed: Vec<String>,
    /// Tools that are in both lists and not the same.
    pub changed: Vec<Changed>,
}

/// A tool that has changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// One line for each change, such as `input.cursor: added, required`.
    pub changes: Vec<String>,
}

/// Compares two lists of tools by name.
#[must_use]
pub fn diff(old: &[Tool], new: &[Tool]) -> ToolsDiff {
    let missing = |tools: &[Tool], others: &[Tool]| -> Vec<String> {
        let missing = tools.iter().filter(|tool| others.iter().all(|other| other.name != tool.name));
        missing.map(|tool| tool.name.clone()).collect()
    };
    ToolsDiff { added: missing(new, old), removed: missing(old, new), changed: Vec::new() }
}
