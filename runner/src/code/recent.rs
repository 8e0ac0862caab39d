//! The texts that were parsed last: clients repeat snippets, and parsing one takes a thread of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::Parsed;
use crate::purpose::Purpose;

/// Number of texts to keep.
const KEPT: usize = 8;

/// Maximum length of a text that is kept, in bytes (32 KiB): ten times a long snippet. Parsed, it takes a few times as
/// much.
const LARGEST: usize = 32 << 10;

static RECENT: Mutex<Recent> = Mutex::new(Recent(VecDeque::new()));

/// Parsed texts, the last one first.
struct Recent(VecDeque<(Purpose, Arc<Parsed>)>);

impl Recent {
    fn find(&mut self, text: &str, purpose: Purpose) -> Option<Arc<Parsed>> {
        let at = self.0.iter().position(|(other, parsed)| *other == purpose && parsed.text == text)?;
        let found = self.0.remove(at)?;
        self.0.push_front(found);
        self.0.front().map(|(_, parsed)| parsed.clone())
    }

    fn keep(&mut self, parsed: &Arc<Parsed>, purpose: Purpose) {
        if parsed.text.len() <= LARGEST {
            self.0.push_front((purpose, parsed.clone()));
            self.0.truncate(KEPT);
        }
    }
}

/// What parsing this text has led to, if that is kept.
pub(super) fn find(text: &str, purpose: Purpose) -> Option<Arc<Parsed>> {
    RECENT.lock().unwrap_or_else(PoisonError::into_inner).find(text, purpose)
}

/// Keeps a result in the place of the oldest one.
pub(super) fn keep(parsed: &Arc<Parsed>, purpose: Purpose) {
    RECENT.lock().unwrap_or_else(PoisonError::into_inner).keep(parsed, purpose);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::snippet;

    #[test]
    fn the_last_texts_are_found_for_their_purpose() {
        let mut recent = Recent(VecDeque::new());
        let parsed = |text: String| {
            Arc::new(Parsed { text, snippet: Err(snippet::unreadable()), path_heads: BTreeSet::new() })
        };
        for number in 0..KEPT {
            recent.keep(&parsed(number.to_string()), Purpose::Snippet);
        }
        assert!(recent.find("0", Purpose::Program).is_none());
        assert!(recent.find("0", Purpose::Snippet).is_some());
        // Now "1" is the oldest one.
        recent.keep(&parsed("new".to_owned()), Purpose::Program);
        assert!(recent.find("0", Purpose::Snippet).is_some() && recent.find("1", Purpose::Snippet).is_none());
        recent.keep(&parsed(" ".repeat(LARGEST + 1)), Purpose::Snippet);
        assert_eq!(recent.0.len(), KEPT);
    }
}
