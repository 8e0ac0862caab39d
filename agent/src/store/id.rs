//! Ids: random, and short enough to type.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Letters of a conversation's id: among a million conversations, two are the same once in two thousand times.
pub(super) const CONVERSATION: usize = 10;

/// Letters of a message's id, of which there are more.
pub(super) const MESSAGE: usize = 12;

/// 32 of them, without those that are taken for others (i, l, o, u).
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id of at most twelve letters.
pub(super) fn new(length: usize) -> String {
    // The keys of this hash come from the system's randomness, and are others each time.
    let mut bits = RandomState::new().build_hasher().finish();
    let mut id = String::with_capacity(length);
    for _ in 0..length {
        id.push(char::from(LETTERS[(bits & 31) as usize]));
        bits >>= 5;
    }
    id
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_long_as_asked_and_never_the_same() {
        let ids: HashSet<String> = (0..10_000).map(|_| new(MESSAGE)).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(
            ids.iter().all(|id| id.len() == MESSAGE && id.bytes().all(|letter| LETTERS.contains(&letter)))
        );
        let first: HashSet<char> = ids.iter().filter_map(|id| id.chars().next()).collect();
        assert_eq!(first.len(), 32, "every letter begins one");
    }
}
