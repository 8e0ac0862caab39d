//! Files: reading, listing, creating and changing them, by name and through links.

use std::fs;
use std::io;

use crate::Arguments;
use crate::numbers::{self, AT_FDCWD};
use crate::system::{old, quiet, terminated};

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
        "symbolic-link" => link(true, path, argument(1)),
        "hard-link" => link(false, path, argument(1)),
        _ => return None,
    })
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
