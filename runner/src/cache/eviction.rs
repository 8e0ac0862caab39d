//! Eviction: removes the least recently used entries when the cache is over budget.
//!
//! It runs under the lock of the ledger, so that two processes do not evict for the same reason. It never removes what
//! a process holds, what was used after the buckets were walked, or the most recently used layer.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::bucket::Bucket;
use super::budget::{Budget, with_slack};
use super::ledger::Usage;
use super::{contents, hold};

/// The time by which a time of use may be in the future: file servers have their own clocks. A later time was recorded
/// before the clock was set back; such entries are evicted first, because otherwise they would stay until the clock
/// catches up.
const AHEAD: Duration = Duration::from_secs(60);

/// An entry, or a file in a bucket of files.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) bucket: Bucket,
    owner: Option<String>,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
}

/// Walks the buckets of the cache in `root`.
pub(super) fn walk(root: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for bucket in Bucket::ALL {
        let folder = bucket.folder(root);
        match bucket {
            // Entries being built count when they are published.
            Bucket::Temporary => {}
            Bucket::CargoHome => found.extend(look(bucket, folder)),
            _ => {
                let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
                found.extend(entries.filter_map(|entry| look(bucket, entry.path())));
            }
        }
    }
    found
}

/// Reads what an entry is, unless it is a lock.
pub(super) fn look(bucket: Bucket, path: PathBuf) -> Option<Found> {
    if path.extension().is_some_and(|end| end == "lock") {
        return None;
    }
    let used = fs_err::symlink_metadata(&path).ok()?.modified().ok()?;
    let contents = contents::read(&path);
    let owner = contents.as_deref().and_then(|contents| contents::owner(bucket, contents));
    let owner = owner.map(str::to_owned);
    let bytes = contents.map_or_else(|| contents::measure(&path), |contents| contents::bytes(&contents));
    Some(Found { bucket, owner, path, bytes, used })
}

fn usage_of(found: &[Found]) -> Usage {
    let mut usage = Usage::default();
    found.iter().for_each(|entry| usage.add(entry.bucket, entry.owner.as_deref(), entry.bytes));
    usage
}

/// The contents of the buckets, by walking them.
pub(super) fn count(root: &Path) -> Usage {
    usage_of(&walk(root))
}

/// Whether the budget is exceeded: in total, for a bucket, or for `owner`.
///
/// Entries that the last eviction left because they are in use do not count until there are an eighth more of them.
/// Otherwise, with 3 000 servers in use, each publication would walk the whole cache for nothing.
pub(super) fn is_over(usage: &Usage, budget: &Budget, owner: Option<&str>) -> bool {
    usage.total() > budget.total()
        || Bucket::ALL.iter().any(|bucket| {
            let (taken, mut bounds) = (usage.of(*bucket), budget.of(*bucket));
            bounds.entries = bounds.entries.max(with_slack(usage.in_use(*bucket)));
            bounds.exceeded(taken.bytes, taken.entries)
        })
        || owner.is_some_and(|owner| is_over_share(usage, budget, owner))
}

/// Whether an owner has more than its share.
fn is_over_share(usage: &Usage, budget: &Budget, owner: &str) -> bool {
    let taken = usage.owner(owner);
    budget.of_owner(contents::bucket_of(owner)).exceeded(taken.bytes, taken.entries)
}

/// Walks the buckets and evicts down to the budget, but never `newest`. Returns the remaining usage, and folders to
/// delete.
pub(super) fn evict(root: &Path, budget: &Budget, newest: &Path) -> (Usage, Vec<PathBuf>) {
    let mut found = walk(root);
    let usage = usage_of(&found);
    most_recent_first(&mut found);
    // The next run needs the most recently used layer, and may be about to hold it.
    let layer = found.iter().find(|entry| entry.bucket == Bucket::Layers).map(|entry| entry.path.clone());
    found.retain(|entry| entry.path != newest && Some(&entry.path) != layer.as_ref());
    let mut eviction = Eviction { root, found, usage, moved: Vec::new() };
    eviction.run(budget);
    for bucket in Bucket::ALL {
        if budget.of(bucket).exceeded(0, eviction.usage.of(bucket).entries) {
            eviction.usage.set_in_use(bucket);
        }
    }
    (eviction.usage, eviction.moved)
}

/// Sorts entries: the least recently used is last.
pub(super) fn most_recent_first(found: &mut [Found]) {
    let now = SystemTime::now();
    // Break ties consistently, so that all processes choose the same entries.
    found.sort_by_cached_key(|entry| Reverse((order(entry.used, now), entry.path.clone())));
}

