//! The edits of a correction.

/// A replacement of bytes in the snippet's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Edit { start: at, end: at, text: text.into() }
    }
}
