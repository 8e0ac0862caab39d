//! The cache folder: versioned buckets of entries that appear whole or not at all, within a budget.
//!
//! An entry is built in a temporary folder of the same file system and renamed into place, so that a kill at
//! any point leaves nothing half done. An entry that was damaged later (files cut off or missing) counts as not
//! there, and is replaced when it has been built again. Several processes share a cache; what is expensive is
//! built under a lock, what is cheap may be built twice.
//!
//! What may lie there is `budget`'s to say, what does lie there is written down in `ledger`, `eviction` removes what is
//! too much, and what is in use is held by a lock (`hold`).

mod bucket;
mod budget;
mod contents;
mod eviction;
mod hold;
mod key;
mod ledger;
#[cfg(test)]
mod tests;

use std::fs::{File, TryLockError};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use bucket::Bucket;
pub use budget::{
    BINDINGS_KEPT, DEFAULT_SIZE, FILES_KEPT, LARGEST_KEPT_PROGRAM, LAYERS_KEPT, LEAST_SIZE, PROGRAMS_KEPT,
};
pub(crate) use hold::{Entry, Temporary};
pub(crate) use key::Key;

use crate::error::{Error, Result};
use crate::observer::Observer;
use budget::Budget;
use ledger::Ledger;

/// The cache folder. Clones share the budget.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    budget: Budget,
}

/// What was put into a bucket.
struct Published<'a> {
    bucket: Bucket,
    /// The server's module, of compiled bindings.
    owner: Option<&'a str>,
    bytes: u64,
    /// Bytes of what was there before.
    replaced: Option<u64>,
    path: &'a Path,
}

/// How often a taken lock is asked for again.
const LOCK_POLL: Duration = Duration::from_millis(100);

impl Cache {
    /// Opens the cache in `root`, which is created where it is missing, with a budget of `size` bytes. What killed
    /// processes were building is removed.
    ///
    /// # Errors
    /// Where the folder can't be created or written to.
    pub fn open(root: &Path, size: u64) -> Result<Self> {
        fs_err::create_dir_all(root).map_err(Error::cache(root))?;
        // The compiler's confinement names paths, and knows no links.
        let root = fs_err::canonicalize(root).map_err(Error::cache(root))?;
        let cache = Cache { root, budget: Budget::new(size) };
        cache.create()?;
        cache.sweep();
        Ok(cache)
    }

    /// Makes the folders of all buckets that are missing, as where somebody has deleted the cache.
    ///
    /// # Errors
    /// Where they can't be created.
    pub fn create(&self) -> Result<()> {
        for bucket in Bucket::ALL {
            let mut builder = std::fs::DirBuilder::new();
            let created = builder.recursive(true).mode(bucket.mode()).create(self.bucket(bucket));
            created.map_err(Error::cache(&self.root))?;
        }
        Ok(())
    }

    /// The cache in `root` as it is: nothing is created, so it may be without any folder.
    pub(crate) fn look(root: &Path) -> Self {
        let root = fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Cache { root, budget: Budget::new(DEFAULT_SIZE) }
    }

    /// From now on, the budget is `size` bytes; what is too much goes with the next publication.
    pub fn resize(&self, size: u64) {
        self.budget.set(size);
    }

    /// The folder that all of it is in, without symbolic links.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// The folder of a bucket.
    #[must_use]
    pub fn bucket(&self, bucket: Bucket) -> PathBuf {
        bucket.folder(&self.root)
    }

    /// Bytes that all buckets take, by walking them.
    pub(crate) fn used(&self) -> u64 {
        eviction::count(&self.root).total()
    }

    /// Bytes of the budget, and those of an entry, if the budget has no room for it.
    pub(crate) fn too_small_for(&self, entry: &Entry) -> Option<(u64, u64)> {
        let (total, bytes) = (self.budget.total(), contents::bytes(&contents::read(entry.folder())?));
        (bytes > total).then_some((total, bytes))
    }

    /// The entry `key`, if it is there and whole. It is held, and its use is noted for eviction.
    pub(crate) fn entry(&self, bucket: Bucket, key: &str) -> Option<Entry> {
        let entry = Entry::hold(self.bucket(bucket).join(key)).ok()?;
        // Asked for when it is held: before, it could have been removed in between.
        contents::is_whole(entry.folder()).then_some(entry)
    }

    /// A new folder to build an entry in; it goes when dropped.
    pub(crate) fn temporary(&self) -> Result<Temporary> {
        self.sweep();
        Temporary::new_in(&self.bucket(Bucket::Temporary)).map_err(Error::cache(&self.root))
    }

