//! The corrected texts of a snippet that are still to be compiled, in rounds.

use std::collections::{BTreeSet, VecDeque};

use crate::messages::errors;
use crate::repair::Repaired;

/// Maximum rounds of corrections: some errors appear only when others are gone.
const ROUNDS: usize = 4;

/// The corrected texts still to be compiled.
pub struct Attempts {
    waiting: VecDeque<Repaired>,
    /// Remaining rounds.
    rounds: usize,
    /// The compiler's errors so far.
    seen: BTreeSet<Vec<(String, String)>>,
}

impl Attempts {
    /// The first round, after the compiler's `messages`; further rounds only if the text `is_rejected`.
    pub fn new(first: Vec<Repaired>, messages: &str, is_rejected: bool) -> Self {
        let rounds = if is_rejected { ROUNDS - 1 } else { 0 };
        Attempts { waiting: first.into(), rounds, seen: BTreeSet::from([known(messages)]) }
    }

    /// The next text to compile.
    pub fn take_next(&mut self) -> Option<Repaired> {
        self.waiting.pop_front()
    }

    /// Whether another round may follow the `messages` of a corrected text: only if they are new.
    pub fn may_go_on(&mut self, messages: &str) -> bool {
        let errors = known(messages);
        self.rounds > 0 && !errors.is_empty() && self.seen.insert(errors)
    }

    /// Adds a round, to be tried first.
    pub fn add(&mut self, round: Vec<Repaired>) {
        if !round.is_empty() {
            self.rounds -= 1;
            round.into_iter().rev().for_each(|repaired| self.waiting.push_front(repaired));
        }
    }
}

/// The errors among the compiler's messages: codes and texts.
fn known(messages: &str) -> Vec<(String, String)> {
    errors(messages).map(|error| (error.code().to_owned(), error.message.clone())).collect()
}
