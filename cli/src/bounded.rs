//! Reading files of the user's own within a bound, and without waiting for anything.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The content of a regular file of at most `limit` bytes; `None` where there is none.
///
/// # Errors
/// Where it can't be read, is longer, or is no regular file: a pipe would be waited for, and a device never ends.
pub(crate) fn read(file: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
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
    opened.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::other(format!("it has more than {limit} bytes")));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_is_no_file_or_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(read(&file, 3).unwrap(), None);
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(read(&file, 3).unwrap().as_deref(), Some(&b"abc"[..]));
        assert!(read(&file, 2).unwrap_err().to_string().contains("more than 2 bytes"));
        assert!(read(folder.path(), 3).is_err());
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(read(&pipe, 3).unwrap_err().to_string().contains("regular file"));
        assert!(read(std::path::Path::new("/dev/zero"), 3).is_err());
    }
}
