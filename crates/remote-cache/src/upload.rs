//! Writes new entries to the store in the background, a few at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use object_store::{Error as StoreError, ObjectStoreExt as _};
use runner::{ArtifactId, Offered};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use crate::archive;
use crate::breaker::Gate;
use crate::key::{SigningKey, hexadecimal};
use crate::lease::Lease;
use crate::notes::Subject;
use crate::sealed::Header;
use crate::shared::{Counters, Shared};
use crate::trouble::{Trouble, within};

/// Maximum number of entries that wait. Each keeps its entry in the local cache and a descriptor open.
const MOST_WAITING: u64 = 64;
/// Maximum size of a packed entry, in bytes (128 MiB), all of which is in memory while it is written. A layer has 25 MiB.
const LARGEST: usize = 128 << 20;
/// The speed below which a write counts as slow, in bytes per second (256 KiB/s), beyond the time of an answer.
const SLOWEST: usize = 256 << 10;
/// The factor by which a write may take longer than the answer to a lookup: nobody waits for it.
const PATIENCE: u32 = 10;
/// Pauses before a failed write is tried again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// Accepts an entry to be written.
pub(crate) fn offer(shared: &Arc<Shared>, offered: Offered) {
    if shared.signer.is_none() {
        return;
    }
    let waiting = shared.counters.waiting.load(Ordering::Relaxed);
    if waiting >= MOST_WAITING || shared.writes.gate() == Gate::Shut {
        return Counters::count(&shared.counters.unwritten);
    }
    Counters::count(&shared.counters.waiting);
    let shared_task = shared.clone();
    shared.tasks.spawn(async move {
        write(&shared_task, offered).await;
        shared_task.counters.waiting.fetch_sub(1, Ordering::Relaxed);
    });
}

async fn write(shared: &Shared, offered: Offered) {
    let Ok(_turn) = shared.upload.acquire().await else { return };
    let Offered { id, folder, claim, .. } = &offered;
    let lease = claim.as_ref().and_then(|claim| claim.get::<Lease>());
    match put(shared, id, folder, lease.is_some()).await {
        Ok(()) => {
            shared.works(&shared.writes);
            shared.is_written(id);
            if let Some(lease) = lease {
                lease.is_written();
            }
        }
        Err(trouble) => {
            Counters::count(&shared.counters.unwritten);
            // An entry that was evicted or is too large says nothing about the store.
            if !matches!(trouble, Trouble::Local(_)) {
                shared.failed(&shared.writes, Subject::Writing, &trouble);
            }
        }
    }
}

/// Writes an entry unless it is there. Who has the lease has just seen that it is not.
async fn put(shared: &Shared, id: &ArtifactId, folder: &Path, is_missing: bool) -> Result<(), Trouble> {
    let Some(signer) = &shared.signer else { return Ok(()) };
    let path = shared.store.entry(id);
    let patience = shared.timeout * PATIENCE;
    if !is_missing && !shared.is_refused(id) {
        match within(patience, shared.store.objects.head(&path)).await {
            Ok(_) => return Ok(()),
            Err(trouble) if trouble.is_missing_object() => {}
            Err(trouble) => return Err(trouble),
        }
    }
    let entry = bytes::Bytes::from(sealed(id, folder.to_owned(), signer).await?);
    let limit = patience + Duration::from_secs((entry.len() / SLOWEST) as u64);
    let mut pauses = PAUSES.into_iter();
    loop {
        match within(limit, shared.store.objects.put(&path, entry.clone().into())).await {
            Ok(_) => {
                Counters::count(&shared.counters.written);
                return Ok(());
            }
            Err(trouble) => match pauses.next().filter(|_| may_pass(&trouble)) {
                Some(pause) => sleep(pause).await,
                None => return Err(trouble),
            },
        }
    }
}

/// Whether another attempt may succeed.
fn may_pass(trouble: &Trouble) -> bool {
    use StoreError::{NotFound, NotImplemented, PermissionDenied, Unauthenticated};
    !matches!(
        trouble,
        Trouble::Store(
            NotFound { .. } | NotImplemented { .. } | PermissionDenied { .. } | Unauthenticated { .. }
        )
    )
}

/// The entry as it is stored.
async fn sealed(id: &ArtifactId, folder: PathBuf, signer: &SigningKey) -> Result<Vec<u8>, Trouble> {
    let packing = tokio::task::spawn_blocking(move || {
        let (files, packed) = archive::pack(&folder, LARGEST)?;
        let sha256 = hexadecimal(&Sha256::digest(&packed));
        std::io::Result::Ok((files, packed, sha256))
    });
    let (files, packed, sha256) = packing.await.map_err(std::io::Error::other)??;
    let header = Header::new(id, files, packed.len() as u64, sha256);
    let mut entry = header.seal(signer).ok_or_else(|| std::io::Error::other("it has too many files"))?;
    entry.extend_from_slice(&packed);
    Ok(entry)
}
