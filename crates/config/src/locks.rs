//! The lock files next to the layers of a configuration, with their text at the time the layers were read.
//!
//! `pins` interprets their texts; `lock_file` changes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::Lock;

use super::source::Document;
use super::{ConfigLayer, Error, user_folder};

/// The name of a lock file: next to a configuration, in the user's folder, and in the folder of a crate.
pub const LOCK: &str = "toolsmith.lock";

/// A lock file in force, with its text when the configuration was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFile {
    /// Its path, whether or not the file exists.
    pub path: PathBuf,
    /// Its text, kept because a project is trusted with it. `None` if the file does not exist.
    pub(crate) text: Option<Arc<str>>,
    /// The servers in the configuration next to it, including those that a stronger layer replaces.
    pub names: BTreeSet<String>,
    /// The path with symbolic links resolved: two layers may share a file.
    key: PathBuf,
}

impl LockFile {
    /// Reads the lock file at `path`.
    ///
    /// # Errors
    /// If it is there and can't be read.
    pub fn read(path: PathBuf) -> Result<Self, Error> {
        // An inaccessible file counts as missing, as for configurations; trust then fails if it was trusted with a
        // lock file.
        let is_there = path.symlink_metadata().is_ok();
        let text = if is_there { text(&path)?.map(Arc::from) } else { None };
        Ok(LockFile { key: key(&path), path, text, names: BTreeSet::new() })
    }

    /// The parsed lock; an empty one if there is no file.
    pub fn lock(&self) -> Result<Lock, mcp::LockError> {
        let text = self.text.as_deref();
        Ok(text.map(|text| Lock::parse(text, &self.path)).transpose()?.unwrap_or_default())
    }
}

/// The text of a lock file; `None` if it does not exist.
pub fn text(path: &Path) -> Result<Option<String>, Error> {
    Ok(Lock::read_text(path)?)
}

/// The path of the lock file for the servers of a layer: next to its file, or in the user's folder if it has none. The
/// demo server has no lock file.
pub(super) fn place(layer: &ConfigLayer) -> Option<PathBuf> {
    match layer {
        ConfigLayer::Project(file) | ConfigLayer::Named(file) => Some(file.with_file_name(LOCK)),
        ConfigLayer::User(_) | ConfigLayer::Environment => user_folder().map(|folder| folder.join(LOCK)),
        ConfigLayer::Demo => None,
    }
}

/// Adds `file`, unless it is already in the list.
pub(super) fn add(locks: &mut Vec<LockFile>, file: LockFile) {
    if locks.iter().all(|known| known.key != file.key) {
        locks.push(file);
    }
}

/// Records which servers belong to which lock file.
pub(super) fn assign(locks: &mut [LockFile], documents: &[Document]) {
    for document in documents {
        let key = place(&document.source.layer).map(|path| key(&path));
        if let Some(file) = locks.iter_mut().find(|file| Some(&file.key) == key.as_ref()) {
            file.names.extend(document.entries.iter().map(|entry| entry.name.clone()));
        }
    }
}

/// The index of the lock file of a layer's servers.
pub(super) fn position(locks: &[LockFile], layer: &ConfigLayer) -> Option<usize> {
    let key = key(&place(layer)?);
    locks.iter().position(|file| file.key == key)
}

fn key(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    folder.map_or_else(|_| path.to_owned(), |folder| folder.join(LOCK))
}
