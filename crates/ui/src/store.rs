//! Reads the history for pages, outside the event loop.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use history::Reader;
use tokio::sync::Semaphore;

use crate::error::PageError;

/// Limit on pages that are read at the same time; others wait.
const READERS: usize = 4;

/// The history.
#[derive(Debug)]
pub(crate) struct Store {
    file: PathBuf,
    turns: Semaphore,
}

impl Store {
    /// A history in this file, which may be missing.
    pub(crate) fn new(file: PathBuf) -> Self {
        Store { file, turns: Semaphore::new(READERS) }
    }

    /// Reads the history; `work` gets `None` if there is none yet.
    ///
    /// # Errors
    /// If it can't be read, or if `work` fails.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(Option<&Reader>) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let _turn = self.turns.acquire().await.map_err(|error| PageError::failed(error.to_string()))?;
        let file = self.file.clone();
        let read = tokio::task::spawn_blocking(move || work(Reader::open(&file)?.as_ref()));
        read.await
            .map_err(|_| PageError::failed("the page could not be made; this is an error of Toolsmith"))?
    }

    /// A text that differs after each change of the history: the sizes and times of its file and log.
    pub(crate) fn version(&self) -> String {
        let log = self.file.with_extension("db-wal");
        [self.file.as_path(), &log].map(state).join(".")
    }
}

fn state(file: &Path) -> String {
    file.metadata().map_or_else(
        |_| "none".to_owned(),
        |found| format!("{:x}-{:x}-{:x}-{:x}", found.ino(), found.size(), found.mtime(), found.mtime_nsec()),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_version_differs_after_a_write_to_the_file_or_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("history.db"));
        let mut versions = vec![store.version()];
        for name in ["history.db", "history.db-wal"] {
            fs::write(folder.path().join(name), "written").unwrap();
            versions.push(store.version());
        }
        fs::write(folder.path().join("history.db-wal"), "written again").unwrap();
        versions.push(store.version());
        assert!(versions.windows(2).all(|pair| pair[0] != pair[1]), "{versions:?}");
    }
}