    /// Makes `built` the entry `key`; if another process was faster, its entry stands, unless it is damaged. An entry
    /// that is too large to be kept can be used where it was built, and ends with its last user.
    ///
    /// Only here, and not where the damage is seen, is a damaged entry removed: by then another process may have
    /// replaced it.
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
            // Under the lock still, so that nobody evicts it before it is held.
            Err(error) => return self.entry(bucket, key).ok_or_else(|| Error::cache(&self.root)(error)),
        };
        let owner = contents::owner(&contents).filter(|_| bucket == Bucket::Bindings);
        self.account(ledger, &Published { bucket, owner, bytes, replaced: None, path: &folder });
        Ok(entry)
    }

    /// Counts what was published, and evicts what is too much by now.
    fn account(&self, ledger: Option<Ledger>, published: &Published<'_>) {
        let Some(mut ledger) = ledger else { return };
        let Published { bucket, owner, bytes, replaced, path } = *published;
        let usage = ledger.read().map(|mut usage| {
            replaced.into_iter().for_each(|bytes| usage.subtract(bucket, owner, bytes));
            usage.publish(bucket, owner, bytes);
            usage
        });
        match usage.filter(|usage| !usage.is_stale() && !eviction::is_over(usage, &self.budget, owner)) {
            Some(usage) => ledger.write(&usage),
            None => self.evict(ledger, path),
        }
    }

    /// Walks the buckets and evicts what is too much, but never `newest`.
    fn evict(&self, mut ledger: Ledger, newest: &Path) {
        let (usage, moved) = eviction::evict(&self.root, &self.budget, newest);
        ledger.write(&usage);
        // Others need not wait for what follows; where this process is killed now, the next one sweeps.
        drop(ledger);
        moved.iter().for_each(|folder| remove(folder));
    }

    /// Removes the entry `key`, which looks whole but can't be used, so that it is built again.
    pub(crate) fn discard(&self, bucket: Bucket, key: &str) {
        remove(&self.bucket(bucket).join(key));
    }

    /// Counts what was downloaded to cargo's home.
    pub(crate) fn count_downloads(&self) {
        if let Some(ledger) = Ledger::lock(&self.root) {
            self.evict(ledger, &self.bucket(Bucket::CargoHome));
        }
    }

    /// Holds the folder of a bucket whose entries are used without being held themselves.
    pub(crate) fn hold(&self, bucket: Bucket) -> Result<Entry> {
        let folder = self.bucket(bucket);
        fs_err::create_dir_all(&folder).map_err(Error::cache(&self.root))?;
        Entry::hold(folder).map_err(Error::cache(&self.root))
    }

    /// The text kept under `key` in a bucket of files; its use is noted for eviction.
    #[must_use]
    pub fn read(&self, bucket: Bucket, key: &str) -> Option<Vec<u8>> {
        use std::io::Read as _;
        let mut file = File::open(self.bucket(bucket).join(format!("{key}.json"))).ok()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let _ = file.set_modified(SystemTime::now());
        Some(text)
    }

    /// Keeps a text under `key` in a bucket of files; readers see the old or the new one, never a part. A text that is
    /// too large to be kept takes the old one away.
    ///
    /// # Errors
    /// What the file system says.
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
        fs_err::write(&temporary, text)?;
        let ledger = Ledger::lock(&self.root);
        let replaced = fs_err::metadata(&path).ok().map(|old| contents::blocks(old.len()));
        fs_err::rename(temporary, &path)?;
        let bytes = contents::blocks(text.len() as u64);
        self.account(ledger, &Published { bucket, owner: None, bytes, replaced, path: &path });
        Ok(())
    }

    /// Waits for the lock on the entry `key`; it is free again when the file is dropped, or the process dies.
    pub(crate) async fn lock(&self, bucket: Bucket, key: &str, observer: &dyn Observer) -> Result<File> {
        let path = self.bucket(bucket).join(format!("{key}.lock"));
        let file = File::create(&path).map_err(Error::cache(&self.root))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(Error::cache(&self.root)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !told {
                observer.progress("waiting for another toolsmith that builds the same");
                told = true;
            }
            // Asking again, not blocking: a blocked thread could not be interrupted.
            tokio::time::sleep(LOCK_POLL).await;
        }
    }

    /// Removes what killed processes left behind: what nobody holds.
    fn sweep(&self) {
        for entry in fs_err::read_dir(self.bucket(Bucket::Temporary)).into_iter().flatten().flatten() {
            let path = entry.path();
            // Held until it is gone, so that nobody else takes the folder for a living one.
            if let Some(_claimed) = hold::claim(&path) {
                remove(&path);
            }
        }
    }
}

/// Removes a folder or a file. What can't be removed now is tried again with the next sweep.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
}
