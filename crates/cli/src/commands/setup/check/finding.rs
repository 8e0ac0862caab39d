//! A finding about an entry.

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// As it should be.
    Ok,
    /// Works, but could be better.
    Note,
    /// The model does not see the tools.
    Missing,
}

#[derive(Debug)]
pub(super) struct Finding {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) text: String,
}

impl Finding {
    pub(super) fn new(kind: Kind, name: &'static str, text: impl Into<String>) -> Self {
        Finding { kind, name, text: text.into() }
    }
}
