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
    /// Returns the context of relative paths and variables in its values.
    pub(super) fn surroundings(&self, lookup: Lookup) -> Surroundings<'_> {
        Surroundings { folder: &self.folder, lookup }
    }

    /// A problem with its file and its line.
    pub(crate) fn located(&self, problem: &Problem) -> report::Problem {
        report::Problem::at(self.place(problem.place), &problem.message)
    }

    /// The file's path, or the variable's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A place with its line's text.
    pub(super) fn place(&self, place: Place) -> report::Place {
        syntax::place(&self.name, &self.text, place)
    }

    /// A line of this layer, without its text.
    pub(super) fn line(&self, Place { line, .. }: Place) -> report::Place {
        report::Place { file: self.name.clone(), line, column: None, excerpt: None }
    }

    /// The place as messages show it.
    pub(crate) fn at(&self, place: Place) -> String {
        self.line(place).to_string()
    }
}
