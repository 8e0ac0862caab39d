//! Records how much each bucket holds, so that publishing adds a number, and folders are walked only when something
//! must be evicted.
//!
//! One locked file serves all processes. It is only a record: if it is missing, damaged, or was not checked for long,
//! the buckets are walked and it is rewritten.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bucket::Bucket;

/// The file, in the cache folder.
const FILE: &str = "usage.json";
/// Maximum size of the file to read, in bytes (1 MiB): 512 owners with names of 64 characters need 60 KiB.
const LONGEST: u64 = 1 << 20;
/// Number of publications after which the buckets are walked anyway: a process killed in between was not counted.
const CHECKED_EVERY: u32 = 256;
/// Interval and number of attempts to lock; another process holds the lock for some milliseconds.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSES: usize = 400;

/// Number and total size of some entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) bytes: u64,
    pub(super) entries: usize,
}

impl Totals {
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.entries = self.entries.saturating_add(1);
    }

    pub(super) fn subtract(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.entries = self.entries.saturating_sub(1);
    }
}

/// The contents of all buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Usage {
    /// Publications since the last walk.
    published: u32,
    buckets: BTreeMap<String, Totals>,
    /// Compiled bindings by the server's module, and programs by their subject.
    owners: BTreeMap<String, Totals>,
    /// The number of entries that the last eviction left in a bucket that holds more than it may, because they are in
    /// use.
    #[serde(default)]
    in_use: BTreeMap<String, usize>,
}

impl Usage {
    /// Adds an entry.
    pub(super) fn add(&mut self, bucket: Bucket, owner: Option<&str>, bytes: u64) {
        self.buckets.entry(bucket.name().to_owned()).or_default().add(bytes);
        if let Some(owner) = owner {
            self.owners.entry(owner.to_owned()).or_default().add(bytes);
        }
    }

    /// Removes an entry.
    pub(super) fn subtract(&mut self, bucket: Bucket, owner: Option<&str>, bytes: u64) {
        if let Some(taken) = self.buckets.get_mut(bucket.name()) {
            taken.subtract(bytes);
        }
        if let Some(taken) = owner.and_then(|owner| self.owners.get_mut(owner)) {
            taken.subtract(bytes);
        }
    }

    /// Adds an entry that was just published.
    pub(super) fn publish(&mut self, bucket: Bucket, owner: Option<&str>, bytes: u64) {
        self.published = self.published.saturating_add(1);
        self.add(bucket, owner, bytes);
    }

    /// Whether the last walk was too long ago.
    pub(super) fn is_stale(&self) -> bool {
        self.published >= CHECKED_EVERY
    }

    /// Records that an eviction could not remove enough entries of a bucket.
    pub(super) fn set_in_use(&mut self, bucket: Bucket) {
        self.in_use.insert(bucket.name().to_owned(), self.of(bucket).entries);
    }

    /// Returns the number of entries that the last eviction left in a bucket beyond its limit; 0 where it reached the
    /// limit.
    pub(super) fn in_use(&self, bucket: Bucket) -> usize {
        self.in_use.get(bucket.name()).copied().unwrap_or_default()
    }

    pub(super) fn of(&self, bucket: Bucket) -> Totals {
        self.buckets.get(bucket.name()).copied().unwrap_or_default()
    }

    pub(super) fn owner(&self, owner: &str) -> Totals {
        self.owners.get(owner).copied().unwrap_or_default()
    }

    pub(super) fn owners(&self) -> impl Iterator<Item = &str> {
        self.owners.keys().map(String::as_str)
    }

    /// Size of all buckets in bytes.
    pub(super) fn total(&self) -> u64 {
        self.buckets.values().fold(0, |total, taken| total.saturating_add(taken.bytes))
    }
}

/// The file, locked until this is dropped.
#[derive(Debug)]
pub(super) struct Ledger(File);

impl Ledger {
    /// Locks the file; `None` on failure or timeout. Then this publication is not counted and evicts nothing.
    pub(super) fn lock(root: &Path) -> Option<Self> {
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(root.join(FILE)).ok()?;
        for _ in 0..PAUSES {
            match file.try_lock() {
                Ok(()) => return Some(Ledger(file)),
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(std::fs::TryLockError::Error(_)) => return None,
            }
        }
        None
    }

    /// Reads the file; `None` if it can't be read.
    pub(super) fn read(&mut self) -> Option<Usage> {
        let mut text = Vec::new();
        self.0.rewind().ok()?;
        (&self.0).take(LONGEST).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Rewrites the file. A write torn by a full disk is unreadable the next time, and the buckets are walked.
    pub(super) fn write(&mut self, usage: &Usage) {
        let Ok(text) = serde_json::to_vec(usage) else { return };
        let length = text.len() as u64;
        let written = self.0.rewind().and_then(|()| self.0.write_all(&text));
        let _ = self.0.set_len(if written.is_ok() { length } else { 0 });
    }
}
