//! Where a layer comes from, and how its places are shown.

use std::path::PathBuf;

use super::config_layer::ConfigLayer;
use super::decode::{Lookup, Problem, Surroundings};
use super::syntax;
use super::tree::Place;

/// Where a layer comes from, and how its places are shown.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) layer: ConfigLayer,
    /// The file, or the variable.
    pub(super) name: String,
    /// The text with secrets covered, to show lines of.
    pub(super) text: String,
    /// Relative paths start here.
    pub(super) folder: PathBuf,
}

impl Source {
    /// What its values are decoded with.
    pub(super) fn surroundings(&self, lookup: Lookup) -> Surroundings<'_> {
        Surroundings { folder: &self.folder, lookup }
    }

    /// What is wrong: file, line, column, message, and the line.
    pub(crate) fn tell(&self, problem: &Problem) -> String {
        let Place { line, column } = problem.place;
        let excerpt = syntax::excerpt(&self.text, line, column);
        format!("{}:{line}:{column}: {}{excerpt}", self.name, problem.message)
    }

    /// The place as it stands in messages.
    pub(crate) fn at(&self, place: Place) -> String {
        format!("{}:{}", self.name, place.line)
    }
}
