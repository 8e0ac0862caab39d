//! The names of the objects that are open, each of which may stand there once.

use std::hash::{BuildHasher, RandomState};

/// How many names the objects that are open at once may have together. Each is an entry of 16 bytes; no tool takes an
/// object of a million members.
pub const OPEN_NAMES_LIMIT: usize = 1 << 20;

/// Names by their hash, with a key that nobody knows. The innermost object's are the last.
pub(crate) struct Names {
    keyed: RandomState,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    /// The byte at which its quotation mark stands.
    at: u32,
}

impl Names {
    pub(crate) fn new() -> Self {
        Names { keyed: RandomState::new(), entries: Vec::new() }
    }

    /// How many there are: where the names of an object that is opened now begin.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a name; false if there is no room for it.
    pub(crate) fn push(&mut self, name: &str, at: usize) -> bool {
        let (Ok(at), true) = (u32::try_from(at), self.entries.len() < OPEN_NAMES_LIMIT) else { return false };
        self.entries.push(Entry { hash: self.keyed.hash_one(name), at });
        true
    }

    /// Ends the object whose names begin at `base`. Gives where a repeated name stands the second time; `are_equal`
    /// compares the names at two places.
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
