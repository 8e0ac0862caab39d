//! Folders and files that only this user can use, whatever the umask: folders have the mode 0700, files 0600.
//!
//! A folder that others own or can write is refused, because what is in it may be theirs.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::process::geteuid;
use tempfile::{Builder, TempDir};

use crate::file::{self, folder_of};

/// The mode of folders and executables.
const FOLDER: u32 = 0o700;

/// The mode of other files.
const FILE: u32 = 0o600;

/// Group and others may write.
const WRITABLE: u32 = 0o022;

/// Group and others have any permission.
const OPEN: u32 = 0o077;

/// Creates a folder and its missing parents, and checks it as [`check`] does.
///
/// # Errors
/// If it can't be created, or fails [`check`].
pub fn create(folder: &Path) -> Result<()> {
    create_inside(folder)?;
    check(folder)
}

/// Creates a folder in one that is private, and its missing parents.
///
/// # Errors
/// If it can't be created.
pub fn create_inside(folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(folder)
}

/// A folder for a while, in the system's folder of temporary files; it is removed when dropped.
///
/// # Errors
/// If it can't be created.
pub fn temporary() -> Result<TempDir> {
    Builder::new().permissions(Permissions::from_mode(FOLDER)).tempdir()
}

/// Checks a folder of this program. One that others can only read, as older versions made it, is closed to them. A
/// missing one is no error.
///
/// # Errors
/// If others own it or can write to it; the text has the command that repairs that.
pub fn check(folder: &Path) -> Result<()> {
    let Some(found) = found(folder)? else { return Ok(()) };
    refuse_foreign(folder, &found)?;
    refuse_writable(folder, &found)?;
    if found.mode() & OPEN != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(found.mode() & 0o7700))?;
    }
    Ok(())
}

/// Checks a folder with settings of the user, which others may read. It may be the administrator's, as in a container.
///
/// # Errors
/// If another user owns it, or others can write to this user's; the text has the command that repairs that.
pub fn check_settings(folder: &Path) -> Result<()> {
    match found(folder)? {
        None => Ok(()),
        Some(found) if found.uid() == 0 && !geteuid().is_root() => Ok(()),
        Some(found) => refuse_foreign(folder, &found).and_then(|()| refuse_writable(folder, &found)),
    }
}

/// Reads a file that decides what is trusted or permitted, from a folder that [`check_settings`] accepts.
///
/// # Errors
/// If the folder fails [`check_settings`], or the file can't be read.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    check_settings(folder_of(path))?;
    file::read(path, limit)
}

/// Writes a new file, or replaces the content of an existing one.
///
/// # Errors
/// If it can't be written.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    open(path)?.write_all(content)
}

/// Opens an empty file for writing.
///
/// # Errors
/// If it can't be created.
pub fn open(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(FILE).open(path)
}

/// Takes the permissions of group and others from a file. It stays executable for its owner.
///
/// # Errors
/// If they can't be changed.
pub fn close(path: &Path, found: &Metadata) -> Result<()> {
    let mode = if found.mode() & 0o111 == 0 { FILE } else { FOLDER };
    if found.mode() & 0o777 == mode {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

fn found(folder: &Path) -> Result<Option<Metadata>> {
    match std::fs::metadata(folder) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn refuse_foreign(folder: &Path, found: &Metadata) -> Result<()> {
    let own = geteuid().as_raw();
    if found.uid() == own {
        return Ok(());
    }
    let shown = quoted(folder);
    let message = format!(
        "{shown} belongs to another user ({}), who can change what is in it; if it is yours: sudo chown -R {own} {shown}",
        found.uid()
    );
    Err(Error::new(ErrorKind::PermissionDenied, message))
}

fn refuse_writable(folder: &Path, found: &Metadata) -> Result<()> {
    if found.mode() & WRITABLE == 0 {
        return Ok(());
    }
    let shown = quoted(folder);
    let message = format!(
        "other users can write to {shown} (mode {:04o}); if you trust what is in it: chmod -R go-w {shown}",
        found.mode() & 0o7777
    );
    Err(Error::new(ErrorKind::PermissionDenied, message))
}

/// A path as a word for a shell.
fn quoted(path: &Path) -> String {
    let shown = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:".contains(&byte);
    if shown.bytes().all(is_plain) { shown } else { format!("'{}'", shown.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
