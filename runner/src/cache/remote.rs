//! The services of a remote cache, which several machines share, for the local one. It is implemented elsewhere;
//! `exchange` uses it.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures::future::BoxFuture;

use super::Bucket;
use super::contents::CONTENTS;
use super::hold::Entry;
use crate::target::TARGET;

/// Maximum size of the files of a shared layer, in bytes (1 GiB): ten times that of a usual one.
pub(super) const LARGEST_LAYER: u64 = 1 << 30;

/// A cache that several machines share.
pub trait RemoteCache: fmt::Debug + Send + Sync {
    /// Writes the files of an entry to a folder, if the remote cache has the entry and may be trusted to have made it.
    /// Never fails: an entry that can't be had in time is missing.
    fn fetch<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Fetched>;

    /// Accepts a new entry, to be written in the background. Returns at once.
    fn offer(&self, offered: Offered);

    /// Waits until offered entries are written, for at most this time.
    fn flush(&self, within: Duration) -> BoxFuture<'_, ()>;

    /// Returns its record so far.
    fn statistics(&self) -> RemoteStatistics;
}

/// The identity of an entry for all machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactId {
    /// The build layer, with the version of its format.
    pub bucket: Bucket,
    /// The target that it was compiled for.
    pub target: &'static str,
    /// The hash of all its inputs.
    pub key: String,
}

impl ArtifactId {
    /// The entry `key` of `bucket`, for the target of this machine.
    #[must_use]
    pub fn new(bucket: Bucket, key: &str) -> Self {
        ArtifactId { bucket, target: TARGET, key: key.to_owned() }
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.bucket.name(), self.target, self.key)
    }
}

/// An entry to be fetched.
pub struct Wanted<'a> {
    /// The entry.
    pub id: ArtifactId,
    /// The empty folder to write its files to.
    pub folder: &'a Path,
    /// Maximum size of its files together, in bytes.
    pub max_bytes: u64,
    /// Whether the caller builds the entry if it is missing, so that others should wait for it.
    pub builds: bool,
    /// Whether the entry has appeared in the local cache in the meantime.
    pub is_here: &'a (dyn Fn() -> bool + Send + Sync),
    /// Called once if another machine is building the entry, and this one waits for it.
    pub waits: &'a (dyn Fn() + Send + Sync),
}

/// The result of fetching an entry.
pub enum Fetched {
    /// Its files are in the folder.
    Written,
    /// It has appeared in the local cache.
    Here,
    /// It is missing. With a claim, other machines wait until the entry is offered or the claim is dropped.
    Missing(Option<Claim>),
}

/// The right to build an entry for all machines, until this is dropped.
pub struct Claim(Box<dyn Any + Send + Sync>);

impl Claim {
    /// A claim that ends when `held` is dropped.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Claim(Box::new(held))
    }

    /// Returns the value that it was created with, if that has the type `T`.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Claim")
    }
}

/// A new entry of the local cache. It is not evicted while this exists.
#[derive(Debug)]
pub struct Offered {
    /// The entry.
    pub id: ArtifactId,
    /// The folder with its files.
    pub folder: PathBuf,
    /// The right to build it, if this machine had it.
    pub claim: Option<Claim>,
    pub(super) _held: Option<Entry>,
}

impl Offered {
    /// The entry in `folder`, which the caller keeps.
    #[must_use]
    pub fn new(id: ArtifactId, folder: PathBuf, claim: Option<Claim>) -> Self {
        Offered { id, folder, claim, _held: None }
    }

    /// Whether a file in the folder is part of the entry, not of the local cache.
    #[must_use]
    pub fn is_content(name: &str) -> bool {
        name != CONTENTS
    }
}

/// Whether a remote cache is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It is used.
    #[default]
    Used,
    /// It failed or was too slow, and is left alone for a while.
    Paused,
}

/// The record of a remote cache since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct RemoteStatistics {
    /// Entries that were refused: damaged, not authentic, or too large.
    pub refused: u64,
    /// Requests that failed or took too long.
    pub failures: u64,
    /// Entries that were written.
    pub written: u64,
    /// Entries that were not written, because too many were waiting or the store failed.
    pub unwritten: u64,
    /// The number of times that this machine waited for another one that was building the same.
    pub waits: u64,
    /// Whether it is read.
    pub reading: Availability,
    /// Whether it is written to.
    pub writing: Availability,
}

/// The number of entries found since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheStatistics {
    /// Entries found in the local cache.
    pub local_hits: u64,
    /// Entries found in the remote cache.
    pub remote_hits: u64,
    /// Entries found nowhere, which were then built.
    pub misses: u64,
    /// The record of the remote cache; `None` if there is none.
    pub remote: Option<RemoteStatistics>,
}

/// The counters of all clones of a cache.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) local_hits: AtomicU64,
    pub(super) remote_hits: AtomicU64,
    pub(super) misses: AtomicU64,
}
