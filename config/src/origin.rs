//! The source of a layer, and how its places are shown.

use std::path::PathBuf;

use super::config_layer::ConfigLayer;
use super::decode::{Lookup, Problem, Surroundings};
use super::syntax;
use super::tree::Place;

/// The source of a layer, and how its places are shown.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) layer: ConfigLayer,
    /// The file's path, or the variable's name.
    pub(super) name: String,
    /// The text with secrets masked, to quote lines from.
    pub(super) text: String,
    /// The base of relative paths.
    pub(super) folder: PathBuf,
}

impl Source {
    /// What relative paths and variables of its values refer to.
    pub(super) fn surroundings(&self, lookup: Lookup) -> Surroundings<'_> {
        Surroundings { folder: &self.folder, lookup }
    }

    /// Formats a problem: file, line, column, message, and the line.
    pub(crate) fn report(&self, problem: &Problem) -> String {
        let Place { line, column } = problem.place;
        let excerpt = syntax::excerpt(&self.text, line, column);
        format!("{}:{line}:{column}: {}{excerpt}", self.name, problem.message)
    }

    /// The place as messages show it.
    pub(crate) fn at(&self, place: Place) -> String {
        format!("{}:{}", self.name, place.line)
    }
}
