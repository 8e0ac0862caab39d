//! The entries of optimized programs in the cache, and what they are compiled from.
//!
//! The key is that of the program without optimization, and the level of optimization. An entry contains one of these
//! files:
//!
//! | file | meaning |
//! | --- | --- |
//! | `program` | the optimized program |
//! | `due` | the last run was so long that the next one compiles the optimized program first |
//! | `unsuitable` | the optimized program can't be used, for the reason in the file; it is not tried again |

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cache::{Bucket, Cache, Entry, Key};
use crate::compiler;
use crate::error::{Error, Result};
use crate::library::Library;

/// The file name of a program's [`Source`], in the entry of the program without optimization.
pub(crate) const SOURCE: &str = "source.json";
/// Marks the text of a very long run.
pub(crate) const DUE: &str = "due";
/// Marks a text whose optimized program can't be used.
pub(crate) const UNSUITABLE: &str = "unsuitable";

/// The source that a program was compiled from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    /// The spliced text, with its corrections.
    pub(crate) text: String,
    /// Module names and keys of its bindings.
    pub(crate) libraries: Vec<(String, String)>,
}

impl Source {
    /// Writes the source of the program in `folder`.
    pub(crate) fn keep(folder: &Path, text: &str, libraries: &[Library]) -> Result<()> {
        let libraries = libraries.iter().map(|library| (library.module.clone(), library.key())).collect();
        let source = Source { text: text.to_owned(), libraries };
        let bytes = serde_json::to_vec(&source).map_err(|error| Error::cache(folder)(error.into()))?;
        fs_err::write(folder.join(SOURCE), bytes).map_err(Error::cache(folder))
    }

    /// Reads the source of the program in `folder`, if it has one.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs_err::read(folder.join(SOURCE)).ok()?).ok()
    }
}

/// The key of the optimized program for the program `key`.
pub(crate) fn key_of(key: &str) -> String {
    Key::new("optimized 1").part(key).part(compiler::OPTIMIZE.join(" ")).finish()
}

/// The entry for the program `key`, whatever it contains.
pub(crate) fn entry(cache: &Cache, key: &str) -> Option<Entry> {
    cache.entry(Bucket::Programs, &key_of(key))
}

/// Whether the program `key` is to be compiled with optimization before its next run.
pub(crate) fn is_due(cache: &Cache, key: &str) -> bool {
    entry(cache, key).is_some_and(|entry| entry.folder().join(DUE).exists())
}

/// Publishes an entry without a program, which contains the file `name`.
pub(crate) fn mark(cache: &Cache, key: &str, name: &str, text: &str) -> Result<()> {
    let output = cache.temporary()?;
    fs_err::write(output.path().join(name), text).map_err(Error::cache(output.path()))?;
    cache.publish(Bucket::Programs, &key_of(key), output).map(drop)
}
