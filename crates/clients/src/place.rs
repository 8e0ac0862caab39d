//! The locations of clients' configurations.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use config::Error;

use super::Client;
use super::location::Location;
use super::profile::Profile;

/// Which configuration of the client is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ClientScope {
    /// The user's configuration, which applies everywhere.
    #[default]
    User,
    /// The configuration of the project in this folder, which may be shared.
    Project,
}

/// The file of a client to change.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The mode of a new file; the user's own may contain secrets.
    pub(crate) mode: u32,
}

impl Place {
    /// The file for a client and a scope.
    ///
    /// # Errors
    /// If there is no home folder, or the client has no file for projects.
    pub fn of(client: Client, scope: ClientScope) -> Result<Self, Error> {
        let profile = client.profile();
        match scope {
            ClientScope::User => Ok(Place { file: users(profile)?, mode: 0o600 }),
            ClientScope::Project if profile.project.is_empty() => {
                let client = client.word();
                Err(Error::new(format!("{client} has no configuration for single projects"))
                    .hint("leave out --scope project"))
            }
            ClientScope::Project => {
                let here = std::env::current_dir().map_err(|error| {
                    Error::new(format!("the working folder can't be found: {error}")).caused_by(error)
                })?;
                let files: Vec<PathBuf> = profile.project.iter().map(|file| here.join(file)).collect();
                Ok(Place { file: first(&files), mode: 0o644 })
            }
        }
    }
}

/// The client's file for the user.
fn users(profile: &Profile) -> Result<PathBuf, Error> {
    let files: Vec<PathBuf> = profile.files.iter().map(Location::path).collect::<Result<_, _>>()?;
    Ok(first(&files))
}

/// The first file that exists, or whose folder exists, or else the first one.
fn first(files: &[PathBuf]) -> PathBuf {
    let in_folder = |file: &&PathBuf| file.parent().is_some_and(Path::is_dir);
    let found = files.iter().find(|file| file.exists()).or_else(|| files.iter().find(in_folder));
    found.or(files.first()).cloned().unwrap_or_default()
}

/// Whether a client is installed: its folder or file exists, or its program is in the search path.
pub fn is_installed(client: Client) -> bool {
    let profile = client.profile();
    let Ok(file) = users(profile) else { return false };
    let folder = match profile.folder {
        Some(folder) => folder.path().ok(),
        None => file.parent().map(Path::to_owned),
    };
    file.exists()
        || folder.is_some_and(|folder| folder.is_dir())
        || profile.programs.iter().any(|program| which::which_global(program).is_ok())
}

/// The location of a client's configuration, for display.
pub fn described(client: Client, scope: ClientScope) -> String {
    let profile = client.profile();
    match (scope, profile.files, profile.project) {
        (ClientScope::Project, _, [file, ..]) => format!("{file} in the project's folder"),
        (_, [file, ..], _) => file.shown(),
        (_, [], _) => String::new(),
    }
}
