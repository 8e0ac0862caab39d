//! The compiled library of a module's bindings: the file in the cache that programs are linked with.

use std::path::PathBuf;

use crate::cache::Entry;

/// Compiled bindings.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    /// The module name in snippets: its crate name.
    pub(crate) module: String,
    /// The library.
    pub(crate) file: PathBuf,
    /// Keeps it from being evicted.
    entry: Entry,
}

/// Two are equal if they are the same entry, which may have been built again in the meantime.
impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        (&self.module, &self.file) == (&other.module, &other.file)
    }
}

impl Library {
    /// The library of `module` in an entry.
    pub(crate) fn new(module: &str, entry: Entry) -> Self {
        Library { module: module.to_owned(), file: entry.folder().join(file_name(module)), entry }
    }

    /// The library with this crate name in a file of the layer, whose entry is `layer`.
    pub(crate) fn of_layer(name: &str, file: &str, layer: Entry) -> Self {
        Library { module: name.to_owned(), file: layer.folder().join(file), entry: layer }
    }

    /// Whether the file is still in place: the cache may have been deleted.
    pub(crate) fn is_in_place(&self) -> bool {
        self.entry.is_in_place()
    }

    /// Its entry in the cache.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The key of its entry.
    pub(crate) fn key(&self) -> String {
        let name = self.entry.folder().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// The file name of a module's library in its entry.
pub(crate) fn file_name(module: &str) -> String {
    format!("lib{module}.rlib")
}
