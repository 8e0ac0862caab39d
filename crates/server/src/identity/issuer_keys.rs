//! The keys of the issuer, read when they are needed and kept for a while.
//!
//! - Keys are read again when they are old, or when a token names an unknown key: after a rotation, the first token with
//!   the new key is accepted.
//! - Anyone can send a token with an unknown key, so the issuer gets only a few requests a minute.
//! - While the issuer can't be reached, its last keys are used for a limited time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use config::Auth;
use parking_lot::{Mutex, MutexGuard};
use reqwest::Client;
use terminal::Notifier;
use tokio::time::{Instant, timeout};

use super::key_set::KeySet;
use super::metadata::{self, Source};

/// After how long keys are read again (10 minutes): by then, the removal of a key takes effect.
const MAX_AGE: Duration = Duration::from_secs(600);

/// The time for which the last keys are used while the issuer can't be reached (2 hours).
const MAX_STALE: Duration = Duration::from_secs(7200);

/// Limit on readings within [`PERIOD`].
const MAX_READINGS: usize = 6;

/// The period of [`MAX_READINGS`].
const PERIOD: Duration = Duration::from_secs(60);

/// Time limit of a reading, with the issuer's metadata: less than the 15 s after which a connection without an accepted
/// request is closed, so that a request gets an answer.
const MAX_READING: Duration = Duration::from_secs(10);

/// The keys of the issuer.
pub(crate) struct IssuerKeys {
    notifier: Notifier,
    state: Mutex<State>,
    /// Held during a reading, so that there is one at a time.
    reading: tokio::sync::Mutex<Option<Client>>,
    max_reading: Duration,
}

#[derive(Default)]
struct State {
    /// Where the keys are from.
    source: Option<Source>,
    keys: Option<(Arc<KeySet>, Instant)>,
    /// The latest readings, the oldest first.
    readings: VecDeque<Instant>,
    /// The number of readings that have ended, and the source of the last one.
    ended: (u64, Option<Source>),
    /// Whether the last reading failed.
    has_failed: bool,
}

/// The keys of the issuer can't be read, and the last ones are too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the keys of the issuer can't be read, so tokens can't be checked; try again later")]
pub(crate) struct KeysUnavailable;

impl State {
    /// The keys from this source, up to an age.
    fn keys(&self, source: &Source, max_age: Duration) -> Option<Arc<KeySet>> {
        let (keys, read) = self.keys.as_ref().filter(|_| self.source.as_ref() == Some(source))?;
        (read.elapsed() <= max_age).then(|| keys.clone())
    }

    /// Counts a reading; `false` if there were too many.
    fn may_read(&mut self) -> bool {
        while self.readings.front().is_some_and(|first| first.elapsed() >= PERIOD) {
            self.readings.pop_front();
        }
        let may = self.readings.len() < MAX_READINGS;
        if may {
            self.readings.push_back(Instant::now());
        }
        may
    }
}

impl IssuerKeys {
    pub(crate) fn new(notifier: Notifier) -> Self {
        IssuerKeys {
            notifier,
            state: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            max_reading: MAX_READING,
        }
    }

    /// The issuer's keys, read again if they are old or not `sufficient`.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) async fn get(
        &self,
        auth: &Auth,
        sufficient: impl Fn(&KeySet) -> bool,
    ) -> Result<Arc<KeySet>, KeysUnavailable> {
        let source = Source { issuer: auth.issuer.clone(), keys: auth.jwks.clone() };
        let fresh = || self.state().keys(&source, MAX_AGE).filter(|keys| sufficient(keys));
        if let Some(keys) = fresh() {
            return Ok(keys);
        }
        let usable = || self.state().keys(&source, MAX_STALE);
        let ended = self.state().ended.0;
        let mut client = match self.reading.try_lock() {
            Ok(client) => client,
            // Another request reads them. Known keys need not wait for it.
            Err(_) => match usable().filter(|keys| sufficient(keys)) {
                Some(keys) => return Ok(keys),
                None => self.reading.lock().await,
            },
        };
        if let Some(keys) = fresh() {
            return Ok(keys);
        }
        // The reading that this request has waited for is its own as well: if it failed, another one would too, and
        // requests would wait for each other.
        let has_waited = {
            let state = self.state();
            state.ended.0 != ended && state.ended.1.as_ref() == Some(&source)
        };
        if !has_waited && self.state().may_read() {
            self.read(&mut client, &source).await;
        }
        usable().ok_or(KeysUnavailable)
    }

    async fn read(&self, client: &mut Option<Client>, source: &Source) {
        let read = async {
            let client = match client {
                Some(client) => client,
                None => client.insert(metadata::client()?),
            };
            metadata::keys(client, source).await
        };
        let late = |_| Err(format!("no answer within {} s", self.max_reading.as_secs_f64()));
        let read = timeout(self.max_reading, read).await.unwrap_or_else(late);
        let mut state = self.state();
        state.ended = (state.ended.0 + 1, Some(source.clone()));
        match read {
            Ok(keys) => {
                state.source = Some(source.clone());
                state.keys = Some((Arc::new(keys), Instant::now()));
                if std::mem::take(&mut state.has_failed) {
                    self.notifier.info(&format!("the keys of the issuer {} were read again", source.issuer));
                }
            }
            Err(why) => {
                if !std::mem::replace(&mut state.has_failed, true) {
                    let consequence = match state.keys(source, MAX_STALE) {
                        Some(_) => "its last keys are used for now",
                        None => "requests with its tokens are refused",
                    };
                    let issuer = &source.issuer;
                    self.notifier.warning(&format!(
                        "the keys of the issuer {issuer} can't be read, so {consequence}: {why}"
                    ));
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests;
