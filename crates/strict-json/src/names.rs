//! The names in open objects, to find repeated ones.

use std::hash::{BuildHasher, RandomState};

/// Maximum number of names in all open objects together. Each is an entry of 16 bytes; no tool takes an object of a
/// million members.
pub const OPEN_NAMES_LIMIT: usize = 1 << 20;

/// Names by their hash, under a random key. Those of the innermost object are last.
pub(crate) struct Names {
    keyed: RandomState,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    /// The byte offset of its opening quote.
    at: u32,
}

impl Names {
    pub(crate) fn new() -> Self {
        Names { keyed: RandomState::new(), entries: Vec::new() }
    }

    /// The number of entries: the `base` of an object that is opened now.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a name; returns false if there is no room for it.
    pub(crate) fn push(&mut self, name: &str, at: usize) -> bool {
        let (Ok(at), true) = (u32::try_from(at), self.entries.len() < OPEN_NAMES_LIMIT) else { return false };
        self.entries.push(Entry { hash: self.keyed.hash_one(name), at });
        true
    }

    /// Closes the object whose names start at `base`. Returns the position of the first repetition of a name, if any;
    /// `are_equal` compares the names at two positions.
    pub(crate) fn close(&mut self, base: usize, are_equal: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let own = self.entries.get_mut(base..)?;
        own.sort_unstable();
        let repeated = own.windows(2).find_map(|pair| match pair {
            [one, other] if one.hash == other.hash => {
                let (one, other) = (one.at as usize, other.at as usize);
                are_equal(one, other).then_some(other)
            }
            _ => None,
        });
        self.entries.truncate(base);
        repeated
    }
}
