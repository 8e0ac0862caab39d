//! Looks entries up in the remote cache, moves them into the local one, and offers new ones to it.
//!
//! Only layers, bindings and programs are shared: their keys are hashes of all their inputs, so an entry means the same on
//! every machine.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::hold::Entry;
use super::remote::{
    ArtifactId, CacheStatistics, Claim, Counters, Fetched, LARGEST_LAYER, Offered, RemoteCache, Wanted,
};
use super::{Bucket, Cache};
use crate::journal::Sink;

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

    /// Returns the number of entries found.
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
    pub(crate) async fn fetch(&self, bucket: Bucket, key: &str, sink: &dyn Sink) -> Found {
        self.fetch_with(bucket, key, true, &|| {
            sink.progress("waiting for another machine that is building this");
        })
        .await
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
