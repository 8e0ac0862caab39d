//! The time limit of a request: restarted by progress, paused while a question waits for the user or a model.

use std::{pin::Pin, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::client::Progress;

/// A request whose server reports progress may take this many times its limit in total.
pub const PROGRESS_FACTOR: u32 = 20;

/// Limit on the timers that a session keeps.
const TIMERS_KEPT: usize = 64;

/// The timers of answered requests, for the next requests of the session.
///
/// Starting a timer that expires before all others wakes the event loop, with a system call; postponing one does not.
#[derive(Default)]
pub(super) struct Timers(Mutex<Vec<Pin<Box<Sleep>>>>);

/// A timer, kept when dropped.
struct Timer<'a> {
    timers: &'a Timers,
    /// Present until dropped.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timers {
    /// A timer that may be running.
    fn take(&self) -> Timer<'_> {
        let kept = self.kept().pop();
        Timer { timers: self, sleep: Some(kept.unwrap_or_else(|| Box::pin(sleep_until(Instant::now())))) }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Pin<Box<Sleep>>>> {
        self.0.lock()
    }
}

impl Timer<'_> {
    /// Waits until this moment.
    async fn reaches(&mut self, end: Instant) {
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(end);
            sleep.await;
        }
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let Some(sleep) = self.sleep.take() else { return };
        let mut kept = self.timers.kept();
        if kept.len() < TIMERS_KEPT {
            kept.push(sleep);
        }
    }
}

/// The limits of one request.
pub(super) struct Deadline {
    limit: Duration,
    /// Counts of what pauses the limits, such as open questions of the server.
    pauses: [watch::Receiver<usize>; 2],
}

impl Deadline {
    pub(super) fn new(limit: Duration, pauses: [watch::Receiver<usize>; 2]) -> Self {
        Self { limit, pauses }
    }

    /// Waits for a limit to be reached and returns it: the one without progress, or the total one.
    pub(super) async fn passes(self, progress: &Progress, timers: &Timers) -> Duration {
        let [mut questions, mut waits] = self.pauses;
        let longest = self.limit.saturating_mul(PROGRESS_FACTOR);
        let mut end = Instant::now() + self.limit;
        let mut last = Instant::now() + longest;
        let mut timer = timers.take();
        // Endless progress does not postpone the total limit.
        while Instant::now() < last {
            let is_paused = *questions.borrow_and_update() > 0 || *waits.borrow_and_update() > 0;
            if is_paused {
                let since = Instant::now();
                // The senders live as long as the session.
                let _ = questions.wait_for(|open| *open == 0).await;
                let _ = waits.wait_for(|open| *open == 0).await;
                // Time spent on them does not count against the limits.
                end = Instant::now() + self.limit;
                last += since.elapsed();
                continue;
            }
            tokio::select! {
                // In this order: progress reported before the limit was reached counts, even if it is polled late.
                biased;
                () = progress.made() => end = Instant::now() + self.limit,
                _ = questions.changed() => {}
                _ = waits.changed() => {}
                () = timer.reaches(end.min(last)) => if Instant::now() < last { return self.limit },
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt;
    use rmcp::model::{NumberOrString, ProgressToken};
    use tokio::time::advance;

    use super::*;
    use crate::{client::Client, host::NoHost, server_config::ServerConfig};

    const LIMIT: Duration = Duration::from_secs(1);

    /// A deadline, and its progress.
    fn started() -> (impl Future<Output = Duration>, Arc<Progress>) {
        let config = ServerConfig::stdio("tests", "tests", [""; 0]);
        let client = Client::new(&config, Arc::new(NoHost));
        let progress = Arc::new(client.progress_of(ProgressToken(NumberOrString::Number(1)), None));
        let reported = Arc::clone(&progress);
        let passes = async move {
            let deadline = Deadline::new(LIMIT, client.pauses());
            deadline.passes(&reported, &Timers::default()).await
        };
        (passes, progress)
    }

    /// Also polled late, since reports arrive concurrently: the result must not depend on chance.
    #[tokio::test(start_paused = true)]
    async fn endless_progress_does_not_postpone_the_total_limit() {
        for _ in 0..32 {
            let (passed, progress) = started();
            let mut passed = Box::pin(passed);
            for _ in 0..4 * PROGRESS_FACTOR - 6 {
                assert_eq!(passed.as_mut().now_or_never(), None);
                progress.note();
                advance(LIMIT / 4).await;
            }
            progress.note();
            advance(LIMIT * 6).await;
            progress.note();
            assert_eq!(passed.now_or_never(), Some(LIMIT * PROGRESS_FACTOR));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_poll_returns_the_limit_that_was_reached() {
        let (passed, progress) = started();
        let mut passed = Box::pin(passed);
        assert_eq!(passed.as_mut().now_or_never(), None);
        advance(LIMIT * 2).await;
        progress.note();
        assert_eq!(passed.as_mut().now_or_never(), None, "there was progress");
        advance(LIMIT * PROGRESS_FACTOR).await;
        progress.note();
        assert_eq!(passed.now_or_never(), Some(LIMIT * PROGRESS_FACTOR));

        let (passed, _progress) = started();
        let mut passed = Box::pin(passed);
        assert_eq!(passed.as_mut().now_or_never(), None);
        advance(LIMIT).await;
        assert_eq!(passed.now_or_never(), Some(LIMIT));
    }

    /// One after the other, and with limits that are shorter and longer than those before.
    #[tokio::test(start_paused = true)]
    async fn a_timer_is_used_again_whether_it_has_expired_or_not() {
        let timers = Timers::default();
        for seconds in [5, 3, 8, 8] {
            let limit = Duration::from_secs(seconds);
            let mut timer = timers.take();
            assert!(timers.kept().is_empty());
            assert_eq!(timer.reaches(Instant::now() + limit).now_or_never(), None);
            drop(timer);
            assert_eq!(timers.kept().len(), 1);
            let (mut timer, started) = (timers.take(), Instant::now());
            timer.reaches(started + limit).await;
            assert_eq!(started.elapsed().as_secs(), seconds);
        }
    }

    #[tokio::test]
    async fn few_timers_are_kept() {
        let timers = Timers::default();
        let taken: Vec<_> = (0..=TIMERS_KEPT).map(|_| timers.take()).collect();
        drop(taken);
        assert_eq!(timers.kept().len(), TIMERS_KEPT);
    }
}
