//! A circuit breaker: a store that fails or is slow is left alone for a while.
//!
//! A slow answer opens it at once, because each one makes somebody wait; fast failures open it after a few in a row.
//! While it is open, nothing is requested. Then one attempt decides whether it closes or stays open for twice as long.

use std::time::Duration;

use parking_lot::Mutex;
use runner::Availability;
use tokio::time::Instant;

/// Number of fast failures in a row that open it: one may be a connection that the store has closed.
const FAILURES: u32 = 3;
/// The time that it is open the first time, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// After this time without a result, another attempt is allowed: the one before was dropped.
const ATTEMPT: Duration = Duration::from_secs(60);

/// Whether a request may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// It may.
    Open,
    /// It may not.
    Shut,
    /// One attempt may, to find out whether the store works again. Its result must be reported.
    Attempt,
}

/// A change that users notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The store is left alone for this time.
    Paused(Duration),
    /// The store is used again.
    Resumed,
}

/// The speed at which a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// At once.
    Fast,
    /// At its time limit.
    Slow,
}

#[derive(Debug)]
struct State {
    failures: u32,
    /// When the next attempt may be made; `None` while the store is used.
    until: Option<Instant>,
    /// The next pause.
    pause: Duration,
}

/// A circuit breaker.
#[derive(Debug)]
pub(crate) struct Breaker(Mutex<State>);

impl Default for Breaker {
    fn default() -> Self {
        Breaker(Mutex::new(State { failures: 0, until: None, pause: FIRST_PAUSE }))
    }
}

impl Breaker {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock())
    }

    /// Whether a request may be made now.
    pub(crate) fn gate(&self) -> Gate {
        let now = Instant::now();
        self.with(|state| match state.until {
            None => Gate::Open,
            Some(until) if now < until => Gate::Shut,
            Some(_) => {
                state.until = Some(now + ATTEMPT);
                Gate::Attempt
            }
        })
    }

    /// Records an answer of the store.
    pub(crate) fn succeeded(&self) -> Option<Change> {
        let resumed = self.answered();
        self.with(|state| state.pause = FIRST_PAUSE);
        resumed
    }

    /// Records an answer to a request that was made only to see whether there is one. If the next ordinary request fails,
    /// the next pause is longer nevertheless.
    pub(crate) fn answered(&self) -> Option<Change> {
        self.with(|state| {
            state.failures = 0;
            state.until.take().map(|_| Change::Resumed)
        })
    }

    /// Records a failure. Only the first of several in a row is a change.
    pub(crate) fn failed(&self, failed: Failed) -> Option<Change> {
        self.with(|state| {
            state.failures = state.failures.saturating_add(1);
            // While it is open, a failure is that of an attempt.
            if failed == Failed::Fast && state.failures < FAILURES && state.until.is_none() {
                return None;
            }
            let pause = state.pause;
            state.pause = (pause * 2).min(LONGEST_PAUSE);
            let before = state.until.replace(Instant::now() + pause);
            before.is_none().then_some(Change::Paused(pause))
        })
    }

    /// The state, for statistics.
    pub(crate) fn availability(&self) -> Availability {
        self.with(|state| if state.until.is_some() { Availability::Paused } else { Availability::Used })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_opens_it_at_once_and_failures_after_three() {
        let breaker = Breaker::default();
        assert_eq!(breaker.failed(Failed::Slow), Some(Change::Paused(FIRST_PAUSE)));
        assert_eq!((breaker.gate(), breaker.availability()), (Gate::Shut, Availability::Paused));
        let breaker = Breaker::default();
        for _ in 1..FAILURES {
            assert_eq!(breaker.failed(Failed::Fast), None);
            assert_eq!(breaker.gate(), Gate::Open);
        }
        assert_eq!(breaker.failed(Failed::Fast), Some(Change::Paused(FIRST_PAUSE)));
        assert_eq!(breaker.gate(), Gate::Shut);
    }

    #[tokio::test(start_paused = true)]
    async fn only_failures_in_a_row_count() {
        let breaker = Breaker::default();
        for _ in 0..10 {
            breaker.failed(Failed::Fast);
            breaker.failed(Failed::Fast);
            assert_eq!(breaker.succeeded(), None);
        }
        assert_eq!(breaker.gate(), Gate::Open);
    }

    #[tokio::test(start_paused = true)]
    async fn one_attempt_at_a_time_decides() {
        let breaker = Breaker::default();
        breaker.failed(Failed::Slow);
        advance(FIRST_PAUSE).await;
        assert_eq!((breaker.gate(), breaker.gate()), (Gate::Attempt, Gate::Shut));
        // Said once: it is still the same outage.
        assert_eq!(breaker.failed(Failed::Fast), None);
        advance(FIRST_PAUSE).await;
        assert_eq!(breaker.gate(), Gate::Shut, "the second pause is longer");
        advance(FIRST_PAUSE).await;
        assert_eq!(breaker.gate(), Gate::Attempt);
        assert_eq!(breaker.succeeded(), Some(Change::Resumed));
        assert_eq!((breaker.gate(), breaker.availability()), (Gate::Open, Availability::Used));
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_only_answers_attempts_is_left_alone_for_longer() {
        let breaker = Breaker::default();
        breaker.failed(Failed::Slow);
        advance(FIRST_PAUSE).await;
        assert_eq!((breaker.gate(), breaker.answered()), (Gate::Attempt, Some(Change::Resumed)));
        assert_eq!(breaker.failed(Failed::Slow), Some(Change::Paused(FIRST_PAUSE * 2)));
        breaker.answered();
        breaker.succeeded();
        assert_eq!(breaker.failed(Failed::Slow), Some(Change::Paused(FIRST_PAUSE)));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_are_bounded_and_a_dropped_attempt_is_replaced() {
        let breaker = Breaker::default();
        for _ in 0..20 {
            breaker.failed(Failed::Slow);
        }
        advance(LONGEST_PAUSE).await;
        assert_eq!(breaker.gate(), Gate::Attempt);
        advance(ATTEMPT).await;
        assert_eq!(breaker.gate(), Gate::Attempt);
    }
}
