//! How long a request may take: begun anew by progress, standing still while somebody is asked.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::client::Progress;

/// A request whose server reports progress may take this many times its limit in all.
pub const PROGRESS_FACTOR: u32 = 20;

/// The limits of one request.
pub(super) struct Deadline {
    limit: Duration,
    /// How many questions of the server are open.
    questions: watch::Receiver<usize>,
}

impl Deadline {
    pub(super) fn new(limit: Duration, questions: watch::Receiver<usize>) -> Self {
        Self { limit, questions }
    }

    /// Returns the limit that was reached: the one without progress, or the one for all.
    pub(super) async fn passes(mut self, progress: &Progress) -> Duration {
        let longest = self.limit.saturating_mul(PROGRESS_FACTOR);
        let mut end = Instant::now() + self.limit;
        let mut last = Instant::now() + longest;
        loop {
            let is_asked = *self.questions.borrow_and_update() > 0;
            if is_asked {
                let since = Instant::now();
                // The sender lives as long as the session.
                let _ = self.questions.wait_for(|open| *open == 0).await;
                // Whatever a person takes counts against no limit.
                end = Instant::now() + self.limit;
                last += since.elapsed();
                continue;
            }
            tokio::select! {
                // In this order: progress without end does not put off the end of all, and what was reported before the
                // other limit was reached counts, however late it is looked at.
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

    /// A deadline, and what tells it of progress.
    fn begun() -> (impl Future<Output = Duration>, Arc<Progress>) {
        let config = ServerConfig::stdio("tests", "tests", [""; 0]);
        let client = Client::new(&config, Arc::new(NoHost));
        let progress = Arc::new(client.progress_of(ProgressToken(NumberOrString::Number(1)), None));
        let (deadline, reported) = (Deadline::new(LIMIT, client.questions()), Arc::clone(&progress));
        (async move { deadline.passes(&reported).await }, progress)
    }

    /// It is also looked at late, since reports are told meanwhile: what ends it must not be left to chance.
    #[tokio::test(start_paused = true)]
    async fn progress_without_end_does_not_put_off_the_end_of_all() {
        for _ in 0..32 {
            let (passed, progress) = begun();
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
    async fn what_is_looked_at_late_ends_for_the_limit_that_it_reached() {
        let (passed, progress) = begun();
        let mut passed = Box::pin(passed);
        assert_eq!(passed.as_mut().now_or_never(), None);
        advance(LIMIT * 2).await;
        progress.note();
        assert_eq!(passed.as_mut().now_or_never(), None, "there was progress");
        advance(LIMIT * PROGRESS_FACTOR).await;
        progress.note();
        assert_eq!(passed.now_or_never(), Some(LIMIT * PROGRESS_FACTOR));

        let (passed, _progress) = begun();
        let mut passed = Box::pin(passed);
        assert_eq!(passed.as_mut().now_or_never(), None);
        advance(LIMIT).await;
        assert_eq!(passed.now_or_never(), Some(LIMIT));
    }
}
