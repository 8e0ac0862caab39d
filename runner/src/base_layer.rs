//! The libraries that snippets are compiled against, as an open entry of the cache. `layer` builds it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::Base;
use crate::cache::Entry;

/// Compiled crates in one folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crates {
    /// The folder with all libraries.
    pub(crate) folder: PathBuf,
    /// File names of the libraries that programs can name, by crate name.
    pub(crate) files: BTreeMap<String, String>,
}

/// The libraries that snippets are compiled against.
#[derive(Debug, Clone)]
pub(crate) struct BaseLayer {
    /// Its key in the cache.
    pub(crate) key: String,
    pub(crate) crates: Crates,
    /// The file name of the library that programs return their JSON Schemas with, in the same folder.
    pub(crate) schema: String,
    /// Keeps the folder from being evicted; `None` if it is not a cache entry.
    pub(crate) entry: Option<Entry>,
    /// The base that programs are linked against, or the reason why each is linked as a whole.
    pub(crate) base: Result<Arc<Base>, String>,
}
