//! The cache folder: versioned buckets of entries that appear whole or not at all.
//!
//! An entry is built in a temporary folder of the same file system and renamed into place, so that a kill at
//! any point leaves nothing half done. An entry that was damaged later (files cut off or missing) counts as not
//! there, and is replaced when it has been built again. Several processes share a cache; what is expensive is
//! built under a lock, what is cheap may be built twice.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::observer::Observer;

/// The cache folder.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// What the cache holds. The number in a bucket's name rises when the form of its entries changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// What compilers said of themselves, one JSON file each.
    Toolchains,
    /// Bridge and crates on offer, compiled: one folder a key.
    Layers,
    /// Bindings of a server, compiled: one folder a key.
    Bindings,
    /// Linked programs: one folder a key.
    Programs,
    /// Tool lists of servers, one JSON file each.
    Catalogs,
    /// Generated bindings: one folder a key.
    Generated,
    /// cargo's home: downloaded sources, shared by all layers.
    CargoHome,
    /// What is being built.
    Temporary,
}

/// How many linked programs are kept; beyond, those that were not used for longest go first.
pub const PROGRAMS_KEPT: usize = 256;
/// How many compiled bindings are kept.
pub const BINDINGS_KEPT: usize = 512;
/// How many layers are kept: a new one comes with every toolchain and every release.
pub const LAYERS_KEPT: usize = 4;
/// How many files are kept of each kind.
pub const FILES_KEPT: usize = 512;
/// The file of an entry that tells what else is in it.
const CONTENTS: &str = "contents.json";
/// Permissions of a file that an entry depends on: that its owner may read and execute it (inode(7)).
const PERMISSIONS: u32 = 0o500;
/// How often a taken lock is asked for again.
const LOCK_POLL: Duration = Duration::from_millis(100);
/// An entry that was used within this time is never removed: it may be in use.
const IN_USE: Duration = Duration::from_secs(60 * 60);

impl Bucket {
    fn name(self) -> &'static str {
        match self {
            Bucket::Toolchains => "toolchains-v1",
            Bucket::Layers => "layers-v1",
            Bucket::Bindings => "bindings-v1",
            Bucket::Programs => "programs-v1",
            Bucket::Catalogs => "catalogs-v1",
            Bucket::Generated => "generated-v2",
            Bucket::CargoHome => "cargo-home-v1",
            Bucket::Temporary => "temporary-v1",
        }
    }

    fn kept(self) -> Option<usize> {
        match self {
            Bucket::Layers => Some(LAYERS_KEPT),
            Bucket::Bindings => Some(BINDINGS_KEPT),
            Bucket::Programs => Some(PROGRAMS_KEPT),
            Bucket::Toolchains | Bucket::Catalogs | Bucket::Generated => Some(FILES_KEPT),
            Bucket::CargoHome | Bucket::Temporary => None,
        }
    }
}

impl Cache {
    /// Opens the cache in `root`, which is created where it is missing.
    ///
    /// # Errors
    /// Where the folder can't be created or written to.
    pub fn open(root: &Path) -> Result<Self> {
        fs_err::create_dir_all(root).map_err(Error::cache(root))?;
        // The compiler's confinement names paths, and knows no links.
        let root = fs_err::canonicalize(root).map_err(Error::cache(root))?;
        for bucket in [
            Bucket::Toolchains,
            Bucket::Layers,
            Bucket::Bindings,
            Bucket::Programs,
            Bucket::Catalogs,
            Bucket::Generated,
            Bucket::CargoHome,
            Bucket::Temporary,
        ] {
            let folder = root.join(bucket.name());
            fs_err::create_dir_all(&folder).map_err(Error::cache(&root))?;
        }
        Ok(Cache { root })
    }

