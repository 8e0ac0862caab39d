//! Changes a lock file, in one process at a time. A project that was trusted with the file stays trusted.

use std::fs::File;
use std::path::{Path, PathBuf};

use clients::file_lock::hold;
use mcp::Lock;

use config::trust::{self, ProjectFiles, Trust};
use config::{Config, layers, locks};
use gateway::failure::Failure;

/// The error if the servers have no lock file.
pub(crate) fn no_lock_file(config: &Config) -> Failure {
    let message = match config.is_demo() {
        true => "the demo server has no lock file",
        false => "there is no folder for the lock file",
    };
    Failure::command_line(message).hint("name a file with --lock FILE")
}

/// A lock file that no other process changes until this value is dropped.
#[derive(Debug)]
pub(crate) struct LockWriter {
    path: PathBuf,
    /// The original text.
    before: Option<String>,
    /// The parsed content, which the caller changes.
    pub(crate) lock: Lock,
    folder: File,
}

/// Opens the lock file at `path`, which may be missing. Creates its folder.
pub(crate) fn open(path: &Path) -> Result<LockWriter, Failure> {
    {
        config::create_folder_of(path).map_err(|error| {
            Failure::command_line(format!("the folder of {} can't be created: {error}", path.display()))
        })?;
    }
    let folder = hold(path)?;
    let before = locks::text(path)?;
    let lock = before.as_deref().map(|text| Lock::parse(text, path)).transpose();
    let lock = lock?.unwrap_or_default();
    Ok(LockWriter { path: path.to_owned(), before, lock, folder })
}

impl LockWriter {
    /// Writes the file if its text has changed, and returns whether it did. Does not create a file for a lock without
    /// servers.
    ///
    /// # Errors
    /// If the file or the record of trusted projects can't be written.
    pub(crate) fn save(self) -> Result<bool, Failure> {
        let after = self.lock.to_text();
        let is_empty = self.before.is_none() && self.lock.servers.is_empty();
        if is_empty || self.before.as_ref() == Some(&after) {
            return Ok(false);
        }
        let trusted = self.trusted();
        self.lock.write(&self.path)?;
        // The record may be in the same folder, which its writer locks.
        drop(self.folder);
        for (project, text) in trusted {
            trust::record(&project, Some(ProjectFiles::new(&text, Some(&after))))?;
        }
        Ok(true)
    }

    /// The projects of this file that are trusted with its original text, with the texts of their configurations.
    fn trusted(&self) -> Vec<(PathBuf, String)> {
        // The target of a symbolic link may belong to a project as well.
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
