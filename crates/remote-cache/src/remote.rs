//! A remote cache in an object store, for the runner.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use runner::{Fetched, Offered, RemoteCache, RemoteStatistics, Wanted};
use tokio::time::{Instant, timeout};
use tokio_util::sync::DropGuard;

use crate::breaker::Gate;
use crate::error::Error;
use crate::fetch::{Looked, look_up};
use crate::key::{PublicKey, SigningKey};
use crate::lease;
use crate::notes::{Notes, Notify, Subject};
use crate::objects::Objects;
use crate::settings::{Settings, shown};
use crate::shared::Shared;
use crate::store::Store;
use crate::upload;

/// A remote cache in an object store.
#[derive(Debug)]
pub struct Remote {
    shared: Arc<Shared>,
    /// Ends what only waits when this is dropped.
    _closing: DropGuard,
}

/// The state of a store, for users.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StoreState {
    /// Where it is, without anything that may be secret.
    pub place: String,
    /// The id of the key that signs new entries; `None` if this machine only reads.
    pub signs_with: Option<String>,
    /// The ids of the keys whose entries are used.
    pub accepts: Vec<String>,
    /// The time that it took to answer, in milliseconds; `None` if it did not.
    pub answered_ms: Option<u64>,
    /// The reason why it did not answer.
    pub trouble: Option<String>,
}

impl Remote {
    /// Opens the store; makes no request. `notify` shows lines about a store that does not work.
    ///
    /// # Errors
    /// If the settings can't be used: an unknown kind of store, or a key that is missing or readable by others.
    pub fn open(settings: &Settings, notify: Notify) -> Result<Self, Error> {
        let signer = settings.key.as_ref().map(SigningKey::read).transpose()?;
        let mut keys: Vec<PublicKey> = signer.iter().map(SigningKey::public).collect();
        keys.extend(
            settings.public_keys.iter().filter(|key| Some(**key) != signer.as_ref().map(SigningKey::public)),
        );
        let (store, shown) = (Store::open(settings)?, shown(&settings.url));
        let shared = Shared::new(store, shown, signer, keys, settings.timeout, Notes::new(notify));
        let closing = shared.closing.clone().drop_guard();
        Ok(Remote { shared: Arc::new(shared), _closing: closing })
    }

    /// Small objects in the store.
    #[must_use]
    pub fn objects(&self) -> Objects {
        Objects(self.shared.clone())
    }

    /// Asks the store for an answer, within `limit`.
    pub async fn state(&self, limit: Duration) -> StoreState {
        let Shared { shown, signer, keys, .. } = &*self.shared;
        let started = Instant::now();
        let answer = self.shared.probe(limit).await;
        let elapsed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        StoreState {
            place: shown.clone(),
            signs_with: signer.as_ref().map(|signer| signer.public().name()),
            accepts: keys.iter().map(PublicKey::name).collect(),
            answered_ms: answer.is_ok().then_some(elapsed),
            trouble: answer.err().map(|trouble| trouble.words()),
        }
    }

    async fn fetch_wanted(&self, wanted: Wanted<'_>) -> Fetched {
        match self.shared.reads.gate() {
            Gate::Open => {}
            Gate::Shut => return Fetched::Missing(None),
            Gate::Attempt => {
                self.attempt();
                return Fetched::Missing(None);
            }
        }
        match look_up(&self.shared, &wanted).await {
            Looked::Written => Fetched::Written,
            Looked::Missing if wanted.builds && self.shared.signer.is_some() => {
                lease::take_or_wait(&self.shared, &wanted).await
            }
            Looked::Missing | Looked::Unavailable => Fetched::Missing(None),
        }
    }

    /// Finds out in the background whether the store can be read again.
    fn attempt(&self) {
        let shared = self.shared.clone();
        self.shared.tasks.spawn(async move {
            match shared.probe(shared.timeout).await {
                Ok(()) => shared.answers(&shared.reads),
                Err(trouble) => shared.failed(&shared.reads, Subject::Reading, &trouble),
            }
        });
    }
}

impl RemoteCache for Remote {
    fn fetch<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Fetched> {
        Box::pin(self.fetch_wanted(wanted))
    }

    fn offer(&self, offered: Offered) {
        upload::offer(&self.shared, offered);
    }

    fn flush(&self, within: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.shared.closing.cancel();
            self.shared.tasks.close();
            // What is not written in this time is written by a machine that builds it again.
            let _ = timeout(within, self.shared.tasks.wait()).await;
            self.shared.tasks.reopen();
        })
    }

    fn statistics(&self) -> RemoteStatistics {
        self.shared.statistics()
    }
}
