//! The log file: opened privately, appended to by whole lines, and reopened after rotation.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// Readable and writable by the owner only.
const MODE: u32 = 0o600;

/// A file that is appended to.
#[derive(Debug)]
pub(crate) struct Appended {
    file: File,
    /// Device and inode number, to recognize when the path names another file.
    identity: (u64, u64),
    /// Whether its last line is incomplete, because a write of any process was cut short.
    is_torn: bool,
}

impl Appended {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
                // Otherwise a file in place of the folder would only cause "File exists".
                let message = format!("its folder {} can't be created: {error}", folder.display());
                io::Error::new(error.kind(), message)
            })?;
        }
        // A pipe would block, and a link would point elsewhere.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true).mode(MODE).custom_flags(flags);
        let mut file = options.open(path).map_err(|error| match error.raw_os_error() {
            Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => refused("it is a symbolic link"),
            _ => error,
        })?;
        let status = file.metadata()?;
        if !status.is_file() {
            return Err(refused("it is not a regular file"));
        }
        if status.uid() != geteuid().as_raw() {
            return Err(refused("it belongs to another user"));
        }
        if status.nlink() > 1 {
            return Err(refused("it has a second name (hard link)"));
        }
        if status.mode() & 0o777 != MODE {
            file.set_permissions(Permissions::from_mode(MODE))?;
        }
        let is_torn = is_torn(&mut file)?;
        Ok(Appended { file, identity: (status.dev(), status.ino()), is_torn })
    }

    #[cfg(test)]
    pub(crate) fn replace_file(&mut self, file: File) {
        self.file = file;
    }

    /// Appends a line to the file that the path names now.
    pub(crate) fn append(&mut self, path: &Path, line: &[u8]) -> io::Result<()> {
        let now = std::fs::symlink_metadata(path);
        if !now.is_ok_and(|status| (status.dev(), status.ino()) == self.identity) {
            *self = Self::open(path)?;
        }
        let repaired;
        let line = if self.is_torn {
            repaired = [b"\n", line].concat();
            &repaired
        } else {
            line
        };
        loop {
            match self.file.write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) if written < line.len() => {
                    self.is_torn |= written > 0;
                    return Err(io::Error::new(
                        io::ErrorKind::StorageFull,
                        "no space is left for the record",
                    ));
                }
                Ok(_) => {
                    self.is_torn = false;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}
