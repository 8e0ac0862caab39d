//! The compiled library of a module's bindings: the file in the cache that programs are linked with.

use std::path::PathBuf;

use crate::cache::Entry;

/// Compiled bindings.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    /// The module name in snippets.
    pub(crate) module: String,
    /// The library.
    pub(crate) file: PathBuf,
    /// Keeps it from being evicted.
    _entry: Entry,
}

impl Library {
    /// The library of `module` in an entry.
    pub(crate) fn new(module: &str, entry: Entry) -> Self {
        Library { module: module.to_owned(), file: entry.folder().join(file_name(module)), _entry: entry }
    }
}

/// The file name of a module's library in its entry.
pub(crate) fn file_name(module: &str) -> String {
    format!("lib{module}.rlib")
}
