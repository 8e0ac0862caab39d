//! What is found wrong in a layer: every broken rule is told, not only the first.

use std::cell::RefCell;

use super::decode::Problem;
use super::placed::At;

/// Most servers, and most entries of each list and mapping of one.
pub(super) const MOST_ENTRIES: usize = 1_000;

/// Collects what is wrong in a layer.
#[derive(Default)]
pub(super) struct Checker {
    problems: RefCell<Vec<Problem>>,
}

impl Checker {
    /// What was wrong.
    pub(super) fn done(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// What is right; what is wrong is kept to be told with the place of `value`.
    pub(super) fn keep<T, V>(&self, value: &At<V>, checked: Result<T, impl AsRef<str>>) -> Option<T> {
        checked.map_err(|message| self.tell(value, message.as_ref())).ok()
    }

    /// Keeps what is wrong, to be told.
    pub(super) fn tell<T>(&self, value: &At<T>, message: &str) {
        self.problems.borrow_mut().push(Problem { place: value.place, message: message.to_owned() });
    }
}

/// Whether a server may have the name.
pub fn check_server_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Err("a server's name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    Ok(())
}
