//! Reads files up to a size limit and replaces them atomically: readers see all of the old content or all of the new.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read as _, Result, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile};

/// Prefix of temporary files, so that one left behind by a power failure can be attributed.
const PREFIX: &str = ".toolsmith-";

/// Permissions of a written file. They are set before it has content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only its owner (0600).
    Owner,
    /// The process's default (0666 minus the umask).
    Umask,
    /// Exactly these permissions, whatever the umask.
    Mode(u32),
}

/// Says what to do about a file or folder that can't be created or written.
#[must_use]
pub fn advice(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space there"
        }
        ErrorKind::ReadOnlyFilesystem => "its disk can only be read: mount it writable",
        ErrorKind::PermissionDenied => {
            "it is not yours, or not writable: change its owner or its permissions"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file is where a folder must be: move that file away"
        }
        _ => "check its folder",
    }
}

/// The part of a write that survives a crash of the machine. A crash of the process never leaves a partial file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The file survives: its content reaches the disk before its name, and its name before the call returns (fsync(2)
    /// of the file and of its folder). For everything that can't be recreated.
    Synced,
    /// The file may be missing or empty. For caches.
    Unsynced,
}

/// Returns the content of a regular file of at most `limit` bytes; `None` if the file does not exist. Never blocks on a
/// pipe.
///
/// # Errors
/// If it can't be read, is longer, or is not a regular file: a pipe would block, and a device never ends.
pub fn read(file: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    // Keeps open(2) from blocking.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let kind = opened.metadata()?.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    to_end(opened, limit).map(Some)
}

/// Like [`read`], for a file that a user names. A pipe that the user has given to this process is read as well, until its
/// writer closes it: `/dev/stdin`, and the `/dev/fd/N` of a shell's `<(…)`. Any other pipe could be waited for without an
/// end, and opening a device may have effects.
///
/// # Errors
/// If it can't be read, or is neither a regular file nor such a pipe; [`ErrorKind::FileTooLarge`] if it is longer than
/// `limit`.
pub fn read_named(file: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    if !is_descriptor(file) {
        return read(file, limit);
    }
    let opened = File::open(file)?;
    let kind = opened.metadata()?.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    to_end(opened, limit).map(Some)
}

/// Whether a path names an open file of this process.
fn is_descriptor(path: &Path) -> bool {
    let is_number = |name: &OsStr| !name.is_empty() && name.as_bytes().iter().all(u8::is_ascii_digit);
    match (path.parent().and_then(Path::to_str), path.file_name()) {
        (Some("/dev"), Some(name)) => name == "stdin",
        (Some("/dev/fd" | "/proc/self/fd"), Some(name)) => is_number(name),
        _ => false,
    }
}

fn to_end(opened: File, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// Writes `content` to `path`, replacing any existing file.
///
/// # Errors
/// Returns the errors of [`Replacement`]. The existing file is then unchanged.
pub fn replace(path: &Path, content: &[u8], access: Access, durability: Durability) -> Result<()> {
    let mut new = Replacement::begin(path, access, durability)?;
    new.write_all(content)?;
    new.replace()
}

/// Writes `content` to a new file at `path`.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if `path` exists; and those of [`Replacement`].
pub fn create(path: &Path, content: &[u8], access: Access, durability: Durability) -> Result<()> {
    let mut new = Replacement::begin(path, access, durability)?;
    new.write_all(content)?;
    new.create()
}

/// A file being written. It appears at its path once complete, and is removed if this is dropped before that.
///
/// A symbolic link at the path is itself replaced, not its target.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    new: NamedTempFile,
    /// The folder to sync, if the name must reach the disk.
    synced: Option<File>,
}

impl Replacement {
    /// Starts writing the file for `path`, in the same folder.
    ///
    /// # Errors
    /// If the folder is missing or can't be written, and, for [`Durability::Synced`], if it can't be opened.
    pub fn begin(path: &Path, access: Access, durability: Durability) -> Result<Self> {
        let folder = folder_of(path);
        // First: if the folder can't be synced, nothing may be replaced.
        let synced = (durability == Durability::Synced).then(|| File::open(folder)).transpose()?;
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        if access == Access::Umask {
            builder.permissions(Permissions::from_mode(0o666));
        }
        let new = builder.tempfile_in(folder)?;
        if let Access::Mode(mode) = access {
            new.as_file().set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(Replacement { path: path.to_owned(), new, synced })
    }

    /// Moves the file to its path, replacing any existing file.
    ///
    /// # Errors
    /// If it can't be written to the disk or renamed.
    pub fn replace(self) -> Result<()> {
        self.put(|new, path| new.persist(path))
    }

    /// Moves the file to its path, which must not exist.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the path exists; and if the file can't be written to the disk or linked.
    pub fn create(self) -> Result<()> {
        self.put(|new, path| new.persist_noclobber(path))
    }

    fn put(
        self,
        persist: impl FnOnce(NamedTempFile, &Path) -> std::result::Result<File, tempfile::PersistError>,
    ) -> Result<()> {
        if self.synced.is_some() {
            self.new.as_file().sync_all()?;
        }
        persist(self.new, &self.path).map_err(|error| error.error)?;
        self.synced.as_ref().map_or(Ok(()), sync_folder)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.new.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.new.flush()
    }
}

/// Returns the folder of the file at `path`; the working folder if the path has no folder.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs a folder. Some file systems cannot and return EINVAL (fsync(2)); names are then as durable as they make them.
fn sync_folder(folder: &File) -> Result<()> {
    match folder.sync_all() {
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
