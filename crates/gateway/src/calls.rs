//! The shared parts of all calls of a process: the cache of results, and the statistics. Each call to a server is made
//! here, after its permission, pin and argument checks.

mod checked_call;
pub mod result_cache;
#[cfg(not(feature = "history"))]
mod uncounted;

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "history")]
use history::statistics::{CountedCall, Statistics};
use runner::{Answer, CallFailure};
use terminal::Notifier;
use tokio::sync::watch;

pub use checked_call::CheckedCall;
use result_cache::{Key, ResultCache};
#[cfg(not(feature = "history"))]
use uncounted::{CountedCall, Statistics};

/// The cache of results and the statistics of a process. Clones share them.
#[derive(Clone)]
pub struct CallServices {
    results: Arc<ResultCache>,
    /// Counts calls.
    pub statistics: Arc<Statistics>,
    notifier: Notifier,
}

impl CallServices {
    /// An empty cache and no counted calls; warnings go to `notifier`.
    pub fn new(notifier: Notifier) -> Self {
        CallServices {
            results: Arc::default(),
            statistics: Arc::new(Statistics::new(notifier.clone())),
            notifier,
        }
    }

    /// Begins to count a call. The result does not borrow its arguments, so they can be sent without a copy.
    pub fn prepare(&self, call: CheckedCall<'_>) -> PreparedCall<'_> {
        PreparedCall {
            counted: call.config.stats.then(|| self.statistics.begin(call.server, call.tool)),
            key: self.results.key(&call, &self.notifier),
            ttl: call.config.cache.ttl,
            results: &self.results,
            questions: call.questions,
        }
    }
}

/// A call that is counted, and whose key in the cache of results is known.
pub struct PreparedCall<'a> {
    counted: Option<CountedCall<'a>>,
    key: Option<Key>,
    /// The time for which results are cached.
    ttl: Duration,
    results: &'a ResultCache,
    /// The number of servers' open questions.
    questions: watch::Receiver<usize>,
}

impl PreparedCall<'_> {
    /// Answers the call from the cache, or makes it with `send`.
    ///
    /// # Errors
    /// Returns the errors of `send`.
    pub async fn make(
        mut self,
        send: impl Future<Output = Result<Answer, CallFailure>>,
    ) -> Result<Answer, CallFailure> {
        if let Some(answer) = self.key.as_ref().and_then(|key| self.results.get(key, self.ttl)) {
            if let Some(counted) = self.counted {
                counted.cached(answer.result.get().len());
            }
            return Ok(answer);
        }
        self.questions.mark_unchanged();
        let answer = send.await;
        if let (Some(key), Ok(answer)) = (self.key, &answer)
            && !self.questions.has_changed().unwrap_or(true)
        {
            self.results.put(key, answer);
        }
        let (ok, bytes) = match &answer {
            Ok(answer) => (!answer.is_error, answer.result.get().len()),
            Err(_) => (false, 0),
        };
        if let Some(counted) = self.counted {
            counted.end(ok, bytes);
        }
        answer
    }
}
