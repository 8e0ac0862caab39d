//! Errors that are left after corrections: some appear only when others are gone.

use std::fmt::Write as _;

use super::{CHILDREN_KEPT, DIAGNOSTICS_KEPT, Diagnostic, EXCERPT, read_corrected};
use crate::catalog::Catalog;
use crate::repair::Fix;
use crate::splice::Spliced;

/// A corrected text that does not compile.
#[derive(Debug)]
pub struct Uncorrected<'a> {
    /// The text.
    pub text: &'a str,
    /// The text as spliced.
    pub spliced: &'a Spliced,
    /// The compiler's messages.
    pub messages: &'a str,
    /// The corrections in it.
    pub fixes: &'a [Fix],
}

/// Maximum number of errors to add that are left after corrections.
const LEFT_KEPT: usize = 4;

/// The errors that are left in a corrected text and are not among the `known` ones of the snippet, whose text is `text`.
pub fn left(
    corrected: &Uncorrected<'_>,
    text: &str,
    catalog: &dyn Catalog,
    known: &[Diagnostic],
) -> Vec<Diagnostic> {
    let Uncorrected { text: corrected, spliced, messages, fixes } = corrected;
    let all = read_corrected(messages, text, corrected, spliced, catalog);
    let is_known = |diagnostic: &Diagnostic| {
        known.iter().any(|other| other.code == diagnostic.code && other.line == diagnostic.line)
    };
    let mut left: Vec<Diagnostic> = all.into_iter().filter(|diagnostic| !is_known(diagnostic)).collect();
    left.truncate(LEFT_KEPT.min(DIAGNOSTICS_KEPT.saturating_sub(known.len())));
    for diagnostic in &mut left {
        diagnostic.rendered.push_str("note: this error is left after corrections:\n");
        for fix in fixes.iter().take(CHILDREN_KEPT) {
            let line: String = fix.after.trim().chars().take(EXCERPT).collect();
            // Writing to a string does not fail.
            let _ = writeln!(diagnostic.rendered, "  line {}: {line}", fix.line);
        }
    }
    left
}
