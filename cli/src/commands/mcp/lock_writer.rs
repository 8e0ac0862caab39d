//! Changing a `toolsmith.lock`: one process at a time, and a project that was trusted with the file stays trusted.

use std::fs::File;
use std::path::{Path, PathBuf};

use mcp::Lock;

use config::trust::{self, ProjectFiles, Trust};
use config::{layers, locks};
use gateway::failure::Failure;

use crate::file_lock::hold;

/// What is said where no lock file has a place.
pub(crate) const NO_LOCK_FILE: &str = "there is no place for the lock file\nhelp: name one with --lock FILE";

/// A lock file that no other process changes before this is dropped.
#[derive(Debug)]
pub(crate) struct LockWriter {
    path: PathBuf,
    /// Its text before.
    before: Option<String>,
    /// What it says, to be changed.
    pub(crate) lock: Lock,
    folder: File,
}

/// The lock file at `path` as it is now; it may be missing, and its folder is made.
pub(crate) fn open(path: &Path) -> Result<LockWriter, Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::configuration(format!("the folder of {} can't be made: {error}", path.display()))
        })?;
    }
    let folder = hold(path)?;
    let before = locks::text(path).map_err(Failure::configuration)?;
    let lock = before.as_deref().map(|text| Lock::parse(text, path)).transpose();
    let lock = lock.map_err(Failure::configuration)?.unwrap_or_default();
    Ok(LockWriter { path: path.to_owned(), before, lock, folder })
}

impl LockWriter {
    /// Writes what it says now; gives whether that is anything else than before. Nothing is written for a lock without
    /// servers where there is no file.
    ///
    /// # Errors
    /// Where the file, or the record of what is trusted, can't be written.
    pub(crate) fn save(self) -> Result<bool, Failure> {
        let after = self.lock.to_text();
        let is_nothing = self.before.is_none() && self.lock.servers.is_empty();
        if is_nothing || self.before.as_ref() == Some(&after) {
            return Ok(false);
        }
        let trusted = self.trusted();
        self.lock.write(&self.path).map_err(Failure::configuration)?;
        // The record may lie in the same folder, which is held while it is written.
        drop(self.folder);
        for (project, text) in trusted {
            trust::record(&project, Some(ProjectFiles::new(&text, Some(&after))))
                .map_err(Failure::configuration)?;
        }
        Ok(true)
    }

    /// The projects that this file belongs to and that are trusted with it as it was, with their configurations.
    fn trusted(&self) -> Vec<(PathBuf, String)> {
        // What a link leads to may lie in a project as well.
        let target = self.path.canonicalize().ok().filter(|target| *target != self.path);
        let files = [Some(self.path.clone()), target].into_iter().flatten();
        let projects = files.filter_map(|file| layers::project_of_lock(&file));
        let trusted = projects.filter_map(|project| {
            let text = config::text::read(&project).ok()?;
            let stated = ProjectFiles::new(&text, self.before.as_deref());
            (trust::of(&project, stated).ok()? == Trust::Given).then_some((project, text))
        });
        trusted.collect()
    }
}