/// The sort key of entries: the earliest is evicted first.
fn order(used: SystemTime, now: SystemTime) -> SystemTime {
    if used > now + AHEAD { SystemTime::UNIX_EPOCH } else { used }
}

/// An eviction under way.
pub(super) struct Eviction<'a> {
    pub(super) root: &'a Path,
    /// The entries that can still be evicted; the least recently used is last.
    pub(super) found: Vec<Found>,
    pub(super) usage: Usage,
    /// Folders to delete.
    pub(super) moved: Vec<PathBuf>,
}

impl Eviction<'_> {
    fn run(&mut self, budget: &Budget) {
        let owners: Vec<String> = self.usage.owners().map(str::to_owned).collect();
        for owner in owners {
            if is_over_share(&self.usage, budget, &owner) {
                let goal = budget.of_owner(contents::bucket_of(&owner)).goal();
                self.shrink(
                    |entry: &Found| entry.owner.as_deref() == Some(&owner),
                    |usage: &Usage| {
                        let taken = usage.owner(&owner);
                        !goal.exceeded(taken.bytes, taken.entries)
                    },
                );
            }
        }
        for bucket in Bucket::ALL {
            let (bounds, taken) = (budget.of(bucket), self.usage.of(bucket));
            if bounds.exceeded(taken.bytes, taken.entries) {
                let goal = bounds.goal();
                self.shrink(
                    |entry| entry.bucket == bucket,
                    |usage: &Usage| {
                        let taken = usage.of(bucket);
                        !goal.exceeded(taken.bytes, taken.entries)
                    },
                );
            }
        }
        // A bucket may exceed its share if its entries are in use.
        let total = budget.total();
        self.shrink(|_| true, |usage| usage.total() <= total);
    }

    /// Evicts entries that `fits` selects, until `is_met`.
    fn shrink(&mut self, fits: impl Fn(&Found) -> bool, is_met: impl Fn(&Usage) -> bool) {
        let mut kept = Vec::new();
        while !is_met(&self.usage)
            && let Some(entry) = self.found.pop()
        {
            if !fits(&entry) {
                kept.push(entry);
            } else if self.remove(&entry) {
                self.usage.subtract(entry.bucket, entry.owner.as_deref(), entry.bytes);
            }
        }
        self.found.extend(kept.into_iter().rev());
    }

    /// Removes an entry that is not held and unchanged since it was found.
    pub(super) fn remove(&mut self, entry: &Found) -> bool {
        // Locked until it is renamed: other processes wait for the lock, then find nothing.
        let Some(claimed) = hold::claim(&entry.path) else { return false };
        let Ok(metadata) = claimed.metadata() else { return false };
        if metadata.modified().ok() != Some(entry.used) {
            return false;
        }
        if !metadata.is_dir() {
            return fs_err::remove_file(&entry.path).is_ok();
        }
        let moved = gone(self.root);
        let is_gone = fs_err::rename(&entry.path, &moved).is_ok();
        if is_gone {
            self.moved.push(moved);
        }
        is_gone
    }
}

/// Where an evicted entry is moved before it is deleted.
fn gone(root: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    Bucket::Temporary.folder(root).join(format!("gone-{process}-{count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Cache, DEFAULT_SIZE};

    /// The walk saw the entry before its use, and it is no longer held when it is to be evicted.
    #[test]
    fn entries_used_since_the_walk_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache"), DEFAULT_SIZE).unwrap();
        for key in ["used", "unused"] {
            let built = cache.temporary().unwrap();
            fs_err::write(built.path().join("program"), key).unwrap();
            drop(cache.publish(Bucket::Programs, key, built).unwrap());
            let long_ago = SystemTime::now() - Duration::from_secs(90_000);
            let entry = std::fs::File::open(cache.bucket(Bucket::Programs).join(key)).unwrap();
            entry.set_modified(long_ago).unwrap();
        }
        let found = walk(cache.folder());
        let usage = usage_of(&found);
        let other = Cache::open(cache.folder(), DEFAULT_SIZE).unwrap();
        drop(other.entry(Bucket::Programs, "used").unwrap());
        let mut eviction = Eviction { root: cache.folder(), found, usage, moved: Vec::new() };
        eviction.shrink(|entry| entry.bucket == Bucket::Programs, |_| false);
        assert!(cache.entry(Bucket::Programs, "used").is_some());
        assert!(cache.entry(Bucket::Programs, "unused").is_none());
    }

    #[test]
    fn use_after_the_clock_was_set_back_counts_as_newer() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let hour = Duration::from_secs(3600);
        assert!(order(now + hour, now) < order(now - hour, now));
        assert!(order(now - hour, now) < order(now, now));
        assert!(order(now, now) < order(now + AHEAD, now), "another machine's clock is a little ahead");
    }
}
