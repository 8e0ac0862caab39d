//! The cache folder: versioned buckets whose entries appear atomically, within a budget.
//!
//! An entry is built in a temporary folder on the same file system and renamed into place, so that a kill at any point
//! leaves nothing incomplete. An entry that is damaged later (truncated or missing files) counts as missing and is
//! replaced when it is built again. Several processes share a cache; expensive entries are built under a lock, cheap
//! ones may be built twice.
//!
//! `budget` limits the size, `ledger` records it, `eviction` removes the excess, and a lock protects entries in use
//! (`hold`). `maintenance` is what users ask for. `exchange` shares entries with other machines.

mod bucket;
mod budget;
mod contents;
mod eviction;
mod exchange;
mod hold;
mod key;
mod ledger;
mod maintenance;
mod remote;
#[cfg(test)]
mod tests;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use bucket::Bucket;
pub use budget::{
    BINDINGS_KEPT, DEFAULT_SIZE, FILES_KEPT, LARGEST_KEPT_PROGRAM, LAYERS_KEPT, LEAST_SIZE, PROGRAMS_KEPT,
};
pub(crate) use contents::OWNER;
pub(crate) use exchange::Found;
pub(crate) use hold::{Entry, Temporary};
pub(crate) use key::Key;
pub use maintenance::{
    BucketContents, CacheContents, Entries, Removal, Removed, look_into_cache, remove_from_cache,
};
pub use remote::{
    ArtifactId, Availability, CacheStatistics, Claim, Fetched, Offered, RemoteCache, RemoteStatistics, Wanted,
};

use crate::error::{Error, Result};
use crate::journal::Sink;
use budget::Budget;
use ledger::Ledger;
use remote::Counters;

/// The cache folder. Clones share the budget.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    /// Entries that are looked up first and never change: those of a bundle.
    store: Option<PathBuf>,
    budget: Budget,
    /// Entries that several machines share.
    remote: Option<Arc<dyn RemoteCache>>,
    counters: Arc<Counters>,
}

/// An entry or file that was added to a bucket.
struct Published<'a> {
    bucket: Bucket,
    /// The server's module, for compiled bindings.
    owner: Option<&'a str>,
    bytes: u64,
    /// Size in bytes of what it replaced.
    replaced: Option<u64>,
    path: &'a Path,
}

/// Interval between attempts to take a lock.
const LOCK_POLL: Duration = Duration::from_millis(100);

impl Cache {
    /// Opens the cache in `root`, creating it if missing, with a budget of `size` bytes. Removes what killed processes
    /// were building. Only this user can use the folder.
    ///
    /// # Errors
    /// If the folder can't be created or written to, or others own it or can write to it.
    pub fn open(root: &Path, size: u64) -> Result<Self> {
        system::private::create(root).map_err(Error::cache(root))?;
        // The compiler's confinement uses real paths without links.
        let root = fs_err::canonicalize(root).map_err(Error::cache(root))?;
        let cache = Cache::new(root, size);
        cache.create()?;
        cache.sweep();
        Ok(cache)
    }

    fn new(root: PathBuf, size: u64) -> Self {
        Cache { root, store: None, budget: Budget::new(size), remote: None, counters: Arc::default() }
    }

    /// Creates missing bucket folders, for example after the cache was deleted.
    ///
    /// # Errors
    /// If they can't be created.
    pub fn create(&self) -> Result<()> {
        for bucket in Bucket::ALL {
            system::private::create_inside(&self.bucket(bucket)).map_err(Error::cache(&self.root))?;
        }
        Ok(())
    }

    /// The cache in `root` as it is: nothing is created, so folders may be missing.
    pub(crate) fn look(root: &Path) -> Self {
        let root = fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Cache::new(root, DEFAULT_SIZE)
    }

    /// Looks entries up in the folder `store` first, which has the same folders as a cache, and is only read.
    #[must_use]
    pub(crate) fn with_store(self, store: PathBuf) -> Self {
        Cache { store: Some(store), ..self }
    }

    /// Sets the budget to `size` bytes; the next publication evicts what exceeds it.
    pub fn resize(&self, size: u64) {
        self.budget.set(size);
    }

    /// The root folder, without symbolic links.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// The folder of a bucket.
    #[must_use]
    pub fn bucket(&self, bucket: Bucket) -> PathBuf {
        bucket.folder(&self.root)
    }

    /// The size of all buckets in bytes, by walking them.
    pub(crate) fn used(&self) -> u64 {
        eviction::count(&self.root).total()
    }

    /// The budget and the entry's size in bytes, if the budget has no room for the entry.
    pub(crate) fn too_small_for(&self, entry: &Entry) -> Option<(u64, u64)> {
        let (total, bytes) = (self.budget.total(), contents::bytes(&contents::read(entry.folder())?));
        (bytes > total && entry.folder().starts_with(&self.root)).then_some((total, bytes))
    }

    /// The entry `key`, if it exists and is intact. It is held, and its use is recorded for eviction.
    pub(crate) fn entry(&self, bucket: Bucket, key: &str) -> Option<Entry> {
        // Checked only now: before it was held, it could have been removed.
        let whole = |entry: Entry| contents::is_whole(entry.folder()).then_some(entry);
        let store = self.store.as_ref().filter(|_| bucket.is_bundled());
        let bundled = store.and_then(|store| Entry::unlocked(bucket.folder(store).join(key)).ok());
        bundled.and_then(whole).or_else(|| whole(Entry::hold(self.bucket(bucket).join(key)).ok()?))
    }

    /// A new folder to build an entry in; it is removed when dropped.
    pub(crate) fn temporary(&self) -> Result<Temporary> {
        self.sweep();
        Temporary::new_in(&self.bucket(Bucket::Temporary)).map_err(Error::cache(&self.root))
    }

