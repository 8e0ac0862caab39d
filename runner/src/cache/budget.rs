//! How much of the disk the cache may take: in all, for each bucket, for one entry, and for one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket::Bucket;

/// Bytes of the whole cache unless configured (5 GiB).
pub const DEFAULT_SIZE: u64 = 5 << 30;
/// Least bytes that the cache may be given (64 MiB): a few programs and bindings beside the crates that snippets are
/// compiled against, which take about 70 MiB and are never removed while they are used.
pub const LEAST_SIZE: u64 = 64 << 20;
/// Most bytes of a program that is kept (16 MiB): most have about 2 MiB, and one with a large `static` is rebuilt
/// rather than taking the room of ten others.
pub const LARGEST_KEPT_PROGRAM: u64 = 16 << 20;

/// How many linked programs are kept; beyond, those that were not used for longest go first.
pub const PROGRAMS_KEPT: usize = 256;
/// How many compiled bindings are kept.
pub const BINDINGS_KEPT: usize = 512;
/// How many layers are kept: a new one comes with every toolchain and every release.
pub const LAYERS_KEPT: usize = 4;
/// How many files are kept of each kind.
pub const FILES_KEPT: usize = 512;

/// What the shares of the buckets add up to.
const WHOLE: u64 = 64;
/// What part of its bucket one entry may take, and of the compiled bindings those of one server: a quarter, so that
/// nothing drives out everything else.
const QUARTER: u64 = 4;
/// What part is made free beyond what must be: an eighth, so that not every publication evicts.
const SLACK: u64 = 8;

/// So many entries and an eighth.
pub(super) fn with_slack(entries: usize) -> usize {
    entries.saturating_add(entries / usize::try_from(SLACK).unwrap_or(usize::MAX))
}

/// The budget. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<AtomicU64>);

/// Bounds of some entries together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) bytes: u64,
    pub(super) entries: usize,
}

impl Bucket {
    /// Bytes of a cache of `size` bytes that this bucket may take. The shares of all buckets together are the whole.
    #[must_use]
    pub fn share(self, size: u64) -> u64 {
        let share = match self {
            Bucket::Bindings | Bucket::Programs => 16,
            Bucket::Layers => 12,
            Bucket::Generated => 6,
            Bucket::CargoHome | Bucket::Catalogs | Bucket::Results => 4,
            Bucket::Toolchains | Bucket::Temporary => 1,
        };
        size / WHOLE * share
    }

    /// How many entries it keeps.
    fn kept(self) -> usize {
        match self {
            Bucket::Layers => LAYERS_KEPT,
            Bucket::Bindings => BINDINGS_KEPT,
            Bucket::Programs => PROGRAMS_KEPT,
            Bucket::Toolchains | Bucket::Catalogs | Bucket::Generated | Bucket::Results => FILES_KEPT,
            Bucket::CargoHome | Bucket::Temporary => usize::MAX,
        }
    }
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Budget(Arc::new(AtomicU64::new(bytes)))
    }

    pub(super) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of the whole cache.
    pub(super) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// What a bucket may hold.
    pub(super) fn of(&self, bucket: Bucket) -> Bounds {
        Bounds { bytes: bucket.share(self.total()), entries: bucket.kept() }
    }

    /// What the compiled bindings of one server may take.
    pub(super) fn of_owner(&self) -> Bounds {
        Bounds { bytes: self.of(Bucket::Bindings).bytes / QUARTER, entries: usize::MAX }
    }

    /// Bytes of the largest entry that a bucket keeps. Layers are always kept: each takes a minute to build.
    pub(super) fn largest(&self, bucket: Bucket) -> u64 {
        let part = self.of(bucket).bytes / QUARTER;
        match bucket {
            Bucket::Layers => u64::MAX,
            Bucket::Programs => part.min(LARGEST_KEPT_PROGRAM),
            _ => part,
        }
    }
}

impl Bounds {
    /// Whether this is more than there may be.
    pub(super) fn exceeded(self, bytes: u64, entries: usize) -> bool {
        bytes > self.bytes || entries > self.entries
    }

    /// What eviction goes down to.
    pub(super) fn goal(self) -> Bounds {
        let entries = self.entries - self.entries / usize::try_from(SLACK).unwrap_or(usize::MAX);
        Bounds { bytes: self.bytes - self.bytes / SLACK, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_together_hold_no_more_than_the_whole_cache() {
        for total in [LEAST_SIZE, DEFAULT_SIZE, u64::MAX] {
            let budget = Budget::new(total);
            let sum: u64 = Bucket::ALL.iter().map(|bucket| budget.of(*bucket).bytes).sum();
            assert!(sum <= total, "{total}");
            for bucket in Bucket::ALL {
                let bounds = budget.of(bucket);
                assert!(bounds.goal().bytes < bounds.bytes && bounds.goal().entries > 0, "{bucket:?}");
            }
        }
    }

    #[test]
    fn one_entry_takes_no_more_than_a_quarter_of_its_bucket() {
        let budget = Budget::new(LEAST_SIZE);
        assert_eq!(budget.largest(Bucket::Programs), 4 << 20);
        assert_eq!(Budget::new(DEFAULT_SIZE).largest(Bucket::Programs), LARGEST_KEPT_PROGRAM);
        assert_eq!(budget.of_owner().bytes, budget.largest(Bucket::Bindings));
        assert_eq!(budget.largest(Bucket::Layers), u64::MAX);
    }
}
