//! Keeps what was made of the last texts: clients repeat snippets, and parsing one takes a thread of its own.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::purpose::Purpose;

/// Number of texts to keep.
const KEPT: usize = 8;

/// Maximum length of a text that is kept, in bytes (32 KiB): ten times a long snippet. Parsed, it takes a few times as
/// much.
const LARGEST: usize = 32 << 10;

/// Texts with their purposes and what was made of them, the last one first.
pub(super) struct Recent<T>(VecDeque<(String, Purpose, Arc<T>)>);

impl<T> Recent<T> {
    pub(super) const fn new() -> Self {
        Recent(VecDeque::new())
    }

    /// What was made of this text, if that is kept.
    pub(super) fn find(&mut self, text: &str, purpose: Purpose) -> Option<Arc<T>> {
        let at = self.0.iter().position(|(known, of, _)| *of == purpose && known == text)?;
        let found = self.0.remove(at)?;
        self.0.push_front(found);
        self.0.front().map(|(_, _, made)| made.clone())
    }

    /// Keeps what was made of a text in the place of the oldest one.
    pub(super) fn keep(&mut self, text: &str, purpose: Purpose, made: &Arc<T>) {
        if text.len() <= LARGEST {
            self.0.push_front((text.to_owned(), purpose, made.clone()));
            self.0.truncate(KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_texts_are_found_for_their_purpose() {
        let mut recent = Recent::new();
        for number in 0..KEPT {
            recent.keep(&number.to_string(), Purpose::Snippet, &Arc::new(number));
        }
        assert_eq!(recent.find("0", Purpose::Program), None);
        assert_eq!(recent.find("0", Purpose::Snippet).as_deref(), Some(&0));
        // Now "1" is the oldest one.
        recent.keep("new", Purpose::Program, &Arc::new(KEPT));
        assert!(recent.find("0", Purpose::Snippet).is_some() && recent.find("1", Purpose::Snippet).is_none());
        recent.keep(&" ".repeat(LARGEST + 1), Purpose::Snippet, &Arc::new(0));
        assert_eq!(recent.0.len(), KEPT);
    }
}
