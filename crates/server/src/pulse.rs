//! Measures the event loop: when it last turned, and how long a task has held it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// The interval at which the loop is tried (20 ms). At 50 times a second, this takes less than 0.1 % of a processor.
const PERIOD: Duration = Duration::from_millis(20);

/// The turns of an event loop.
#[derive(Debug)]
pub(crate) struct Pulse {
    begun: Instant,
    /// When the loop last turned, in microseconds after the begin; 0 if it is not measured.
    last: AtomicU64,
    /// The longest stay since it was last taken, in microseconds.
    longest: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse { begun: Instant::now(), last: AtomicU64::default(), longest: AtomicU64::default() }
    }
}

impl Pulse {
    /// Measures the loop on which this runs, indefinitely.
    pub(crate) async fn measure(self: Arc<Self>) {
        loop {
            self.turn();
            sleep(PERIOD).await;
        }
    }

    fn turn(&self) {
        if let Some(stay) = self.stay() {
            self.longest.fetch_max(microseconds(stay), Ordering::Relaxed);
        }
        self.last.store(microseconds(self.begun.elapsed()).max(1), Ordering::Relaxed);
    }

    /// Returns the time since the loop turned; `None` if it is not measured.
    pub(crate) fn since_turn(&self) -> Option<Duration> {
        let last = Some(self.last.load(Ordering::Relaxed)).filter(|last| *last > 0)?;
        Some(self.begun.elapsed().saturating_sub(Duration::from_micros(last)))
    }

    /// Returns the time by which the loop is late for its next turn.
    fn stay(&self) -> Option<Duration> {
        Some(self.since_turn()?.saturating_sub(PERIOD))
    }

    /// The longest time for which other tasks had to wait since the last call; `None` if it is not measured.
    pub(crate) fn take_longest(&self) -> Option<Duration> {
        // The present stay may have no turn yet.
        let present = self.stay()?;
        Some(Duration::from_micros(self.longest.swap(0, Ordering::Relaxed)).max(present))
    }

    /// A loop that last turned this long ago.
    #[cfg(test)]
    pub(crate) fn turned_before(time: Duration) -> Self {
        let begun = Instant::now().checked_sub(time).expect("the machine has run longer");
        Pulse { begun, last: AtomicU64::new(1), ..Pulse::default() }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    const STAY: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn the_longest_stay_is_reported_once() {
        let pulse = Arc::new(Pulse::default());
        assert_eq!((pulse.take_longest(), pulse.since_turn()), (None, None));
        let measuring = tokio::spawn(pulse.clone().measure());
        yield_now().await;
        std::thread::sleep(STAY);
        assert!(pulse.take_longest() >= Some(STAY - PERIOD), "it lasts");
        sleep(PERIOD).await;
        assert!(pulse.take_longest() >= Some(STAY - PERIOD), "it is over");
        measuring.abort();
        assert!(pulse.longest.load(Ordering::Relaxed) == 0);
    }

    #[test]
    fn a_loop_that_does_not_turn_is_noticed() {
        let pulse = Pulse::turned_before(STAY);
        assert!(pulse.since_turn() >= Some(STAY - PERIOD));
        pulse.turn();
        assert!(pulse.longest.load(Ordering::Relaxed) > 0);
    }
}
