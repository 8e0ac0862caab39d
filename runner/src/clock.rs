//! The time of an execution, which stops while the user is asked.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

/// The time of one execution.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    state: watch::Sender<State>,
    /// Total time spent waiting for memory, which is not time spent on questions.
    waited: Mutex<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// The number of open questions, and when the first was opened.
    questions: usize,
    since: Option<Instant>,
    /// Total time the clock was stopped before.
    stopped: Duration,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Clock { started: Instant::now(), state: watch::Sender::default(), waited: Mutex::default() }
    }

    /// Awaits what may be the user's answer. If it is ready at once, the clock does not stop.
    pub(crate) async fn while_asking<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        if let Poll::Ready(answer) = futures::poll!(answer.as_mut()) {
            return answer;
        }
        let _standing = Standing::new(self);
        answer.await
    }

    /// Awaits something the execution needs but does not control.
    pub(crate) async fn while_waiting<T>(&self, work: impl Future<Output = T>) -> T {
        let _waiting = Waiting { since: Instant::now(), standing: Standing::new(self) };
        work.await
    }

    /// Total time spent on questions to the user.
    pub(crate) fn asking_time(&self) -> Duration {
        self.stopped_for().saturating_sub(*self.waited.lock())
    }

    /// Stops the clock while the server has open questions, as counted by `questions`. Never returns.
    pub(crate) async fn follow(&self, questions: Option<watch::Receiver<usize>>) {
        if let Some(mut questions) = questions {
            while questions.wait_for(|open| *open > 0).await.is_ok() {
                let _standing = Standing::new(self);
                let _ = questions.wait_for(|open| *open == 0).await;
            }
        }
        // The sender is gone, so there are no more questions.
        std::future::pending::<()>().await;
    }

    /// Total time the clock was stopped.
    pub(crate) fn stopped_for(&self) -> Duration {
        let state = *self.state.borrow();
        state.stopped + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns when `limit` has passed, not counting the time when the clock was stopped.
    pub(crate) async fn runs_out(&self, limit: Duration) {
        let mut changes = self.state.subscribe();
        loop {
            let state = *changes.borrow_and_update();
            let end = self.started + limit + state.stopped;
            tokio::select! {
                biased;
                // The sender is this clock, so it is not dropped.
                _ = changes.changed() => {}
                () = tokio::time::sleep_until(end), if state.since.is_none() => return,
            }
        }
    }
}

/// An open question. Dropping it resumes the clock.
struct Standing<'a>(&'a Clock);

/// A wait in progress. Dropping it resumes the clock.
struct Waiting<'a> {
    since: Instant,
    standing: Standing<'a>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Standing(clock) = &self.standing;
        *clock.waited.lock() += self.since.elapsed();
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
                state.stopped += state.since.take().map_or(Duration::ZERO, |since| since.elapsed());
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
    async fn the_clock_stops_while_the_user_is_asked() {
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
        assert!(clock.stopped_for() > Duration::ZERO);
    }

    #[tokio::test]
    async fn ready_answers_do_not_stop_the_clock() {
        let clock = Clock::start();
        assert_eq!(clock.while_asking(std::future::ready(7)).now_or_never(), Some(7));
        assert_eq!(clock.stopped_for(), Duration::ZERO);
        clock.runs_out(Duration::ZERO).await;
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_is_extended_by_the_time_of_a_question() {
        let clock = Clock::start();
        let end = async {
            clock.runs_out(seconds(10)).await;
            clock.started.elapsed()
        };
        let asked = async {
            tokio::time::sleep(seconds(3)).await;
            clock.while_asking(tokio::time::sleep(seconds(20))).await;
        };
        let halfway = async {
            tokio::time::sleep(seconds(7)).await;
            clock.stopped_for()
        };
        let (ended, (), halfway) = tokio::join!(end, asked, halfway);
        assert_eq!((ended, halfway), (seconds(30), seconds(4)));
        assert_eq!((clock.stopped_for(), clock.asking_time()), (seconds(20), seconds(20)));
    }

    #[tokio::test(start_paused = true)]
    async fn time_that_overlaps_is_counted_once() {
        let clock = Clock::start();
        let first = clock.while_asking(tokio::time::sleep(seconds(4)));
        let second = async {
            tokio::time::sleep(seconds(1)).await;
            clock.while_asking(tokio::time::sleep(seconds(5))).await;
        };
        tokio::join!(first, second);
        tokio::time::sleep(seconds(8)).await;
        clock.while_asking(tokio::time::sleep(seconds(2))).await;
        assert_eq!(clock.stopped_for(), seconds(8));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_stops_the_clock_and_is_not_asking() {
        let clock = Clock::start();
        for wait in [2, 3] {
            clock.while_waiting(tokio::time::sleep(seconds(wait))).await;
        }
        clock.while_asking(tokio::time::sleep(seconds(7))).await;
        assert_eq!((clock.stopped_for(), clock.asking_time()), (seconds(12), seconds(7)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stops_while_a_server_has_open_questions() {
        let clock = Clock::start();
        let (open, questions) = watch::channel(0);
        let server = async {
            for (count, time) in [(0, 1), (1, 2), (2, 4), (0, 8), (1, 16), (0, 32)] {
                open.send(count).unwrap();
                tokio::time::sleep(seconds(time)).await;
            }
            drop(open);
            tokio::time::sleep(seconds(64)).await;
        };
        tokio::select! {
            () = clock.follow(Some(questions)) => panic!("it follows until it is dropped"),
            () = server => {}
        }
        assert_eq!(clock.stopped_for(), seconds(2 + 4 + 16));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_without_questions_never_stops_the_clock() {
        let clock = Clock::start();
        let followed = tokio::time::timeout(seconds(5), clock.follow(None)).await;
        assert!(followed.is_err(), "it follows until it is dropped");
        assert_eq!(clock.stopped_for(), Duration::ZERO);
    }
}
