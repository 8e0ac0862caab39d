//! The mark of numbers that stand in a value as texts (`kept.rs`).

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// What marked texts begin with.
pub(crate) fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = || RandomState::new().hash_one(0);
        format!("number {:016x}{:016x} ", random(), random())
    })
}
