//! How often a server's list is read again for the sake of its changes: seldom, if it changes all the time.
//!
//! Every new list costs its readers work and room: code is generated and compiled from it.

use std::time::Duration;

use tokio::time::Instant;

/// How many changes one after the other are followed at [`INTERVAL`]: a server that is being set up changes a few times.
const PROMPT: u32 = 3;

/// The least time between two readings; doubled from the fourth change on.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest that a change waits: after that a server that changes all the time costs little.
const LONGEST: Duration = Duration::from_secs(60);

/// When a list may be read again.
#[derive(Debug)]
pub(super) struct Pace {
    last: Instant,
    /// Changes that followed each other without a rest.
    in_a_row: u32,
}

impl Pace {
    /// The list has been read just now.
    pub(super) fn new(now: Instant) -> Self {
        Pace { last: now, in_a_row: 0 }
    }

    /// When the list is to be read that has changed at `now`. If no change came for as long again as one would have
    /// waited, the server has come to rest, and is followed at once.
    pub(super) fn due(&mut self, now: Instant) -> Instant {
        if now.duration_since(self.last) >= 2 * self.wait() {
            self.in_a_row = 0;
        }
        now.max(self.last + self.wait())
    }

    /// It has been read because of a change.
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

    /// When the list is read of a server that changes every half a second.
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
    fn a_list_that_changes_all_the_time_is_read_ever_less_often() {
        assert_eq!(readings(Instant::now(), 180), [1, 2, 3, 5, 9, 17, 33, 65, 125]);
    }

    #[test]
    fn a_server_that_has_come_to_rest_is_followed_at_once() {
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
