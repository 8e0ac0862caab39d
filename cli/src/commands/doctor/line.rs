//! A line of the report of `doctor`.

/// A line of the report.
pub(super) struct Line {
    /// Whether it is as snippets need it.
    pub(super) ok: bool,
    pub(super) name: &'static str,
    pub(super) text: String,
}

pub(super) fn line(ok: bool, name: &'static str, text: impl Into<String>) -> Line {
    Line { ok, name, text: text.into() }
}
