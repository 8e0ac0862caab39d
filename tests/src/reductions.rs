//! What clients make of an answer of `execute_code` before a model sees it, and what must then still be there.

/// The member of a result's `_meta` that has the outcome.
pub const OUTCOME: &str = "io.toolsmith/outcome";
