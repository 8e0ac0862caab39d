//! Limits how often a changing tool list is read again.
//!
//! Every new list costs its readers work and memory: code is generated and compiled from it.

use std::time::Duration;

use tokio::time::Instant;

/// Consecutive changes that are read at [`INTERVAL`]: a server changes a few times during its setup.
const PROMPT: u32 = 3;

/// Minimum time between two reads; doubled from the fourth change on.
const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum delay of a change: at this rate, a server that changes constantly costs little.
const LONGEST: Duration = Duration::from_secs(60);

/// Decides when a list may be read again.
#[derive(Debug)]
pub(super) struct Pace {
    last: Instant,
    /// Consecutive changes without a pause.
    in_a_row: u32,
}

impl Pace {
    /// The list was read at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Pace { last: now, in_a_row: 0 }
    }

    /// When to read a list that changed at `now`. If there was no change for twice the current interval, the server has
    /// settled, and the list is read at once.
    pub(super) fn due(&mut self, now: Instant) -> Instant {
        if now.duration_since(self.last) >= 2 * self.wait() {
            self.in_a_row = 0;
        }
        now.max(self.last + self.wait())
    }

    /// Records that the list was read because of a change.
    pub(super) fn read(&mut self, now: Instant) {
        self.last = now;
        self.in_a_row = self.in_a_row.saturating_add(1);
    }

    fn wait(&self) -> Duration {
        let doublings = self.in_a_row.saturating_sub(PROMPT - 1);
        INTERVAL.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times, in seconds, at which the list of a server that changes every half second is read.
    fn readings(begin: Instant, seconds: u32) -> Vec<u64> {
        let (mut pace, mut read) = (Pace::new(begin), Vec::new());
        let mut due = None;
        for half in 1..=2 * seconds {
            let now = begin + Duration::from_millis(500) * half;
            let at = *due.get_or_insert_with(|| pace.due(now));
            if at <= now {
                pace.read(now);
                read.push(now.duration_since(begin).as_secs());
                due = None;
            }
        }
        read
    }

    #[test]
    fn a_constantly_changing_list_is_read_less_and_less_often() {
        assert_eq!(readings(Instant::now(), 180), [1, 2, 3, 5, 9, 17, 33, 65, 125]);
    }

    #[test]
    fn a_change_after_a_pause_is_read_at_once() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        for second in 1..6 {
            pace.read(begin + Duration::from_secs(second));
        }
        let last = begin + Duration::from_secs(5);
        assert_eq!(pace.due(last), last + Duration::from_secs(8));
        let later = last + Duration::from_secs(16);
        assert_eq!(pace.due(later), later);
    }
}