    /// The cache in `root` as it is: nothing is created, so it may be without any folder.
    pub(crate) fn look(root: &Path) -> Self {
        Cache { root: fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned()) }
    }

    /// The folder that all of it is in, without symbolic links.
    pub(crate) fn folder(&self) -> &Path {
        &self.root
    }

    /// The folder of a bucket.
    #[must_use]
    pub fn bucket(&self, bucket: Bucket) -> PathBuf {
        self.root.join(bucket.name())
    }

    /// The folder of the entry `key`, if it is there and whole; its use is noted for eviction.
    pub(crate) fn entry(&self, bucket: Bucket, key: &str) -> Option<PathBuf> {
        let folder = self.bucket(bucket).join(key);
        if !is_whole(&folder) {
            return None;
        }
        if let Ok(handle) = File::open(&folder) {
            // The time of use only orders evictions: without it an entry merely goes sooner.
            let _ = handle.set_modified(SystemTime::now());
        }
        Some(folder)
    }

    /// A new folder to build an entry in; it goes when dropped.
    pub(crate) fn temporary(&self) -> Result<tempfile::TempDir> {
        let folder = self.bucket(Bucket::Temporary);
        self.sweep(&folder);
        tempfile::Builder::new().prefix("build-").tempdir_in(&folder).map_err(Error::cache(&self.root))
    }

    /// Makes `built` the entry `key`; if another process was faster, its entry stands, unless it is damaged.
    ///
    /// Only here, and not where the damage is seen, is a damaged entry removed: by then another process may have
    /// replaced it.
    pub(crate) fn publish(&self, bucket: Bucket, key: &str, built: tempfile::TempDir) -> Result<PathBuf> {
        write_contents(built.path()).map_err(Error::cache(&self.root))?;
        let folder = self.bucket(bucket).join(key);
        if fs_err::symlink_metadata(&folder).is_ok() && !is_whole(&folder) {
            remove(&folder);
        }
        let built = built.keep();
        if let Err(error) = fs_err::rename(&built, &folder) {
            let _ = fs_err::remove_dir_all(&built);
            if !is_whole(&folder) {
                return Err(Error::cache(&self.root)(error));
            }
        }
        self.evict(bucket, key);
        Ok(folder)
    }

    /// Removes the entry `key`, which looks whole but can't be used, so that it is built again.
    pub(crate) fn discard(&self, bucket: Bucket, key: &str) {
        remove(&self.bucket(bucket).join(key));
    }

    /// The text kept under `key` in a bucket of files.
    #[must_use]
    pub fn read(&self, bucket: Bucket, key: &str) -> Option<Vec<u8>> {
        fs_err::read(self.bucket(bucket).join(format!("{key}.json"))).ok()
    }

    /// Keeps a text under `key` in a bucket of files; readers see the old or the new one, never a part.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write(&self, bucket: Bucket, key: &str, text: &[u8]) -> std::io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(self.bucket(Bucket::Temporary))?;
        temporary.write_all(text)?;
        let name = format!("{key}.json");
        temporary.persist(self.bucket(bucket).join(&name))?;
        self.evict(bucket, &name);
        Ok(())
    }

    /// Waits for the lock on the entry `key`; it is free again when the file is dropped, or the process dies.
    pub(crate) async fn lock(&self, bucket: Bucket, key: &str, observer: &dyn Observer) -> Result<File> {
        let path = self.bucket(bucket).join(format!("{key}.lock"));
        let file = File::create(&path).map_err(Error::cache(&self.root))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(Error::cache(&self.root)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if !told {
                observer.progress("waiting for another toolsmith that builds the same");
                told = true;
            }
            // Asking again, not blocking: a blocked thread could not be interrupted.
            tokio::time::sleep(LOCK_POLL).await;
        }
    }

    /// Removes what was used longest ago while there is more than the bucket keeps.
    fn evict(&self, bucket: Bucket, newest: &str) {
        let Some(kept) = bucket.kept() else { return };
        let mut entries = aged_entries(&self.bucket(bucket));
        entries
            .retain(|(_, path)| path.extension().is_none_or(|end| end != "lock") && !path.ends_with(newest));
        let surplus = (entries.len() + 1).saturating_sub(kept);
        for (age, path) in entries.into_iter().take(surplus) {
            if age > IN_USE {
                remove(&path);
            }
        }
    }

    /// Removes what a killed process left behind.
    fn sweep(&self, temporary: &Path) {
        for (age, path) in aged_entries(temporary) {
            if age > IN_USE {
                remove(&path);
            }
        }
    }
}

/// A file of an entry, as it was when the entry was published.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Content {
    name: String,
    /// In bytes.
    length: u64,
    /// Those of [`PERMISSIONS`] that it has.
    permissions: u32,
}

impl Content {
    fn of(folder: &Path, name: String) -> std::io::Result<Self> {
        let metadata = fs_err::symlink_metadata(folder.join(&name))?;
        let permissions = metadata.permissions().mode() & PERMISSIONS;
        Ok(Content { name, length: metadata.len(), permissions })
    }
}

/// Writes down which files an entry has. Entries have no folders in them.
fn write_contents(folder: &Path) -> std::io::Result<()> {
    let mut contents = Vec::new();
    for file in fs_err::read_dir(folder)? {
        let file = file?;
        if let (true, Ok(name)) = (file.file_type()?.is_file(), file.file_name().into_string()) {
            contents.push(Content::of(folder, name)?);
        }
    }
    contents.sort();
    fs_err::write(folder.join(CONTENTS), serde_json::to_vec(&contents)?)
}

/// Whether an entry has all files that it was published with. It asks for lengths only: about 0.1 ms for the 40
/// files of a layer, whose 70 MB take 20 ms and more to read.
fn is_whole(folder: &Path) -> bool {
    let contents = fs_err::read(folder.join(CONTENTS)).ok();
    let contents: Option<Vec<Content>> = contents.and_then(|text| serde_json::from_slice(&text).ok());
    contents.is_some_and(|contents| {
        contents
            .into_iter()
            .all(|content| Content::of(folder, content.name.clone()).is_ok_and(|found| found == content))
    })
}

