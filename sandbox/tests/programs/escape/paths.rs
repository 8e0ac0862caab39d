//! Files: reading, listing, creating and changing them, by name and through links.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;

use crate::Arguments;
use crate::numbers::{self, AT_FDCWD};
use crate::system::{address, call, old, quiet, terminated};

pub(crate) fn attempt(name: &str, argument: Arguments<'_>) -> Option<io::Result<String>> {
    let path = argument(0);
    let bytes = terminated(path);
    let pointer = bytes.as_ptr() as i64;
    Some(match name {
        "read" => fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).replace('\n', " ")),
        "list" => fs::read_dir(path).map(|entries| entries.count().to_string()),
        "stat" => fs::metadata(path).map(|status| status.len().to_string()),
        "create" => fs::write(path, "created").map(|()| String::new()),
        "truncate" => quiet(numbers::TRUNCATE, [pointer, 0]),
        "chmod" => old(&numbers::CHMOD, &[pointer, 0o755]).map(|_| String::new()),
        "touch" => quiet(numbers::UTIMENSAT, [AT_FDCWD, pointer, 0, 0]),
        "attribute" => {
            let (key, value) = (terminated("user.escape"), b"x");
            quiet(numbers::SETXATTR, [pointer, key.as_ptr() as i64, value.as_ptr() as i64, 1, 0])
        }
        "file-flags" => file_flags(path),
        "climb" => climb(path),
        "symbolic-link" => link(true, path, argument(1)),
        "hard-link" => link(false, path, argument(1)),
        _ => return None,
    })
}

/// Requests of ioctl(2) for the flags of a file (linux/fs.h), and the flag that its time of access is not kept.
const FS_IOC_GETFLAGS: i64 = 0x8008_6601;
const FS_IOC_SETFLAGS: i64 = 0x4008_6602;
const FS_NOATIME_FL: i64 = 0x80;

/// Changes a file's flags with a descriptor for reading.
fn file_flags(path: &str) -> io::Result<String> {
    let file = fs::File::open(path)?;
    let descriptor = i64::from(file.as_raw_fd());
    let flags = std::hint::black_box([0_i64]);
    call(numbers::IOCTL, [descriptor, FS_IOC_GETFLAGS, address(&flags)])?;
    let changed = [std::hint::black_box(flags)[0] ^ FS_NOATIME_FL];
    quiet(numbers::IOCTL, [descriptor, FS_IOC_SETFLAGS, address(&changed)])
}

/// Reads a path from as far up as it gets.
fn climb(path: &str) -> io::Result<String> {
    (0..64).try_for_each(|_| std::env::set_current_dir(".."))?;
    fs::read_to_string(path.trim_start_matches('/'))
}

/// Creates a link to a secret, and reads the secret through it.
fn link(symbolic: bool, target: &str, link: &str) -> io::Result<String> {
    let make = if symbolic { std::os::unix::fs::symlink } else { hard };
    make(target, link)?;
    fs::read_to_string(link)
}

fn hard(target: &str, link: &str) -> io::Result<()> {
    fs::hard_link(target, link)
}
