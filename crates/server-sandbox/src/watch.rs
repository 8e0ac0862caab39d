//! Watches a server in use: while a user does that, each process that starts the server records what it is refused, in a
//! file of a folder that only the user can use.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::Refusal;

/// The folder of all watches, in the state folder.
const FOLDER: &str = "watched";

/// The file that is locked for as long as the user watches.
const LOCK: &str = "lock";

/// Maximum size of a record that is read, in bytes (8 MiB).
const LIMIT: u64 = 8 << 20;

/// A user who watches a server. Dropping it ends the watch.
pub struct Watch {
    folder: PathBuf,
    _lock: File,
}

/// The recorded refusals.
#[derive(Debug, Default)]
pub struct Seen {
    /// How often the server was started.
    pub starts: usize,
    /// Its refusals, without duplicates.
    pub refusals: Vec<Refusal>,
}

impl Watch {
    /// Begins to watch a server; `state` is the user's state folder.
    ///
    /// # Errors
    /// If another process watches it, or the folder can't be used.
    pub fn begin(state: &Path, server: &str) -> io::Result<Self> {
        let folder = folder(state, server);
        system::private::create_inside(&folder)?;
        let lock = system::private::open(&folder.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process watches it"),
            TryLockError::Error(error) => error,
        })?;
        let watch = Watch { folder, _lock: lock };
        // Of a watch whose process was killed.
        watch.records()?.iter().try_for_each(fs::remove_file)?;
        Ok(watch)
    }

    /// The files of the records.
    fn records(&self) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.folder)?.flatten().filter(|entry| entry.file_name() != LOCK);
        Ok(entries.map(|entry| entry.path()).collect())
    }

    /// Ends the watch.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn end(self) -> io::Result<Seen> {
        let mut seen = Seen::default();
        let mut known = BTreeSet::new();
        for record in self.records()? {
            seen.starts += 1;
            for line in BufReader::new(File::open(record)?.take(LIMIT)).lines() {
                // The last line may not be written yet.
                let Ok(refusal) = serde_json::from_str::<Refusal>(&line?) else { continue };
                if known.insert(refusal.clone()) {
                    seen.refusals.push(refusal);
                }
            }
        }
        Ok(seen)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Without the lock, what is left has no effect.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A new file for what a server is refused, if a user watches it.
pub(crate) fn file(state: &Path, server: &str) -> io::Result<Option<File>> {
    if !is_watched(state, server) {
        return Ok(None);
    }
    system::private::open(&folder(state, server).join(system::random::id()?)).map(Some)
}

/// Whether a user watches a server.
pub(crate) fn is_watched(state: &Path, server: &str) -> bool {
    let lock = File::open(folder(state, server).join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn folder(state: &Path, server: &str) -> PathBuf {
    // Names of servers have no separators and are not `.` or `..` (`config::check_server_name`).
    state.join(FOLDER).join(server)
}
