//! The users' view of the cache: its contents by bucket, and the removal of entries that no process uses.
//!
//! Like eviction, it runs under the lock of the ledger, claims each entry before it removes it, and leaves what is held.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::budget::Budget;
use super::eviction::{self, Eviction, Found};
use super::ledger::{Ledger, Usage};
use super::{Bucket, Cache, hold, remove};
use crate::error::{Error, Result};

/// Number and total size of some entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Entries {
    /// The number of entries.
    pub entries: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

impl Entries {
    fn add(&mut self, bytes: u64) {
        self.entries = self.entries.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The contents of a bucket.
#[derive(Debug, Clone, Copy)]
pub struct BucketContents {
    /// The bucket.
    pub bucket: Bucket,
    /// All its entries.
    pub all: Entries,
    /// The entries that a process uses now.
    pub in_use: Entries,
    /// Maximum size in bytes; `None` for builds in progress, which are not limited.
    pub limit_bytes: Option<u64>,
    /// Maximum number of entries, if it is limited.
    pub limit_entries: Option<usize>,
}

/// The contents of the cache.
#[derive(Debug, Clone)]
pub struct CacheContents {
    /// Its present or future path.
    pub folder: PathBuf,
    /// Free space in its file system, in bytes, if known.
    pub free_bytes: Option<u64>,
    /// Each bucket.
    pub buckets: Vec<BucketContents>,
    /// The entries that other versions of Toolsmith left in buckets that this version does not have.
    pub outdated: Entries,
}

/// The entries to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// All.
    All,
    /// The entries beyond the limits of a cache of this size in bytes, as publishing removes them.
    OverLimit(u64),
    /// The least recently used, until the rest has this size in bytes. The most recently used layer stays.
    DownTo(u64),
    /// The entries that have not been used for this long.
    UnusedFor(Duration),
}

/// The removed entries, and the ones left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Removed {
    /// The removed entries.
    pub removed: Entries,
    /// Entries that were to be removed, and are in use by a process.
    pub in_use: Entries,
    /// The rest, including the entries in use.
    pub left: Entries,
}

/// Reads the contents of the cache in `root`, whose limit is `size` bytes. Changes nothing.
#[must_use]
pub fn look_into_cache(root: &Path, size: u64) -> CacheContents {
    let cache = Cache::look(root);
    let budget = Budget::new(size);
    let found = found(&cache.root);
    let buckets = Bucket::ALL.into_iter().map(|bucket| {
        let (mut all, mut in_use) = (Entries::default(), Entries::default());
        for entry in found.iter().filter(|entry| entry.bucket == bucket) {
            all.add(entry.bytes);
            if is_held(&entry.path) {
                in_use.add(entry.bytes);
            }
        }
        let (bounds, is_limited) = (budget.of(bucket), bucket != Bucket::Temporary);
        BucketContents {
            bucket,
            all,
            in_use,
            limit_bytes: is_limited.then_some(bounds.bytes),
            limit_entries: Some(bounds.entries).filter(|entries| *entries != usize::MAX),
        }
    });
    let buckets = buckets.collect();
    let existing = cache.root.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("/"));
    let room = rustix::fs::statvfs(existing).ok();
    CacheContents {
        free_bytes: room.map(|room| room.f_bavail.saturating_mul(room.f_frsize)),
        buckets,
        outdated: total(&outdated(&cache.root)),
        folder: cache.root,
    }
}

/// Removes entries of the cache in `root` that no process uses.
///
/// # Errors
/// If other processes keep the cache busy, or it can't be written to.
pub fn remove_from_cache(root: &Path, removal: Removal) -> Result<Removed> {
    let cache = Cache::look(root);
    // A folder that the user named by mistake has no bucket, and gets none.
    if !Bucket::ALL.iter().any(|bucket| cache.bucket(*bucket).is_dir()) && outdated(&cache.root).is_empty() {
        return Ok(Removed::default());
    }
    cache.create()?;
    cache.sweep();
    let mut ledger = Ledger::lock(&cache.root).ok_or_else(|| {
        Error::cache(&cache.root)(std::io::Error::other("its file usage.json can't be locked"))
            .hint("check the permissions of the folder, or try again")
    })?;
    let (removed, in_use, moved) = take_chosen(&cache.root, removal);
    ledger.write(&eviction::count(&cache.root));
    drop(ledger);
    moved.iter().for_each(|folder| remove(folder));
    // Removing cargo's home removes its bucket.
    cache.create()?;
    let mut left = total(&found(&cache.root));
    let others = total(&outdated(&cache.root));
    left = Entries { entries: left.entries + others.entries, bytes: left.bytes.saturating_add(others.bytes) };
    Ok(Removed { removed, in_use, left })
}

