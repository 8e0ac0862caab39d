//! Files that are read within a bound, and replaced as a whole: readers see all of the old content or all of the new.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read as _, Result, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile};

/// What temporary files are named with, so that one left behind by a power failure says whose it was.
const PREFIX: &str = ".toolsmith-";

/// Who may use a file that is written. The file has these permissions before it has content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone (0600).
    Owner,
    /// Whoever may use the files that this process makes (0666 without what the umask takes).
    Umask,
    /// Exactly these permissions, whatever the umask.
    Mode(u32),
}

/// What a crash of the machine may leave. The end of a process never leaves a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What was written stays: the content reaches the disk before its name, and the name before the writer goes on
    /// (fsync(2) of the file and of its folder). For everything that can't be made again.
    Synced,
    /// The file may be gone, or empty. For caches.
    Unsynced,
}

/// The content of a regular file of at most `limit` bytes; `None` where there is none. Nothing is waited for.
///
/// # Errors
/// Where it can't be read, is longer, or is no regular file: a pipe would be waited for, and a device never ends.
pub fn read(file: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    // Returns at once, whatever the file is (open(2)).
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !opened.metadata()?.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    opened.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::other(format!("it has more than {limit} bytes")));
    }
    Ok(Some(bytes))
}

/// Writes `content` to the file at `path`, in place of what is there.
///
/// # Errors
/// Those of [`Replacement`]. What was there before stays then.
pub fn replace(path: &Path, content: &[u8], access: Access, durability: Durability) -> Result<()> {
    let mut new = Replacement::begin(path, access, durability)?;
    new.write_all(content)?;
    new.replace()
}

/// Writes `content` to the file at `path`, where nothing is yet.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`], where something is; and those of [`Replacement`].
pub fn create(path: &Path, content: &[u8], access: Access, durability: Durability) -> Result<()> {
    let mut new = Replacement::begin(path, access, durability)?;
    new.write_all(content)?;
    new.create()
}

/// A file that is being written: it is at its path when it is whole, and goes away when this is dropped before.
///
/// A link at the path is replaced itself, not what it leads to.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    new: NamedTempFile,
    /// Where the name is to reach the disk.
    synced: Option<File>,
}

impl Replacement {
    /// Begins the file that is to be at `path`, in the same folder.
    ///
    /// # Errors
    /// Where the folder is missing or can't be written, and, for [`Durability::Synced`], where it can't be opened.
    pub fn begin(path: &Path, access: Access, durability: Durability) -> Result<Self> {
        let folder = folder_of(path);
        // First: nothing may be replaced that can't be synced.
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

    /// Puts the file in place of what is at its path.
    ///
    /// # Errors
    /// Where it can't be written to the disk or renamed.
    pub fn replace(self) -> Result<()> {
        self.put(|new, path| new.persist(path))
    }

    /// Puts the file at its path, where nothing is yet.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`], where something is; and where it can't be written to the disk or linked.
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

/// The folder of the file at `path`; the working folder where the path names none.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Some file systems sync no folders and say so with EINVAL (fsync(2)): there a name is as durable as they make it.
fn sync_folder(folder: &File) -> Result<()> {
    match folder.sync_all() {
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
