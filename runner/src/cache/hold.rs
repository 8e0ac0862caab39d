//! Protects entries in use with a shared lock (flock(2)) on their folder, which ends with the process.
//!
//! Eviction takes the same lock exclusively, so nothing held by any process is removed. The lock belongs to the folder,
//! not to its path: a temporary folder that becomes an entry stays held throughout.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tempfile::TempDir;

/// Attempts to open a folder that another process is replacing.
const ATTEMPTS: usize = 8;

/// An entry in use. No process evicts it while this or a clone of it exists.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    folder: PathBuf,
    held: Arc<EntryLock>,
}

#[derive(Debug)]
struct EntryLock {
    /// The open folder, which is locked except in a bundle.
    lock: File,
    /// The folder of an entry that is not kept, removed with it.
    temporary: Option<TempDir>,
    /// Whether uses are recorded: not in a bundle, which nothing changes.
    records_use: bool,
}

impl Entry {
    /// Holds the folder of an entry.
    pub(super) fn hold(folder: PathBuf) -> io::Result<Self> {
        let lock = lock(&folder)?;
        let entry = Entry::new(folder, lock);
        entry.touch();
        Ok(entry)
    }

    /// An entry of a bundle. It is not locked: nothing evicts it, and everyone who can read it could hold a lock that
    /// this process would wait for.
    pub(super) fn unlocked(folder: PathBuf) -> io::Result<Self> {
        let held = EntryLock { lock: File::open(&folder)?, temporary: None, records_use: false };
        Ok(Entry { folder, held: Arc::new(held) })
    }

    fn new(folder: PathBuf, lock: File) -> Self {
        Entry { folder, held: Arc::new(EntryLock { lock, temporary: None, records_use: true }) }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records another use. Long-lived holders call this at each use; otherwise, the entry would be evicted first once
    /// released.
    pub(crate) fn touch(&self) {
        if self.held.records_use {
            // The time of use only orders evictions: without it, an entry is merely evicted sooner.
            let _ = self.held.lock.set_modified(SystemTime::now());
        }
    }

    /// Whether the held folder is still at its path: the cache may have been deleted.
    pub(crate) fn is_in_place(&self) -> bool {
        is_at(&self.held.lock, &self.folder)
    }

    /// Whether it stays in the cache after its last user. One that is too large does not.
    pub(crate) fn is_kept(&self) -> bool {
        self.held.temporary.is_none()
    }
}

/// A folder to build something in. It is removed when dropped, or at the next start if its process was killed.
#[derive(Debug)]
pub(crate) struct Temporary {
    // Dropped first: the folder is no longer held when it is removed.
    lock: File,
    folder: TempDir,
}

impl Temporary {
    /// Creates a folder in `parent`.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Self> {
        let mut attempt = 0;
        loop {
            let private = std::fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix("build-").permissions(private).tempdir_in(parent)?;
            match lock(folder.path()) {
                Ok(lock) => return Ok(Temporary { lock, folder }),
                // Another process took it for an abandoned folder before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether the folder is still at its path: the cache may have been deleted.
    pub(crate) fn is_in_place(&self) -> bool {
        is_at(&self.lock, self.path())
    }

    /// Moves it to `folder`, which must not exist; it stays held.
    pub(super) fn rename(self, folder: &Path) -> io::Result<Entry> {
        fs_err::rename(self.folder.path(), folder)?;
        let Temporary { lock, folder: moved } = self;
        let _ = moved.keep();
        let entry = Entry::new(folder.to_owned(), lock);
        entry.touch();
        Ok(entry)
    }

    /// Uses it in place; it is removed with the last clone.
    pub(super) fn into_entry(self) -> Entry {
        let Temporary { lock, folder } = self;
        let path = folder.path().to_owned();
        let held = EntryLock { lock, temporary: Some(folder), records_use: true };
        Entry { folder: path, held: Arc::new(held) }
    }
}

/// Takes a shared lock on `path`. It waits for an eviction in progress, which only renames.
fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        let file = File::open(path)?;
        file.lock_shared()?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{} keeps being replaced", path.display())))
}

/// Takes an exclusive lock on `path`, unless it is held.
pub(super) fn claim(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    (file.try_lock().is_ok() && is_at(&file, path)).then_some(file)
}

/// Whether `path` still refers to the open file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}