    /// Moves `built` into place as the entry `key`. If another process was faster, its entry is used, unless it is
    /// damaged. An entry too large to keep can be used where it was built, and is removed after its last user.
    ///
    /// A damaged entry is removed only here, not when the damage is found: by then, another process may have replaced
    /// it.
    pub(crate) fn publish(&self, bucket: Bucket, key: &str, built: Temporary) -> Result<Entry> {
        let contents = contents::write(built.path()).map_err(Error::cache(&self.root))?;
        let bytes = contents::bytes(&contents);
        if bytes > self.budget.largest(bucket) {
            return Ok(built.into_entry());
        }
        let folder = self.bucket(bucket).join(key);
        let ledger = Ledger::lock(&self.root);
        if fs_err::symlink_metadata(&folder).is_ok() && !contents::is_whole(&folder) {
            remove(&folder);
        }
        let entry = match built.rename(&folder) {
            Ok(entry) => entry,
            // Still under the lock, so that it is not evicted before it is held.
            Err(error) => return self.entry(bucket, key).ok_or_else(|| Error::cache(&self.root)(error)),
        };
        let owner = contents::owner(bucket, &contents);
        self.account(ledger, &Published { bucket, owner, bytes, replaced: None, path: &folder });
        Ok(entry)
    }

    /// Counts what was published, and evicts if over budget.
    fn account(&self, ledger: Option<Ledger>, published: &Published<'_>) {
        let Some(mut ledger) = ledger else { return };
        let Published { bucket, owner, bytes, replaced, path } = *published;
        let usage = ledger.read().map(|mut usage| {
            if let Some(bytes) = replaced {
                usage.subtract(bucket, owner, bytes);
            }
            usage.publish(bucket, owner, bytes);
            usage
        });
        match usage.filter(|usage| !usage.is_stale() && !eviction::is_over(usage, &self.budget, owner)) {
            Some(usage) => ledger.write(&usage),
            None => self.evict(ledger, path),
        }
    }

    /// Walks the buckets and evicts what exceeds the budget, but never `newest`.
    fn evict(&self, mut ledger: Ledger, newest: &Path) {
        let (usage, moved) = eviction::evict(&self.root, &self.budget, newest);
        ledger.write(&usage);
        // Other processes need not wait for the deletion; if this process is killed now, the next one cleans up.
        drop(ledger);
        moved.iter().for_each(|folder| remove(folder));
    }

    /// Removes the entry `key`, which looks intact but can't be used, so that it is built again.
    pub(crate) fn discard(&self, bucket: Bucket, key: &str) {
        remove(&self.bucket(bucket).join(key));
    }

    /// Counts downloads into cargo's home.
    pub(crate) fn count_downloads(&self) {
        if let Some(ledger) = Ledger::lock(&self.root) {
            self.evict(ledger, &self.bucket(Bucket::CargoHome));
        }
    }

    /// Holds the folder of a bucket whose entries are not held individually.
    pub(crate) fn hold(&self, bucket: Bucket) -> Result<Entry> {
        let folder = self.bucket(bucket);
        system::private::create_inside(&folder).map_err(Error::cache(&self.root))?;
        Entry::hold(folder).map_err(Error::cache(&self.root))
    }

    /// The contents of the file `key` in a bucket of files; its use is recorded for eviction.
    #[must_use]
    pub fn read(&self, bucket: Bucket, key: &str) -> Option<Vec<u8>> {
        use std::io::Read as _;
        let mut file = File::open(self.bucket(bucket).join(format!("{key}.json"))).ok()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let _ = file.set_modified(SystemTime::now());
        Some(text)
    }

    /// Writes the file `key` in a bucket of files; readers see the old or the new contents, never a part. If the
    /// contents are too large to keep, the old file is removed.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&self, bucket: Bucket, key: &str, text: &[u8]) -> std::io::Result<()> {
        let path = self.bucket(bucket).join(format!("{key}.json"));
        if text.len() as u64 > self.budget.largest(bucket) {
            return match fs_err::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let folder = Temporary::new_in(&self.bucket(Bucket::Temporary))?;
        let temporary = folder.path().join("text");
        system::private::write(&temporary, text)?;
        let ledger = Ledger::lock(&self.root);
        let replaced = fs_err::metadata(&path).ok().map(|old| contents::blocks(old.len()));
        fs_err::rename(temporary, &path)?;
        let bytes = contents::blocks(text.len() as u64);
        self.account(ledger, &Published { bucket, owner: None, bytes, replaced, path: &path });
        Ok(())
    }

    /// Waits for the lock on the entry `key`; it is released when the file is dropped or the process dies.
    pub(crate) async fn lock(&self, bucket: Bucket, key: &str, sink: &dyn Sink) -> Result<File> {
        let path = self.bucket(bucket).join(format!("{key}.lock"));
        let file = system::private::open(&path).map_err(Error::cache(&self.root))?;
        let mut reported = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(Error::cache(&self.root)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !reported {
                sink.progress("waiting for another toolsmith process that is building this");
                reported = true;
            }
            // Polls instead of blocking: a blocked thread could not be interrupted.
            tokio::time::sleep(LOCK_POLL).await;
        }
    }

    /// Removes what killed processes left behind: temporary folders that are not held.
    fn sweep(&self) {
        for entry in fs_err::read_dir(self.bucket(Bucket::Temporary)).into_iter().flatten().flatten() {
            let path = entry.path();
            // Held until it is deleted, so that no other process takes the folder for one in use.
            if let Some(_claimed) = hold::claim(&path) {
                remove(&path);
            }
        }
    }
}

/// Removes a folder or file. On failure, the next sweep tries again.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
}
