//! The cache's disk budget: in total, per bucket, per entry and per server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket::Bucket;

/// Default size of the whole cache, in bytes (5 GiB).
pub const DEFAULT_SIZE: u64 = 5 << 30;
/// Minimum size of the cache, in bytes (64 MiB): a few programs and bindings in addition to the crates that snippets
/// are compiled against, which take about 70 MiB and are never removed while in use.
pub const LEAST_SIZE: u64 = 64 << 20;
/// Maximum size of a program that is kept, in bytes (16 MiB): most have about 0.1 MiB, and one with a large `static` is
/// better rebuilt than kept in the space of ten others.
pub const LARGEST_KEPT_PROGRAM: u64 = 16 << 20;

/// Maximum number of linked programs; the least recently used are removed first.
pub const PROGRAMS_KEPT: usize = 256;
/// Maximum number of compiled bindings.
pub const BINDINGS_KEPT: usize = 512;
/// Maximum number of layers: each toolchain and each release adds one.
pub const LAYERS_KEPT: usize = 4;
/// Maximum number of files of each kind.
pub const FILES_KEPT: usize = 512;

/// The sum of the buckets' shares.
const WHOLE: u64 = 64;
/// The fraction of its bucket that one entry may take, and of the compiled bindings those of one server: a quarter, so
/// that nothing displaces everything else.
const QUARTER: u64 = 4;
/// The fraction to free in addition to the excess: an eighth, so that not every publication evicts.
const SLACK: u64 = 8;

/// So many entries and an eighth.
pub(super) fn with_slack(entries: usize) -> usize {
    entries.saturating_add(entries / usize::try_from(SLACK).unwrap_or(usize::MAX))
}

/// The budget. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<AtomicU64>);

/// Limits for a set of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) bytes: u64,
    pub(super) entries: usize,
}

impl Bucket {
    /// Bytes of a cache of `size` bytes that this bucket may take. The shares of all buckets add up to the total.
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

    /// Maximum number of entries.
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

    /// Size of the whole cache in bytes.
    pub(super) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Limits for a bucket.
    pub(super) fn of(&self, bucket: Bucket) -> Bounds {
        Bounds { bytes: bucket.share(self.total()), entries: bucket.kept() }
    }

    /// Limits for the compiled bindings of one server, or the programs of one subject: a quarter of their bucket. The
    /// libraries of one server are few, or each has few of its tools.
    pub(super) fn of_owner(&self, bucket: Bucket) -> Bounds {
        let entries = if bucket == Bucket::Programs { PROGRAMS_KEPT / 4 } else { usize::MAX };
        Bounds { bytes: self.of(bucket).bytes / QUARTER, entries }
    }

    /// Maximum size of an entry that a bucket keeps, in bytes. Layers are always kept: each takes a minute to build.
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
    /// Whether the totals exceed the limits.
    pub(super) fn exceeded(self, bytes: u64, entries: usize) -> bool {
        bytes > self.bytes || entries > self.entries
    }

    /// The size that eviction aims for.
    pub(super) fn goal(self) -> Bounds {
        let entries = self.entries - self.entries / usize::try_from(SLACK).unwrap_or(usize::MAX);
        Bounds { bytes: self.bytes - self.bytes / SLACK, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_buckets_fit_into_the_whole_cache() {
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
    fn one_entry_takes_at_most_a_quarter_of_its_bucket() {
        let budget = Budget::new(LEAST_SIZE);
        assert_eq!(budget.largest(Bucket::Programs), 4 << 20);
        assert_eq!(Budget::new(DEFAULT_SIZE).largest(Bucket::Programs), LARGEST_KEPT_PROGRAM);
        assert_eq!(budget.of_owner(Bucket::Bindings).bytes, budget.largest(Bucket::Bindings));
        assert_eq!(budget.largest(Bucket::Layers), u64::MAX);
    }
}