/// Removes what the user chose. Returns what was removed, what is in use, and folders to delete.
fn take_chosen(root: &Path, removal: Removal) -> (Entries, Entries, Vec<PathBuf>) {
    match removal {
        Removal::All => take(root, found(root), &outdated(root), 0),
        Removal::UnusedFor(age) => {
            let limit = SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
            let [entries, others] = [found(root), outdated(root)]
                .map(|all| all.into_iter().filter(|entry| entry.used < limit).collect());
            take(root, entries, &others, 0)
        }
        Removal::DownTo(bytes) => {
            let mut entries = found(root);
            let rest = without_newest_layer(&mut entries);
            take(root, entries, &outdated(root), bytes.saturating_sub(rest))
        }
        Removal::OverLimit(size) => {
            let before = total(&found(root));
            let (_, moved) = eviction::evict(root, &Budget::new(size), Path::new(""));
            let after = total(&found(root));
            let removed = Entries {
                entries: before.entries.saturating_sub(after.entries),
                bytes: before.bytes.saturating_sub(after.bytes),
            };
            (removed, Entries::default(), moved)
        }
    }
}

/// Removes the least recently used of these entries until the rest has `goal` bytes; those of other versions first.
/// Returns what was removed, what is in use, and folders to delete.
fn take(
    root: &Path,
    mut entries: Vec<Found>,
    outdated: &[Found],
    goal: u64,
) -> (Entries, Entries, Vec<PathBuf>) {
    eviction::most_recent_first(&mut entries);
    let mut eviction = Eviction { root, found: Vec::new(), usage: Usage::default(), moved: Vec::new() };
    let (mut removed, mut in_use) = (Entries::default(), Entries::default());
    let mut rest = total(&entries).bytes.saturating_add(total(outdated).bytes);
    for entry in outdated.iter().chain(entries.iter().rev()) {
        if rest <= goal {
            break;
        }
        if entry.bucket != Bucket::Temporary && eviction.remove(entry) {
            removed.add(entry.bytes);
            rest = rest.saturating_sub(entry.bytes);
        } else {
            in_use.add(entry.bytes);
        }
    }
    (removed, in_use, eviction.moved)
}

/// Removes the most recently used layer from the list, and returns its size in bytes: the next run needs it.
fn without_newest_layer(entries: &mut Vec<Found>) -> u64 {
    let layers = entries.iter().enumerate().filter(|(_, entry)| entry.bucket == Bucket::Layers);
    let newest = layers.max_by_key(|(_, entry)| entry.used).map(|(place, _)| place);
    newest.map_or(0, |place| entries.remove(place).bytes)
}

/// The entries of all buckets, including builds in progress.
fn found(root: &Path) -> Vec<Found> {
    let mut found = eviction::walk(root);
    // An empty home of cargo is only the bucket.
    found.retain(|entry| entry.bucket != Bucket::CargoHome || !is_empty(&entry.path));
    let builds = fs_err::read_dir(Bucket::Temporary.folder(root)).into_iter().flatten().flatten();
    let builds = builds.filter(|entry| is_held(&entry.path()));
    found.extend(builds.filter_map(|entry| eviction::look(Bucket::Temporary, entry.path())));
    found
}

/// The entries in buckets of other versions, which have other numbers.
fn outdated(root: &Path) -> Vec<Found> {
    let folders = fs_err::read_dir(root).into_iter().flatten().flatten().filter_map(|folder| {
        let name = folder.file_name().into_string().ok()?;
        let (stem, number) = name.rsplit_once("-v")?;
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        let current = Bucket::ALL.into_iter().find(|bucket| {
            bucket.name().rsplit_once("-v").is_some_and(|(own, now)| own == stem && now != number)
        });
        current.filter(|_| is_number).map(|bucket| (bucket, folder.path()))
    });
    let entries = folders.flat_map(|(bucket, folder)| {
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(move |entry| eviction::look(bucket, entry.path()))
    });
    entries.collect()
}

