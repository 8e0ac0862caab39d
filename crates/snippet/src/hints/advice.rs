//! Advice on one compiler message: a line, and the tools whose signatures help.

use super::lookup::Found;

/// The remedy for a message.
pub(super) struct Advice<'a> {
    pub(super) line: String,
    /// Tools whose signatures help.
    pub(super) tools: Vec<Found<'a>>,
    /// The type among theirs that the advice is about, if any.
    pub(super) focus: String,
}

impl<'a> Advice<'a> {
    pub(super) fn new(line: impl Into<String>) -> Self {
        Advice { line: line.into(), tools: Vec::new(), focus: String::new() }
    }

    pub(super) fn about(mut self, tools: impl IntoIterator<Item = Found<'a>>) -> Self {
        self.tools.extend(tools);
        self
    }

    pub(super) fn focus(mut self, name: &str) -> Self {
        name.clone_into(&mut self.focus);
        self
    }
}
