//! Waits for the next message or answer without sleeping, where they follow each other quickly.

use std::convert::Infallible;
use std::future::pending;
use std::thread;
use std::time::Instant;

use bridge::short_waits::{SHORT, ShortWaits};
use tokio::task;

/// The broker's waits.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// When the present one began, unless there is nothing to wait for.
    since: Option<Instant>,
    past: ShortWaits,
}

impl Wait {
    /// Begins a wait, and keeps the event loop awake while it is expected to end soon. Never returns.
    pub(super) async fn spin(&mut self) -> Infallible {
        let since = *self.since.get_or_insert_with(Instant::now);
        while self.past.are_expected() && since.elapsed() < SHORT {
            // First the threads of the program and of its servers, then the tasks of this thread.
            thread::yield_now();
            task::yield_now().await;
        }
        pending().await
    }

    /// Ends the wait, if there was one.
    pub(super) fn end(&mut self) {
        if let Some(since) = self.since.take() {
            self.past.record(since.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a wait that is polled once wakes its task.
    fn spins(wait: &mut Wait) -> bool {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        assert!(pin!(wait.spin()).poll(&mut Context::from_waker(&waker)).is_pending());
        wakes.0.load(Ordering::Relaxed) > 0
    }

    /// Ends a wait that began at `since`.
    fn end(wait: &mut Wait, since: Instant) {
        wait.since = Some(since);
        wait.end();
    }

    #[test]
    fn a_wait_spins_only_after_several_short_ones_and_not_for_long() {
        let (mut wait, later) = (Wait::default(), Instant::now() + Duration::from_secs(3600));
        let earlier = Instant::now().checked_sub(SHORT).unwrap();
        while !wait.past.are_expected() {
            assert!(!spins(&mut wait));
            end(&mut wait, later);
        }
        wait.since = Some(later);
        assert!(spins(&mut wait));
        wait.since = Some(earlier);
        assert!(!spins(&mut wait));
        // What is there at once is not a wait.
        wait.since = None;
        wait.end();
        assert!(wait.past.are_expected());
        end(&mut wait, earlier);
        assert!(!wait.past.are_expected());
    }
}
