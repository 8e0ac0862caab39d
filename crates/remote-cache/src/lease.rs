//! A lease for each entry that is missing: one machine builds what several need.
//!
//! The owner renews its lease while it builds, and removes it when the entry is written or was not built. The others ask
//! for the entry again and again. If the lease stays the same for [`LIFE`], its owner is dead, and one of them takes its
//! place. Nothing depends on leases: without them, several machines build the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use object_store::path::Path;
use object_store::{PutMode, UpdateVersion};
use runner::{Bucket, Claim, Fetched, Wanted};
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::breaker::Gate;
use crate::fetch::{Looked, look_up};
use crate::lease_record::{self, Put, Record, Stored};
use crate::notes::Subject;
use crate::shared::{Counters, Shared};
use crate::trouble::Trouble;

/// The time for which a lease counts that is not renewed.
const LIFE: Duration = Duration::from_secs(5);
/// Interval of renewals: two may fail.
const RENEWAL: Duration = Duration::from_millis(1500);
/// The number of times that a lease may be missing that could not be created. More often, the store's conditions can't
/// be relied on.
const MOST_ABSENT: usize = 8;
/// The first and the longest interval at which others ask for the entry.
const FIRST_POLL: Duration = Duration::from_millis(50);
const LONGEST_POLL: Duration = Duration::from_millis(500);

/// Limits the wait for other machines, regardless of their leases: about ten times the usual time of a build.
fn longest_wait(bucket: Bucket) -> Duration {
    match bucket {
        Bucket::Layers => Duration::from_secs(600),
        Bucket::Bindings => Duration::from_secs(30),
        _ => Duration::from_secs(10),
    }
}

/// A lease of this machine, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    _ended: DropGuard,
    is_written: Arc<AtomicBool>,
}

impl Lease {
    /// Records that the entry is in the store now.
    pub(crate) fn is_written(&self) {
        self.is_written.store(true, Ordering::Relaxed);
    }
}

/// The state of the lease of an entry.
enum Attempt {
    Mine(Claim),
    Theirs,
    Impossible,
}

/// Takes the lease of an entry that is missing, or waits for its owner to write the entry.
pub(crate) async fn take_or_wait(shared: &Arc<Shared>, wanted: &Wanted<'_>) -> Fetched {
    if shared.leases.gate() == Gate::Shut {
        return Fetched::Missing(None);
    }
    let Ok(owner) = system::random::id() else { return Fetched::Missing(None) };
    let seeker = Seeker { shared, wanted, path: shared.store.lease(&wanted.id), owner };
    match seeker.create().await {
        Attempt::Mine(claim) => Fetched::Missing(Some(claim)),
        Attempt::Impossible => Fetched::Missing(None),
        Attempt::Theirs => seeker.wait().await,
    }
}

/// A machine that wants an entry to be built.
struct Seeker<'a> {
    shared: &'a Arc<Shared>,
    wanted: &'a Wanted<'a>,
    path: Path,
    owner: String,
}

impl Seeker<'_> {
    fn record(&self) -> Record {
        Record { owner: self.owner.clone(), renewals: 0 }
    }

    async fn create(&self) -> Attempt {
        let Shared { store, timeout, .. } = &**self.shared;
        let record = self.record();
        let put = lease_record::put(&*store.objects, &self.path, &record, PutMode::Create, *timeout);
        self.attempted(put.await)
    }

    async fn take_over(&self, dead: &Stored) -> Attempt {
        let Shared { store, timeout, .. } = &**self.shared;
        let record = self.record();
        let put = lease_record::take_over(&*store.objects, &self.path, &record, dead, *timeout);
        self.attempted(put.await)
    }

    fn attempted(&self, put: Result<Put, Trouble>) -> Attempt {
        let put = match put {
            Ok(put) => put,
            Err(trouble) => {
                self.shared.failed(&self.shared.leases, Subject::Leases, &trouble);
                return Attempt::Impossible;
            }
        };
        let _ = self.shared.leases.succeeded();
        match put {
            Put::Done(version) => Attempt::Mine(keep(self.shared, self.path.clone(), self.record(), version)),
            Put::Lost => Attempt::Theirs,
            Put::Unsupported => Attempt::Impossible,
        }
    }

    /// Waits for the owner of the lease.
    async fn wait(&self) -> Fetched {
        Counters::count(&self.shared.counters.waits);
        (self.wanted.waits)();
        let begun = Instant::now();
        let mut pause = FIRST_POLL;
        let mut absent = 0;
        let mut seen: Option<(Option<Record>, Instant)> = None;
        while begun.elapsed() < longest_wait(self.wanted.id.bucket) && absent <= MOST_ABSENT {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_POLL);
            if (self.wanted.is_here)() {
                return Fetched::Here;
            }
            match look_up(self.shared, self.wanted).await {
                Looked::Written => return Fetched::Written,
                Looked::Unavailable => return Fetched::Missing(None),
                Looked::Missing => {}
            }
            let attempt = match self.look_at_lease(&mut seen).await {
                Ok(None) => {
                    absent += 1;
                    self.create().await
                }
                Ok(Some(stored)) if is_dead(&seen) => self.take_over(&stored).await,
                Ok(Some(_)) => Attempt::Theirs,
                Err(trouble) => self.attempted(Err(trouble)),
            };
            match attempt {
                Attempt::Mine(claim) => return Fetched::Missing(Some(claim)),
                Attempt::Impossible => return Fetched::Missing(None),
                Attempt::Theirs => {}
            }
        }
        Fetched::Missing(None)
    }

    /// Reads the lease, and notes since when it is the same.
    async fn look_at_lease(
        &self,
        seen: &mut Option<(Option<Record>, Instant)>,
    ) -> Result<Option<Stored>, Trouble> {
        let Shared { store, timeout, .. } = &**self.shared;
        let stored = lease_record::get(&*store.objects, &self.path, *timeout).await?;
        match &stored {
            Some(Stored { record, .. }) if seen.as_ref().is_none_or(|(before, _)| before != record) => {
                *seen = Some((record.clone(), Instant::now()));
            }
            Some(_) => {}
            None => *seen = None,
        }
        Ok(stored)
    }
}