fn is_empty(folder: &Path) -> bool {
    fs_err::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// Whether a process uses the entry. It is claimed for a moment, so another process may find it in use meanwhile.
fn is_held(path: &Path) -> bool {
    path.exists() && hold::claim(path).is_none()
}

fn total(entries: &[Found]) -> Entries {
    entries.iter().fold(Entries::default(), |mut all, entry| {
        all.add(entry.bytes);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::DEFAULT_SIZE;

    const MIB: u64 = 1 << 20;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache"), DEFAULT_SIZE).unwrap();
        (folder, cache)
    }

    /// Publishes an entry with one file of `bytes` bytes, last used `age` seconds ago.
    fn keep(cache: &Cache, (bucket, key): (Bucket, &str), bytes: u64, age: u64) -> crate::cache::Entry {
        let built = cache.temporary().unwrap();
        std::fs::File::create(built.path().join("file")).unwrap().set_len(bytes).unwrap();
        let entry = cache.publish(bucket, key, built).unwrap();
        let used = SystemTime::now() - Duration::from_secs(age);
        std::fs::File::open(entry.folder()).unwrap().set_modified(used).unwrap();
        entry
    }

    fn names(cache: &Cache) -> Vec<String> {
        let mut names: Vec<String> = found(&cache.root)
            .iter()
            .map(|entry| entry.path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn cleaning_removes_all_that_no_process_uses_and_counts_the_rest() {
        let (_folder, cache) = cache();
        drop(keep(&cache, (Bucket::Programs, "unused"), MIB, 10));
        drop(keep(&cache, (Bucket::Layers, "layer"), MIB, 10));
        let used = keep(&cache, (Bucket::Programs, "used"), 2 * MIB, 10);
        cache.write(Bucket::Catalogs, "list", b"{}").unwrap();
        fs_err::create_dir_all(cache.bucket(Bucket::CargoHome).join("registry")).unwrap();
        fs_err::create_dir_all(cache.root.join("generated-v1/old")).unwrap();
        fs_err::create_dir_all(cache.root.join("notes-v1/mine")).unwrap();

        let shown = look_into_cache(&cache.root, DEFAULT_SIZE);
        let programs = shown.buckets.iter().find(|one| one.bucket == Bucket::Programs).unwrap();
        assert_eq!((programs.all.entries, programs.in_use.entries), (2, 1));
        assert!(programs.in_use.bytes >= 2 * MIB);
        assert_eq!(shown.outdated.entries, 1);

        let done = remove_from_cache(&cache.root, Removal::All).unwrap();
        assert_eq!((done.removed.entries, done.in_use.entries, done.left.entries), (5, 1, 1), "{done:?}");
        assert_eq!(names(&cache), ["used"]);
        assert!(cache.root.join("notes-v1/mine").exists(), "only buckets of Toolsmith are removed");
        assert_eq!(Ledger::lock(&cache.root).unwrap().read().unwrap().total(), done.left.bytes);
        drop(used);
        assert_eq!(remove_from_cache(&cache.root, Removal::All).unwrap().left, Entries::default());
        assert!(cache.bucket(Bucket::CargoHome).is_dir());
    }

    #[test]
    fn files_of_the_user_beside_the_buckets_stay() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["results/own.json", "programs/own", "toolchains.json", "results-vx/own"] {
            let file = folder.path().join(file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "mine").unwrap();
        }
        let all = || {
            let mut names: Vec<_> =
                fs_err::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = all();
        assert_eq!(remove_from_cache(folder.path(), Removal::All).unwrap(), Removed::default());
        assert_eq!(all(), before, "nothing is created");
        let cache = Cache::open(folder.path(), DEFAULT_SIZE).unwrap();
        drop(keep(&cache, (Bucket::Programs, "ours"), MIB, 10));
        assert_eq!(remove_from_cache(folder.path(), Removal::All).unwrap().removed.entries, 1);
        assert_eq!(fs_err::read_to_string(folder.path().join("results/own.json")).unwrap(), "mine");
        assert_eq!(fs_err::read_to_string(folder.path().join("programs/own")).unwrap(), "mine");
    }

    #[test]
    fn pruning_to_a_size_removes_the_least_recently_used_and_keeps_the_newest_layer() {
        let (_folder, cache) = cache();
        drop(keep(&cache, (Bucket::Layers, "layer"), 3 * MIB, 100));
        for (key, age) in [("a", 90), ("b", 20), ("c", 50)] {
            drop(keep(&cache, (Bucket::Programs, key), MIB, age));
        }
        let done = remove_from_cache(&cache.root, Removal::DownTo(5 * MIB)).unwrap();
        assert_eq!(names(&cache), ["b", "layer"], "{done:?}");
        assert!(done.removed.bytes >= 2 * MIB && done.left.bytes <= 5 * MIB, "{done:?}");
        remove_from_cache(&cache.root, Removal::DownTo(0)).unwrap();
        assert_eq!(names(&cache), ["layer"]);
    }

    #[test]
    fn pruning_by_age_and_by_limit_removes_no_other_entries() {
        let (_folder, cache) = cache();
        drop(keep(&cache, (Bucket::Programs, "old"), MIB, 7_200));
        drop(keep(&cache, (Bucket::Programs, "new"), MIB, 60));
        remove_from_cache(&cache.root, Removal::UnusedFor(Duration::from_secs(3_600))).unwrap();
        assert_eq!(names(&cache), ["new"]);
        let done = remove_from_cache(&cache.root, Removal::OverLimit(DEFAULT_SIZE)).unwrap();
        assert_eq!((done.removed, names(&cache)), (Entries::default(), vec!["new".to_owned()]));
        let done = remove_from_cache(&cache.root, Removal::OverLimit(2 * MIB)).unwrap();
        assert_eq!((done.removed.entries, names(&cache).len()), (1, 0), "{done:?}");
    }

    #[test]
    fn a_missing_cache_is_empty_and_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("cache");
        assert_eq!(remove_from_cache(&root, Removal::All).unwrap(), Removed::default());
        assert_eq!(look_into_cache(&root, DEFAULT_SIZE).outdated, Entries::default());
        assert!(!root.exists());
    }
}
