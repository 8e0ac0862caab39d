//! Holding what is in use: a shared lock (flock(2)) on an entry's folder, which ends with the process.
//!
//! Eviction takes the same lock exclusively, so nothing that any process holds is removed. The lock belongs to the
//! folder itself and not to its path: a temporary folder that becomes an entry stays held throughout.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tempfile::TempDir;

/// How often a folder is opened again that another process replaced at that moment.
const ATTEMPTS: usize = 8;

/// An entry in use. As long as this or a clone of it is there, no process evicts the entry.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    folder: PathBuf,
    held: Arc<EntryLock>,
}

#[derive(Debug)]
struct EntryLock {
    lock: File,
    /// Where the entry was not kept: the folder that ends with it.
    _temporary: Option<TempDir>,
}

impl Entry {
    /// Holds the folder of an entry.
    pub(super) fn hold(folder: PathBuf) -> io::Result<Self> {
        let lock = lock(&folder)?;
        // The time of use only orders evictions: without it an entry merely goes sooner.
        let _ = lock.set_modified(SystemTime::now());
        Ok(Entry { folder, held: Arc::new(EntryLock { lock, _temporary: None }) })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// It is used once more. Who holds an entry for long says so at each use, or it goes first when it is let go.
    pub(crate) fn touch(&self) {
        // As when it was held.
        let _ = self.held.lock.set_modified(SystemTime::now());
    }

    /// Whether what is held still lies at its path: somebody may have deleted the cache.
    pub(crate) fn is_in_place(&self) -> bool {
        is_at(&self.held.lock, &self.folder)
    }
}

/// A folder in which something is built. It goes when dropped, or at the next start where its process was killed.
#[derive(Debug)]
pub(crate) struct Temporary {
    // Dropped first: then nobody holds the folder that is removed.
    lock: File,
    folder: TempDir,
}

impl Temporary {
    /// A new one in `parent`.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Self> {
        let mut attempt = 0;
        loop {
            let folder = tempfile::Builder::new().prefix("build-").tempdir_in(parent)?;
            match lock(folder.path()) {
                Ok(lock) => return Ok(Temporary { lock, folder }),
                // Another process took it for a dead one's before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Moves it to `folder`, where there must be nothing; it stays held.
    pub(super) fn rename(self, folder: &Path) -> io::Result<Entry> {
        fs_err::rename(self.folder.path(), folder)?;
        let Temporary { lock, folder: moved } = self;
        let _ = moved.keep();
        let _ = lock.set_modified(SystemTime::now());
        Ok(Entry { folder: folder.to_owned(), held: Arc::new(EntryLock { lock, _temporary: None }) })
    }

    /// Uses it where it is; it goes with the last clone.
    pub(super) fn into_entry(self) -> Entry {
        let Temporary { lock, folder } = self;
        let path = folder.path().to_owned();
        Entry { folder: path, held: Arc::new(EntryLock { lock, _temporary: Some(folder) }) }
    }
}

/// A shared lock on what lies at `path`. It waits for an eviction that is under way, which only renames.
fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        let file = File::open(path)?;
        file.lock_shared()?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is replaced all the time", path.display())))
}

/// An exclusive lock on what lies at `path`, unless anybody holds it.
pub(super) fn claim(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    (file.try_lock().is_ok() && is_at(&file, path)).then_some(file)
}

/// Whether an open file is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}
