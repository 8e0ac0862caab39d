//! The user's folders: cache, state and configuration.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::error::Error;

/// The folder of the cache: `TOOLSMITH_CACHE_DIR`, or the user's cache folder.
pub fn cache_folder() -> Result<PathBuf, Error> {
    if let Some(folder) = std::env::var_os("TOOLSMITH_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return std::path::absolute(&folder).map_err(|error| {
            Error::new(format!("TOOLSMITH_CACHE_DIR={} is not a usable folder: {error}", folder.display()))
                .caused_by(error)
        });
    }
    etcetera::choose_base_strategy().map(|base| base.cache_dir().join("toolsmith")).map_err(|error| {
        Error::new(format!("no cache folder: {error}"))
            .caused_by(error)
            .hint("set HOME or TOOLSMITH_CACHE_DIR")
    })
}

/// The user's folder for state kept between runs: `$XDG_STATE_HOME/toolsmith`. Only this user can use it.
///
/// # Errors
/// If there is none, or others own it or can write to it.
pub fn state_folder() -> Result<PathBuf, Error> {
    let folder = state_path()?;
    system::private::check(&folder).map_err(|error| unusable("state", &folder, error, "XDG_STATE_HOME"))?;
    Ok(folder)
}

/// The error of a folder whose place `variable` determines.
pub(super) fn unusable(what: &str, folder: &Path, error: std::io::Error, variable: &str) -> Error {
    // The text of a refused folder has the command that repairs it.
    let advice = match error.kind() {
        std::io::ErrorKind::PermissionDenied => String::new(),
        _ => format!("{}, ", system::file::advice(&error)),
    };
    Error::new(format!("the {what} folder {} can't be used: {error}", folder.display()))
        .caused_by(error)
        .hint(format!("{advice}or name another folder in {variable}"))
}

/// Where [`state_folder`] is, whether or not it can be used.
pub(super) fn state_path() -> Result<PathBuf, Error> {
    let base = etcetera::choose_base_strategy().map_err(|error| {
        Error::new(format!("no state folder: {error}")).caused_by(error).hint("set HOME or XDG_STATE_HOME")
    })?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("toolsmith"))
}

/// The user's folder for unpacked bundles of servers: `$XDG_DATA_HOME/toolsmith/bundles`. Only this user can use it.
///
/// # Errors
/// If there is none, or others own it or can write to it.
pub fn bundles_folder() -> Result<PathBuf, Error> {
    let folder = bundles_path()?;
    system::private::check(&folder).map_err(|error| unusable("bundles", &folder, error, "XDG_DATA_HOME"))?;
    Ok(folder)
}

/// Where [`bundles_folder`] is, whether or not it can be used.
pub(super) fn bundles_path() -> Result<PathBuf, Error> {
    let base = etcetera::choose_base_strategy().map_err(|error| {
        Error::new(format!("no folder for bundles: {error}"))
            .caused_by(error)
            .hint("set HOME or XDG_DATA_HOME")
    })?;
    Ok(base.data_dir().join("toolsmith").join("bundles"))
}

/// The user's folder for configurations.
pub fn user_folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("toolsmith"))
}

/// Creates the folder of a file: privately in the user's folder, otherwise with the user's umask.
pub fn create_folder_of(file: &Path) -> std::io::Result<()> {
    let folder = system::file::folder_of(file);
    if is_the_users(folder) {
        system::private::create_inside(folder)
    } else {
        std::fs::create_dir_all(folder)
    }
}

/// The permissions of a new file: private in the user's folder, otherwise those of the user's umask.
pub fn access_of(file: &Path) -> system::file::Access {
    use system::file::Access;
    if is_the_users(file) { Access::Owner } else { Access::Umask }
}

fn is_the_users(path: &Path) -> bool {
    user_folder().is_some_and(|folder| path.starts_with(folder))
}

/// The folder of saved programs in the user's folder, and in [`INNER`] of a project.
pub(super) const PROGRAMS: &str = "programs";

/// The folder of Toolsmith's files in a project.
const INNER: &str = ".toolsmith";

/// The folder of a project's saved programs; `folder` is the project's, or the one of Toolsmith's files in it.
pub(super) fn project_programs(folder: &Path) -> PathBuf {
    let is_inner = folder.file_name().is_some_and(|name| name == INNER);
    if is_inner { folder.join(PROGRAMS) } else { folder.join(INNER).join(PROGRAMS) }
}
