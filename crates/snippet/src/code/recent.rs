//! Keeps what was made of the last texts: clients repeat snippets, and parsing one takes a thread of its own. A subject
//! finds only its own texts: how long parsing takes would tell it what others have sent.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::purpose::Purpose;

/// Number of texts to keep.
const KEPT: usize = 8;

/// Maximum length of a text that is kept, in bytes (32 KiB): ten times a long snippet. Parsed, it takes a few times as
/// much.
const LARGEST: usize = 32 << 10;

/// Results for texts, the last one first.
pub(super) struct Recent<T>(VecDeque<(Source, Arc<T>)>);

/// A text, who has sent it if there are subjects, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) subject: Option<Arc<str>>,
    pub(super) text: String,
    pub(super) purpose: Purpose,
}

impl<T> Recent<T> {
    pub(super) const fn new() -> Self {
        Recent(VecDeque::new())
    }

    /// Finds the result for this text, if it is kept.
    pub(super) fn find(&mut self, source: &Source) -> Option<Arc<T>> {
        let at = self.0.iter().position(|(known, _)| known == source)?;
        let found = self.0.remove(at)?;
        self.0.push_front(found);
        self.0.front().map(|(_, made)| made.clone())
    }

    /// Keeps what was made of a text in the place of the oldest one.
    pub(super) fn keep(&mut self, source: Source, made: &Arc<T>) {
        if source.text.len() <= LARGEST {
            self.0.push_front((source, made.clone()));
            self.0.truncate(KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, purpose: Purpose) -> Source {
        Source { subject: None, text: text.to_owned(), purpose }
    }

    #[test]
    fn the_last_texts_are_found_for_their_purpose() {
        let mut recent = Recent::new();
        let (snippet, program) = (|text: &str| source(text, Purpose::Snippet), Purpose::Program);
        for number in 0..KEPT {
            recent.keep(snippet(&number.to_string()), &Arc::new(number));
        }
        assert_eq!(recent.find(&source("0", program)), None);
        assert_eq!(recent.find(&snippet("0")).as_deref(), Some(&0));
        // Now "1" is the oldest one.
        recent.keep(source("new", program), &Arc::new(KEPT));
        assert!(recent.find(&snippet("0")).is_some() && recent.find(&snippet("1")).is_none());
        recent.keep(snippet(&" ".repeat(LARGEST + 1)), &Arc::new(0));
        assert_eq!(recent.0.len(), KEPT);
    }

    #[test]
    fn a_subject_finds_only_its_own_texts() {
        let mut recent = Recent::new();
        let of = |subject: &str| Source { subject: Some(subject.into()), ..source("text", Purpose::Snippet) };
        recent.keep(of("alice"), &Arc::new(1));
        assert_eq!(recent.find(&of("bob")), None);
        assert_eq!(recent.find(&source("text", Purpose::Snippet)), None);
        assert_eq!(recent.find(&of("alice")).as_deref(), Some(&1));
    }
}
