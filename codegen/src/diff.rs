//! The changes between two lists of tools, in words.

mod change;
mod compare;

use serde::{Deserialize, Serialize};

use crate::identity::canonical;
use crate::model::distinct;
use crate::normalise::{DEEPEST, normalise};
use crate::{Tool, Warning};
pub use change::Change;
use compare::Comparison;

/// Maximum number of changes reported for one tool.
const MAX_CHANGES_PER_TOOL: usize = 100;
/// Maximum number of changes reported in all. Further tools are only listed as changed.
const MAX_CHANGES: usize = 2_000;

/// The difference between two lists of tools.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolsDiff {
    /// The names of tools that are new, sorted.
    pub added: Vec<String>,
    /// The names of tools that are gone, sorted.
    pub removed: Vec<String>,
    /// Tools that are in both lists and not the same, sorted by name.
    pub changed: Vec<Changed>,
}

/// A tool that has changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// One line for each change, for example `input.cursor: added, required`; at least one.
    pub changes: Vec<Change>,
}

/// Compares two lists of tools by name: the meaning of their schemas, and their texts for readers.
///
/// Spelling does not matter: `"type": ["string", "null"]` equals an `anyOf` of the two. A difference in text
/// without a known meaning is reported as one line. The number of lines is bounded.
#[must_use]
pub fn diff(old: &[Tool], new: &[Tool]) -> ToolsDiff {
    let mut repeated: Vec<Warning> = Vec::new();
    let old = distinct(old, &mut repeated);
    let new = distinct(new, &mut repeated);
    let find = |tools: &[&Tool], name: &str| tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok();
    let missing = |from: &[&Tool], tools: &[&Tool]| -> Vec<String> {
        let missing = tools.iter().filter(|tool| find(from, &tool.name).is_none());
        missing.map(|tool| tool.name.clone()).collect()
    };
    let (added, removed) = (missing(&old, &new), missing(&new, &old));
    let mut changed = Vec::new();
    let mut reported = 0;
    for (before, after) in new.iter().filter_map(|tool| Some((old.get(find(&old, &tool.name)?)?, tool))) {
        let changes = if reported < MAX_CHANGES { changes(before, after) } else { summary(before, after) };
        reported += changes.len();
        if !changes.is_empty() {
            changed.push(Changed { name: after.name.clone(), changes });
        }
    }
    ToolsDiff { added, removed, changed }
}

/// Compares two versions of a tool by part: description, input, output.
fn differences(old: &Tool, new: &Tool) -> [bool; 3] {
    let output = |tool: &Tool| (tool.output_schema.as_ref().map(canonical), tool.answers.clone());
    [
        old.description.as_deref().unwrap_or_default() != new.description.as_deref().unwrap_or_default(),
        canonical(&old.input_schema) != canonical(&new.input_schema),
        output(old) != output(new),
    ]
}

fn summary(old: &Tool, new: &Tool) -> Vec<Change> {
    let names = [Change::of_description(""), Change::new("input: changed"), Change::new("output: changed")];
    let parts = names.into_iter().zip(differences(old, new));
    parts.filter(|(_, differ)| *differ).map(|(change, _)| change).collect()
}

fn changes(old: &Tool, new: &Tool) -> Vec<Change> {
    let [description, input, output] = differences(old, new);
    if ![description, input, output].contains(&true) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if description {
        lines.push(Change::of_description(""));
    }
    let (before, after) = (normalise(old, DEEPEST), normalise(new, DEEPEST));
    let compare = || Comparison::new(&before.definitions, &after.definitions);
    if input {
        lines.extend(or_unexplained("input", compare().inputs(before.input, after.input)));
    }
    if output {
        lines.extend(output_state(old, new));
        let schema = |tool: &Tool| tool.output_schema.as_ref().map(canonical);
        if let (Some(before), Some(after)) = (&before.output, &after.output)
            && schema(old) != schema(new)
        {
            lines.extend(or_unexplained("output", compare().outputs(before, after)));
        }
    }
    if let Some(more) = lines.len().checked_sub(MAX_CHANGES_PER_TOOL).filter(|more| *more > 0) {
        lines.truncate(MAX_CHANGES_PER_TOOL);
        let noun = if more == 1 { "change" } else { "changes" };
        lines.push(Change::new(format!("and {more} more {noun}")));
    }
    lines
}

/// Compares the sources of the output schemas; `None` if they are equal.
fn output_state(old: &Tool, new: &Tool) -> Option<Change> {
    let state =
        |tool: &Tool| match (&tool.output_schema, tool.answers.source != crate::SchemaSource::Declared) {
            (None, _) => "no longer declared",
            (Some(_), false) => "now declared",
            (Some(_), true) => "now observed, not declared",
        };
    (state(old) != state(new)).then(|| Change::new(format!("output: {}", state(new))))
}

/// The changes of a schema whose text differs. There is at least one line, even if no change was found.
fn or_unexplained(side: &str, mut lines: Vec<Change>) -> Vec<Change> {
    if lines.is_empty() {
        lines.push(Change::new(format!("{side}: changed, but neither its types nor its descriptions")));
    }
    lines
}
