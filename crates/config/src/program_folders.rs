//! The folders of saved programs: the user's, and the project's if its configuration is trusted.

use std::path::{Path, PathBuf};

use super::folders::{PROGRAMS, project_programs, user_folder};
use super::locks::{LOCK, LockFile};
use super::trust::{self, ProjectFiles, Trust};
use super::{Error, layers, text};

/// The folders of saved programs. They may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFolders {
    /// The user's own; `None` if the user has no configuration folder.
    pub user: Option<PathBuf>,
    /// The project's; `None` if it is not trusted.
    pub project: Option<PathBuf>,
    /// The reason why the project's programs are left out, if it has any, as a sentence for the user.
    pub left_out: Option<String>,
}

impl ProgramFolders {
    /// Returns the folders for the project in `folder`.
    ///
    /// # Errors
    /// If the project's configuration or the trust record can't be read.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let user = user_folder().map(|folder| folder.join(PROGRAMS));
        let project = project_programs(folder);
        let why = match trust_of(folder)? {
            Some(Trust::Given) => return Ok(ProgramFolders { user, project: Some(project), left_out: None }),
            Some(Trust::Changed | Trust::LockChanged) => {
                "its configuration has changed since it was trusted: review it with `toolsmith trust`"
            }
            Some(Trust::Missing) => "its configuration is not trusted: review it with `toolsmith trust`",
            None => {
                "it has no configuration that could be trusted: create toolsmith.yaml, and trust it with \
                     `toolsmith trust`"
            }
        };
        let left_out = project
            .is_dir()
            .then(|| format!("the programs of this project, in {}, are left out: {why}", project.display()));
        Ok(ProgramFolders { user, project: None, left_out })
    }
}

/// Whether the configuration of the project in `folder` is trusted; `None` if there is none.
fn trust_of(folder: &Path) -> Result<Option<Trust>, Error> {
    let Some(file) = layers::project_file(folder)? else { return Ok(None) };
    let (text, lock) = (text::read(&file)?, LockFile::read(file.with_file_name(LOCK))?);
    trust::of(&file, ProjectFiles::new(&text, lock.text.as_deref())).map(Some)
}
