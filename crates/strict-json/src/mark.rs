//! The mark of numbers stored in a value as strings (`kept.rs`).

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The prefix of marked strings.
pub(crate) fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = || RandomState::new().hash_one(0);
        format!("number {:016x}{:016x} ", random(), random())
    })
}
