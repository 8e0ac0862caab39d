//! How long a request may take: begun anew by progress, standing still while somebody is asked.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::PROGRESS_FACTOR;
use crate::client::Progress;

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
                () = progress.made() => end = Instant::now() + self.limit,
                _ = self.questions.changed() => {}
                () = sleep_until(end.min(last)) => return if last <= end { longest } else { self.limit },
            }
        }
    }
}
