//! Collects the problems of a layer: every broken rule, not only the first.

use std::cell::RefCell;
use std::fmt;

use super::decode::Problem;
use super::placed::At;

/// Maximum servers, and maximum entries of each of their lists and mappings.
pub(super) const MAX_ENTRIES: usize = 1_000;

/// Collects the problems of a layer.
#[derive(Default)]
pub(super) struct Checker {
    problems: RefCell<Vec<Problem>>,
}

impl Checker {
    /// The collected problems.
    pub(super) fn done(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// Returns the checked value; an error is recorded at the place of `value`.
    pub(super) fn keep<T, V>(&self, value: &At<V>, checked: Result<T, impl fmt::Display>) -> Option<T> {
        checked.map_err(|error| self.report(value, &error.to_string())).ok()
    }

    /// Records a problem.
    pub(super) fn report<T>(&self, value: &At<T>, message: &str) {
        self.problems.borrow_mut().push(Problem { place: value.place, message: message.to_owned() });
    }
}

/// A name that a server can't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server's name must have 1 to 64 letters, digits, `_` or `-`")]
pub struct InvalidServerName;

/// Checks the name of a server.
///
/// # Errors
/// If a server can't have it.
pub fn check_server_name(name: &str) -> Result<(), InvalidServerName> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Err(InvalidServerName);
    }
    Ok(())
}
