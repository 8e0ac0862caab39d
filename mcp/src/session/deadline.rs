//! The time limit of a request: restarted by progress, paused while a question waits for the user or a model.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::client::Progress;

/// A request whose server reports progress may take this many times its limit in total.
pub const PROGRESS_FACTOR: u32 = 20;

/// The limits of one request.
pub(super) struct Deadline {
    limit: Duration,
    /// The number of open questions of the server.
    questions: watch::Receiver<usize>,
}

impl Deadline {
    pub(super) fn new(limit: Duration, questions: watch::Receiver<usize>) -> Self {
        Self { limit, questions }
    }

    /// Waits for a limit to be reached and returns it: the one without progress, or the total one.
    pub(super) async fn passes(mut self, progress: &Progress) -> Duration {
        let longest = self.limit.saturating_mul(PROGRESS_FACTOR);
        let mut end = Instant::now() + self.limit;
        let mut last = Instant::now() + longest;
        loop {
            let has_questions = *self.questions.borrow_and_update() > 0;
            if has_questions {
                let since = Instant::now();
                // The sender lives as long as the session.
                let _ = self.questions.wait_for(|open| *open == 0).await;
                // Time spent on questions does not count against the limits.
                end = Instant::now() + self.limit;
                last += since.elapsed();
                continue;
            }
            tokio::select! {
                // In this order: endless progress does not postpone the total limit, and progress reported before the
                // other limit was reached counts, even if it is polled late.
                biased;
                () = sleep_until(last) => return longest,
                () = progress.made() => end = Instant::now() + self.limit,
                _ = self.questions.changed() => {}
                () = sleep_until(end) => return self.limit,
            }
        }
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
        let (deadline, reported) = (Deadline::new(LIMIT, client.questions()), Arc::clone(&progress));
        (async move { deadline.passes(&reported).await }, progress)
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
}
