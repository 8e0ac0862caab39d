//! The remote cache: where entries that are missing here come from, and where new ones go.
//!
//! A remote cache is shared by several machines. It is implemented elsewhere; this module looks entries up in it, moves
//! them into the local cache, and offers new ones to it. Only layers, bindings and programs are shared: their keys are
//! hashes of all their inputs, so an entry means the same on every machine.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;

use super::contents::CONTENTS;
use super::hold::Entry;
use super::{Bucket, Cache};
use crate::observer::Observer;
use crate::toolchain::TARGET;

/// Maximum size of the files of a shared layer, in bytes (1 GiB): ten times that of a usual one.
const LARGEST_LAYER: u64 = 1 << 30;

/// A cache that several machines share.
pub trait RemoteCache: fmt::Debug + Send + Sync {
    /// Writes the files of an entry to a folder, if the remote cache has the entry and may be trusted to have made it.
    /// Never fails: an entry that can't be had in time is missing.
    fn fetch<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Fetched>;

    /// Accepts a new entry, to be written in the background. Returns at once.
    fn offer(&self, offered: Offered);

    /// Waits until offered entries are written, for at most this time.
    fn flush(&self, within: Duration) -> BoxFuture<'_, ()>;

    /// What it has done so far.
    fn statistics(&self) -> RemoteStatistics;
}

/// What identifies an entry for all machines.
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

    /// What it was created with, if that has the type `T`.
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
    _held: Option<Entry>,
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

/// What a remote cache has done since the start of the process.
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
    /// How often this machine waited for another one that was building the same.
    pub waits: u64,
    /// Whether it is read.
    pub reading: Availability,
    /// Whether it is written to.
    pub writing: Availability,
}

/// How often entries were found since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheStatistics {
    /// Entries found in the local cache.
    pub local_hits: u64,
    /// Entries found in the remote cache.
    pub remote_hits: u64,
    /// Entries found nowhere, which were then built.
    pub misses: u64,
    /// What the remote cache has done; `None` if there is none.
    pub remote: Option<RemoteStatistics>,
}

/// The counters of all clones of a cache.
#[derive(Debug, Default)]
pub(super) struct Counters {
    local_hits: AtomicU64,
    remote_hits: AtomicU64,
    misses: AtomicU64,
}

/// The result of looking an entry up outside the local cache.
#[derive(Debug)]
pub(crate) enum Found {
    /// It is in the local cache now.
    Entry(Entry),
    /// It must be built.
    Missing(Option<Claim>),
}

impl Cache {
    /// Looks entries that are missing up in `remote`, and offers new ones to it.
    #[must_use]
    pub fn with_remote(self, remote: Arc<dyn RemoteCache>) -> Self {
        Cache { remote: Some(remote), ..self }
    }

    /// Waits until new entries are in the remote cache, for at most this time.
    pub async fn flush_remote(&self, within: Duration) {
        if let Some(remote) = &self.remote {
            remote.flush(within).await;
        }
    }

    /// How often entries were found.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        let Counters { local_hits, remote_hits, misses } = &*self.counters;
        CacheStatistics {
            local_hits: local_hits.load(Ordering::Relaxed),
            remote_hits: remote_hits.load(Ordering::Relaxed),
            misses: misses.load(Ordering::Relaxed),
            remote: self.remote.as_ref().map(|remote| remote.statistics()),
        }
    }

    /// Counts an entry that was found in the local cache.
    pub(crate) fn count_local_hit(&self) {
        self.counters.local_hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Looks up an entry that is missing in the local cache, for a caller that builds it if this fails. Waits a while if
    /// another machine is building it.
    pub(crate) async fn fetch(&self, bucket: Bucket, key: &str, observer: &dyn Observer) -> Found {
        let waits = || observer.progress("waiting for another machine that is building this");
        self.fetch_with(bucket, key, true, &waits).await
    }

    /// Like [`Cache::fetch`], without waiting for others or making them wait.
    pub(crate) async fn fetch_existing(&self, bucket: Bucket, key: &str) -> Option<Entry> {
        match self.fetch_with(bucket, key, false, &|| {}).await {
            Found::Entry(entry) => Some(entry),
            Found::Missing(_) => None,
        }
    }

    async fn fetch_with(
        &self,
        bucket: Bucket,
        key: &str,
        builds: bool,
        waits: &(dyn Fn() + Send + Sync),
    ) -> Found {
        let found = match &self.remote {
            Some(remote) => self.fetch_from(&**remote, bucket, key, builds, waits).await,
            None => Found::Missing(None),
        };
        let counter = match &found {
            Found::Entry(_) => &self.counters.remote_hits,
            Found::Missing(_) => &self.counters.misses,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    async fn fetch_from(
        &self,
        remote: &dyn RemoteCache,
        bucket: Bucket,
        key: &str,
        builds: bool,
        waits: &(dyn Fn() + Send + Sync),
    ) -> Found {
        // A folder that can't be written to is reported by the build.
        let Ok(folder) = self.temporary() else { return Found::Missing(None) };
        let id = ArtifactId::new(bucket, key);
        let max_bytes = match bucket {
            Bucket::Layers => LARGEST_LAYER,
            _ => self.budget.largest(bucket),
        };
        let is_here = || self.entry(bucket, key).is_some();
        let wanted = Wanted { id, folder: folder.path(), max_bytes, builds, is_here: &is_here, waits };
        match remote.fetch(wanted).await {
            Fetched::Written => match self.publish(bucket, key, folder) {
                Ok(entry) => Found::Entry(entry),
                Err(_) => Found::Missing(None),
            },
            Fetched::Here => self.entry(bucket, key).map_or(Found::Missing(None), Found::Entry),
            Fetched::Missing(claim) => Found::Missing(claim),
        }
    }

    /// Offers a new entry to the remote cache. An entry that the local cache does not keep is not shared either, nor one of
    /// a bundle.
    pub(crate) fn share(&self, bucket: Bucket, key: &str, entry: &Entry, claim: Option<Claim>) {
        let Some(remote) =
            self.remote.as_ref().filter(|_| entry.is_kept() && entry.folder().starts_with(&self.root))
        else {
            return;
        };
        let (id, folder) = (ArtifactId::new(bucket, key), entry.folder().to_owned());
        remote.offer(Offered { id, folder, claim, _held: Some(entry.clone()) });
    }
}
