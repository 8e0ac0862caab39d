//! Predicts from past waits for a message whether the next one is short, so that it is better to poll than to sleep.
//!
//! A thread that sleeps needs 15 to 100 us to continue on an idle processor of a virtual machine: longer than a fast
//! server needs for an answer, or a program for its next call. So both ends of the broker poll while they expect a
//! short wait, and yield the processor (`sched_yield(2)`) after each attempt, because the other end or the server may
//! need it. With a server that answers at once, twice as many calls are made in turn.

use std::time::Duration;

/// The longest wait that is short, and the longest time to poll.
pub const SHORT: Duration = Duration::from_micros(250);

/// Score from which the next wait is expected to be short. A long wait costs as much, so that for each one there were at
/// least as many short ones.
const EXPECTED: u32 = 8;

/// The highest score: how many waits it takes to notice that they are no longer short.
const HIGHEST: u32 = 8 * EXPECTED;

/// The waits of one thread or task.
#[derive(Debug, Default)]
pub struct ShortWaits {
    score: u32,
}

impl ShortWaits {
    /// Whether the next wait is expected to be short.
    #[must_use]
    pub fn are_expected(&self) -> bool {
        self.score >= EXPECTED
    }

    /// Records how long a wait took.
    pub fn record(&mut self, waited: Duration) {
        self.score =
            if waited < SHORT { (self.score + 1).min(HIGHEST) } else { self.score.saturating_sub(EXPECTED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of waits of this length after which the expectation changes.
    fn changes_after(waits: &mut ShortWaits, waited: Duration) -> u32 {
        let before = waits.are_expected();
        let mut count = 0;
        while waits.are_expected() == before {
            waits.record(waited);
            count += 1;
        }
        count
    }

    #[test]
    fn short_waits_are_expected_after_short_ones_until_too_many_are_long() {
        let mut waits = ShortWaits::default();
        assert_eq!(changes_after(&mut waits, Duration::ZERO), EXPECTED);
        assert_eq!(changes_after(&mut waits, SHORT), 1);
        for _ in 0..1_000 {
            waits.record(Duration::ZERO);
        }
        assert_eq!(changes_after(&mut waits, SHORT), 8);
        assert_eq!(changes_after(&mut waits, Duration::ZERO), EXPECTED);
    }
}
