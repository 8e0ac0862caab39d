//! What all calls of a process share: the cache of results, and the statistics. Each call to a server is made here,
//! after its permission, pin and argument checks.

mod checked_call;
pub mod result_cache;
pub mod statistics;

use std::sync::Arc;

use runner::{Answer, CallFailure};
use terminal::Notifier;

pub use checked_call::CheckedCall;
use result_cache::ResultCache;
use statistics::Statistics;

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

    /// Answers a call from the cache, or makes it with `send`; counts it in both cases.
    ///
    /// # Errors
    /// Those of `send`.
    pub async fn make(
        &self,
        mut call: CheckedCall<'_>,
        send: impl Future<Output = Result<Answer, CallFailure>>,
    ) -> Result<Answer, CallFailure> {
        let counted = call.config.stats.then(|| self.statistics.begin(call.server, call.tool));
        let key = self.results.key(&call, &self.notifier);
        if let Some(answer) = key.as_ref().and_then(|key| self.results.get(key, call.config.cache.ttl)) {
            counted.into_iter().for_each(|counted| counted.cached(answer.result.get().len()));
            return Ok(answer);
        }
        call.questions.mark_unchanged();
        let answer = send.await;
        if let (Some(key), Ok(answer)) = (key, &answer)
            && !call.questions.has_changed().unwrap_or(true)
        {
            self.results.put(key, answer);
        }
        let (ok, bytes) = match &answer {
            Ok(answer) => (!answer.is_error, answer.result.get().len()),
            Err(_) => (false, 0),
        };
        counted.into_iter().for_each(|counted| counted.end(ok, bytes));
        answer
    }
}
