//! The lock files that go with the layers of a configuration, and what they said when the layers were read.
//!
//! What their texts mean is `pins`' job; changing one is `lock_file`'s.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::Lock;

use super::source::Document;
use super::{ConfigLayer, Error, user_folder};

/// The name of a lock file: beside a configuration, in the user's folder, and in the folder of a crate.
pub const LOCK: &str = "toolsmith.lock";

/// A lock file that holds, and what it said when the configuration was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Its text: a project is trusted with it, so it is not read a second time. `None` where there is no file.
    pub(crate) text: Option<Arc<str>>,
    /// The servers whose entries stand beside it, those included that a stronger layer replaces.
    pub names: BTreeSet<String>,
    /// The path with a folder without links: two layers may share a file.
    key: PathBuf,
}

impl LockFile {
    /// Reads the one at `path`.
    pub(super) fn read(path: PathBuf) -> Result<Self, Error> {
        // What can't even be seen is not there, as with configurations; a project that was trusted with it notices.
        let is_there = path.symlink_metadata().is_ok();
        let text = if is_there { text(&path)?.map(Arc::from) } else { None };
        Ok(LockFile { key: key(&path), path, text, names: BTreeSet::new() })
    }

    /// The lock that it says; an empty one where there is no file.
    pub fn lock(&self) -> Result<Lock, mcp::LockError> {
        let text = self.text.as_deref();
        Ok(text.map(|text| Lock::parse(text, &self.path)).transpose()?.unwrap_or_default())
    }
}

/// The text of a lock file; `None` where there is none.
pub fn text(path: &Path) -> Result<Option<String>, Error> {
    Lock::read_text(path)
        .map_err(|error| Error(format!("{error}\nhelp: remove what is there, or restore the lock file")))
}

/// Where the servers of a layer are locked: beside its file. What has no file is the user's.
pub(super) fn place(layer: &ConfigLayer) -> Option<PathBuf> {
    match layer {
        ConfigLayer::Project(file) | ConfigLayer::Named(file) => Some(file.with_file_name(LOCK)),
        ConfigLayer::User(_) | ConfigLayer::Demo | ConfigLayer::Environment => {
            user_folder().map(|folder| folder.join(LOCK))
        }
    }
}

/// Adds `file`, unless it is there already.
pub(super) fn add(locks: &mut Vec<LockFile>, file: LockFile) {
    if locks.iter().all(|known| known.key != file.key) {
        locks.push(file);
    }
}

/// Notes which servers stand beside which file.
pub(super) fn assign(locks: &mut [LockFile], documents: &[Document]) {
    for document in documents {
        let key = place(&document.source.layer).map(|path| key(&path));
        if let Some(file) = locks.iter_mut().find(|file| Some(&file.key) == key.as_ref()) {
            file.names.extend(document.entries.iter().map(|entry| entry.name.clone()));
        }
    }
}

/// Where among these files the one of a layer's servers is.
pub(super) fn position(locks: &[LockFile], layer: &ConfigLayer) -> Option<usize> {
    let key = key(&place(layer)?);
    locks.iter().position(|file| file.key == key)
}

fn key(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    folder.map_or_else(|_| path.to_owned(), |folder| folder.join(LOCK))
}
