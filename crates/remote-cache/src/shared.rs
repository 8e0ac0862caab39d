//! The shared parts of a remote cache: the store, the keys, the breakers, and the record of events.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use object_store::ObjectStoreExt as _;
use parking_lot::Mutex;
use runner::{ArtifactId, RemoteStatistics};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::breaker::{Breaker, Change};
use crate::key::{PublicKey, SigningKey};
use crate::notes::{Notes, Subject};
use crate::sealed::Refusal;
use crate::store::Store;
use crate::trouble::{Trouble, within};

/// Maximum number of refused entries to remember, so that they are replaced.
const MOST_REFUSED: usize = 1024;
/// Maximum number of entries that are packed and written at a time: a layer must not hold up programs.
const UPLOADS: usize = 2;

/// The parts' common state.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    /// The store's address, for users.
    pub(crate) shown: String,
    /// Signs entries; `None` if this machine only reads.
    pub(crate) signer: Option<SigningKey>,
    /// The keys whose entries are used.
    pub(crate) keys: Vec<PublicKey>,
    /// Time limit of an answer.
    pub(crate) timeout: Duration,
    pub(crate) reads: Breaker,
    pub(crate) writes: Breaker,
    pub(crate) leases: Breaker,
    pub(crate) counters: Counters,
    pub(crate) notes: Notes,
    /// Leases and writes in the background.
    pub(crate) tasks: TaskTracker,
    /// Ends what only waits, because the process is about to end.
    pub(crate) closing: CancellationToken,
    /// Few entries are packed and written at a time.
    pub(crate) upload: Semaphore,
    /// Entries that were refused, and are to be replaced although they exist.
    refused: Mutex<HashSet<String>>,
}

/// The numbers of events so far.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) refused: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) unwritten: AtomicU64,
    pub(crate) waits: AtomicU64,
    /// Entries that wait to be written.
    pub(crate) waiting: AtomicU64,
}

impl Counters {
    /// Counts one more.
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// The state before the first request. Without a `signer`, entries are only read.
    pub(crate) fn new(
        store: Store,
        shown: String,
        signer: Option<SigningKey>,
        keys: Vec<PublicKey>,
        timeout: Duration,
        notes: Notes,
    ) -> Self {
        Shared {
            store,
            shown,
            signer,
            keys,
            timeout,
            reads: Breaker::default(),
            writes: Breaker::default(),
            leases: Breaker::default(),
            counters: Counters::default(),
            notes,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            upload: Semaphore::new(UPLOADS),
            refused: Mutex::default(),
        }
    }

    /// Records that a request failed.
    pub(crate) fn failed(&self, breaker: &Breaker, subject: Subject, trouble: &Trouble) {
        Counters::count(&self.counters.failures);
        let Some(Change::Paused(pause)) = breaker.failed(trouble.failed()) else { return };
        let (what, effect) = match subject {
            Subject::Reading => ("read", "snippets are compiled here"),
            Subject::Writing => ("written to", "new entries are not shared"),
            _ => ("used for leases", "machines may compile the same"),
        };
        let (place, why, seconds) = (&self.shown, trouble.words(), pause.as_secs());
        self.notes.say(
            subject,
            &format!(
                "the remote cache {place} can't be {what}: {why}; {effect}, and it is tried again after {seconds} s \
                 or more (this is reported once)"
            ),
        );
    }

    /// Records an answer of the store.
    pub(crate) fn works(&self, breaker: &Breaker) {
        self.resumed(breaker.succeeded());
    }

    /// Records an answer to a request that only asked for one.
    pub(crate) fn answers(&self, breaker: &Breaker) {
        self.resumed(breaker.answered());
    }

    fn resumed(&self, change: Option<Change>) {
        if change == Some(Change::Resumed) {
            self.notes.say(Subject::Resumed, &format!("the remote cache {} is used again", self.shown));
        }
    }

    /// Records that an entry was refused. It is replaced by the next one that is built.
    pub(crate) fn refused(&self, id: &ArtifactId, refusal: &Refusal) {
        Counters::count(&self.counters.refused);
        let mut refused = self.refused.lock();
        if refused.len() < MOST_REFUSED {
            refused.insert(id.to_string());
        }
        drop(refused);
        let place = &self.shown;
        let line = format!(
            "refused the entry {id} of the remote cache {place}: {refusal}; it is built here instead"
        );
        self.notes.say(Subject::Refused, &line);
    }

    /// Whether an entry was refused and not replaced yet.
    pub(crate) fn is_refused(&self, id: &ArtifactId) -> bool {
        self.refused.lock().contains(&id.to_string())
    }

    /// Records that an entry is in the store.
    pub(crate) fn is_written(&self, id: &ArtifactId) {
        self.refused.lock().remove(&id.to_string());
    }

    /// Asks for an object that is not there.
    ///
    /// # Errors
    /// If the store does not answer in time, or refuses.
    pub(crate) async fn probe(&self, limit: Duration) -> Result<(), Trouble> {
        // The answer to HEAD has no text, which says whether the bucket is missing.
        match within(limit, self.store.objects.get(&self.store.probe())).await {
            Ok(_) => Ok(()),
            Err(trouble) if trouble.is_missing_object() => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// Returns the numbers of events so far.
    pub(crate) fn statistics(&self) -> RemoteStatistics {
        let Counters { refused, failures, written, unwritten, waits, .. } = &self.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RemoteStatistics {
            refused: read(refused),
            failures: read(failures),
            written: read(written),
            unwritten: read(unwritten),
            waits: read(waits),
            reading: self.reads.availability(),
            writing: self.writes.availability(),
        }
    }
}
