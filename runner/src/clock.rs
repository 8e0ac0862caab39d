//! The time of an execution, which stands still while a person is asked.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// The time of one execution.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    state: watch::Sender<State>,
    /// How long it stood still for want of memory, which is nobody's answer.
    waited: Mutex<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// How many questions are open, and since when there is one.
    questions: usize,
    since: Option<Instant>,
    /// How long the clock stood still before.
    stood: Duration,
}

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Clock { started: Instant::now(), state: watch::Sender::default(), waited: Mutex::default() }
    }

    /// Waits for what may be a person's answer. What is ready at once does not touch the clock.
    pub(crate) async fn while_asking<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        if let Poll::Ready(answer) = futures::poll!(answer.as_mut()) {
            return answer;
        }
        let _standing = Standing::new(self);
        answer.await
    }

    /// Waits for what the execution can't go on without, and has no part in.
    pub(crate) async fn while_waiting<T>(&self, work: impl Future<Output = T>) -> T {
        let _waiting = Waiting { begun: Instant::now(), standing: Standing::new(self) };
        work.await
    }

    /// How long people were asked so far.
    pub(crate) fn asked(&self) -> Duration {
        self.stood_still().saturating_sub(*self.waited.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stands still while there are questions, of which `questions` counts the open ones. Never returns.
    pub(crate) async fn follow(&self, questions: Option<watch::Receiver<usize>>) {
        if let Some(mut questions) = questions {
            while questions.wait_for(|open| *open > 0).await.is_ok() {
                let _standing = Standing::new(self);
                let _ = questions.wait_for(|open| *open == 0).await;
            }
        }
        // Whoever asked is gone, and asks no more.
        std::future::pending::<()>().await;
    }

    /// How long the clock has stood still so far.
    pub(crate) fn stood_still(&self) -> Duration {
        let state = *self.state.borrow();
        state.stood + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns when `limit` has passed, less the time for which the clock stood still.
    pub(crate) async fn runs_out(&self, limit: Duration) {
        let mut changes = self.state.subscribe();
        loop {
            let state = *changes.borrow_and_update();
            let end = self.started + limit + state.stood;
            tokio::select! {
                biased;
                // The sender is this clock: it does not go away.
                _ = changes.changed() => {}
                () = tokio::time::sleep_until(end), if state.since.is_none() => return,
            }
        }
    }
}

/// An open question. Dropping it lets the clock go on.
struct Standing<'a>(&'a Clock);

/// A wait that is under way. Dropping it lets the clock go on.
struct Waiting<'a> {
    begun: Instant,
    standing: Standing<'a>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Standing(clock) = &self.standing;
        *clock.waited.lock().unwrap_or_else(PoisonError::into_inner) += self.begun.elapsed();
    }
}

impl<'a> Standing<'a> {
    fn new(clock: &'a Clock) -> Self {
        clock.state.send_modify(|state| {
            state.questions += 1;
            state.since.get_or_insert_with(Instant::now);
        });
        Standing(clock)
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| {
            state.questions -= 1;
            if state.questions == 0 {
                state.stood += state.since.take().map_or(Duration::ZERO, |since| since.elapsed());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn the_time_does_not_run_out_while_anybody_is_asked() {
        let clock = Clock::start();
        let (answer, first) = oneshot::channel::<()>();
        let (other, second) = oneshot::channel::<()>();
        let mut first = Box::pin(clock.while_asking(first));
        let mut second = Box::pin(clock.while_asking(second));
        assert!(futures::poll!(first.as_mut()).is_pending() && futures::poll!(second.as_mut()).is_pending());
        let mut end = Box::pin(clock.runs_out(Duration::ZERO));
        assert!(futures::poll!(end.as_mut()).is_pending());
        answer.send(()).unwrap();
        first.await.unwrap();
        assert!(futures::poll!(end.as_mut()).is_pending(), "one question is still open");
        drop((second, other));
        end.await;
        assert!(clock.stood_still() > Duration::ZERO);
    }

    #[tokio::test]
    async fn what_is_ready_does_not_stop_the_clock() {
        let clock = Clock::start();
        assert_eq!(clock.while_asking(std::future::ready(7)).now_or_never(), Some(7));
        assert_eq!(clock.stood_still(), Duration::ZERO);
        clock.runs_out(Duration::ZERO).await;
    }
}
