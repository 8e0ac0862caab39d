//! A line of the report of `doctor`.

/// A line of the report.
pub(super) struct Line {
    /// Whether it is as snippets need it.
    pub(super) ok: bool,
    pub(super) name: String,
    pub(super) text: String,
}

pub(super) fn line(ok: bool, name: impl Into<String>, text: impl Into<String>) -> Line {
    Line { ok, name: name.into(), text: text.into() }
}