/// Removes a folder or a file. What can't be removed now is tried again with the next eviction.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
}

/// The entries of a folder with the time since their last use, longest first.
fn aged_entries(folder: &Path) -> Vec<(Duration, PathBuf)> {
    let now = SystemTime::now();
    let age = |entry: &fs_err::DirEntry| {
        let modified = entry.metadata().ok()?.modified().ok()?;
        Some(now.duration_since(modified).unwrap_or_default())
    };
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let mut aged: Vec<_> = entries.filter_map(|entry| Some((age(&entry)?, entry.path()))).collect();
    aged.sort_by(|left, right| right.cmp(left));
    aged
}

/// Hashes parts into a key: each with its length, so that no two lists of parts give the same bytes.
#[derive(Debug)]
pub(crate) struct Key(blake3::Hasher);

impl Key {
    /// A key of one kind of thing, whose form has a version.
    pub(crate) fn new(kind: &str) -> Self {
        Key(blake3::Hasher::new()).part(kind)
    }

    /// Adds a part.
    pub(crate) fn part(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The key as 32 hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::{Bucket, CONTENTS, Cache, Key};

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        (folder, cache)
    }

    #[test]
    fn an_entry_appears_whole_and_the_first_one_stands() {
        let (_folder, cache) = cache();
        assert_eq!(cache.entry(Bucket::Programs, "a"), None);
        for text in ["first", "second"] {
            let built = cache.temporary().unwrap();
            fs_err::write(built.path().join("program"), text).unwrap();
            cache.publish(Bucket::Programs, "a", built).unwrap();
        }
        let entry = cache.entry(Bucket::Programs, "a").unwrap();
        assert_eq!(fs_err::read_to_string(entry.join("program")).unwrap(), "first");
        let left = fs_err::read_dir(cache.bucket(Bucket::Temporary)).unwrap().count();
        assert_eq!(left, 0);
    }

    fn publish(cache: &Cache, text: &str) -> std::path::PathBuf {
        let built = cache.temporary().unwrap();
        fs_err::write(built.path().join("program"), text).unwrap();
        fs_err::set_permissions(built.path().join("program"), Permissions::from_mode(0o755)).unwrap();
        fs_err::write(built.path().join("fixes.json"), "[]").unwrap();
        cache.publish(Bucket::Programs, "a", built).unwrap()
    }

    #[test]
    fn a_damaged_entry_is_not_there_and_is_replaced() {
        type Damage = fn(&Path) -> std::io::Result<()>;
        let damages: [(&str, Damage); 9] = [
            ("cut off", |entry| File::options().write(true).open(entry.join("program"))?.set_len(3)),
            ("empty", |entry| fs_err::write(entry.join("fixes.json"), "")),
            ("longer", |entry| fs_err::write(entry.join("program"), "longer than before")),
            ("missing", |entry| fs_err::remove_file(entry.join("program"))),
            ("mode", |entry| fs_err::set_permissions(entry.join("program"), Permissions::from_mode(0o644))),
            ("no contents", |entry| fs_err::remove_file(entry.join(CONTENTS))),
            ("torn contents", |entry| fs_err::write(entry.join(CONTENTS), "[{")),
            ("no files", |entry| fs_err::remove_dir_all(entry).and_then(|()| fs_err::create_dir(entry))),
            ("a file", |entry| fs_err::remove_dir_all(entry).and_then(|()| fs_err::write(entry, ""))),
        ];
        let (_folder, cache) = cache();
        let mut entry = publish(&cache, "first");
        for (what, damage) in damages {
            assert_eq!(cache.entry(Bucket::Programs, "a"), Some(entry.clone()), "before: {what}");
            damage(&entry).unwrap();
            assert_eq!(cache.entry(Bucket::Programs, "a"), None, "{what}");
            entry = publish(&cache, what);
            assert_eq!(fs_err::read_to_string(entry.join("program")).unwrap(), what);
        }
        assert!(cache.entry(Bucket::Programs, "a").is_some());
        cache.discard(Bucket::Programs, "a");
        assert_eq!(cache.entry(Bucket::Programs, "a"), None);
        assert!(!entry.exists());
    }

    #[test]
    fn old_entries_go_and_recent_ones_stay() {
        let (_folder, cache) = cache();
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(90_000);
        for number in 0..super::LAYERS_KEPT + 2 {
            let built = cache.temporary().unwrap();
            let entry = cache.publish(Bucket::Layers, &number.to_string(), built).unwrap();
            if number < 2 {
                std::fs::File::open(entry).unwrap().set_modified(long_ago).unwrap();
            }
        }
        assert_eq!(cache.entry(Bucket::Layers, "0"), None);
        assert_eq!(cache.entry(Bucket::Layers, "1"), None);
        assert!(cache.entry(Bucket::Layers, "2").is_some());
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        let one = Key::new("test").part("ab").part("c").finish();
        let other = Key::new("test").part("a").part("bc").finish();
        assert_ne!(one, other);
    }
}