fn is_dead(seen: &Option<(Option<Record>, Instant)>) -> bool {
    seen.as_ref().is_some_and(|(_, since)| since.elapsed() >= LIFE)
}

/// Renews a lease in the background until the claim is dropped.
fn keep(shared: &Arc<Shared>, path: Path, record: Record, version: UpdateVersion) -> Claim {
    let ended = CancellationToken::new();
    let is_written = Arc::new(AtomicBool::new(false));
    let lease = Lease { _ended: ended.clone().drop_guard(), is_written: is_written.clone() };
    let keeper = Keeper { shared: shared.clone(), path, record, version };
    shared.tasks.spawn(keeper.run(ended, is_written));
    Claim::new(lease)
}

/// Renews a lease.
struct Keeper {
    shared: Arc<Shared>,
    path: Path,
    record: Record,
    version: UpdateVersion,
}

impl Keeper {
    async fn run(mut self, ended: CancellationToken, is_written: Arc<AtomicBool>) {
        loop {
            tokio::select! {
                biased;
                () = ended.cancelled() => break,
                () = sleep(RENEWAL) => {}
            }
            // After a failure, the next renewal tries again.
            if let Ok(false) = self.renew().await {
                return;
            }
        }
        if is_written.load(Ordering::Relaxed) {
            // A machine that has just missed the entry may be about to take the lease, and would build it again.
            let linger = self.shared.timeout * 2;
            tokio::select! {
                // The lease stays. Nobody needs it, because the entry exists.
                () = self.shared.closing.cancelled() => return,
                () = sleep(linger) => {}
            }
        }
        self.remove().await;
    }

    /// Returns whether this machine still has the lease.
    async fn renew(&mut self) -> Result<bool, Trouble> {
        let limit = self.shared.timeout;
        let store = &*self.shared.store.objects;
        self.record.renewals += 1;
        let mode = PutMode::Update(self.version.clone());
        match lease_record::put(store, &self.path, &self.record, mode, limit).await? {
            Put::Done(version) => self.version = version,
            Put::Lost => return Ok(false),
            Put::Unsupported => {
                if !self.is_mine().await? {
                    return Ok(false);
                }
                lease_record::put(store, &self.path, &self.record, PutMode::Overwrite, limit).await?;
            }
        }
        Ok(true)
    }

    async fn is_mine(&self) -> Result<bool, Trouble> {
        let Shared { store, timeout, .. } = &*self.shared;
        let stored = lease_record::get(&*store.objects, &self.path, *timeout).await?;
        let owner = stored.and_then(|stored| stored.record).map(|record| record.owner);
        Ok(owner.as_ref() == Some(&self.record.owner))
    }

    /// Removes the lease. If that fails, it counts for [`LIFE`] longer.
    async fn remove(&self) {
        if let Ok(true) = self.is_mine().await {
            let Shared { store, timeout, .. } = &*self.shared;
            let _ = lease_record::delete(&*store.objects, &self.path, *timeout).await;
        }
    }
}
