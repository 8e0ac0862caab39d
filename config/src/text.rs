//! The text of a configuration file, read within a limit.
//!
//! What it means is `source`'s job.

use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::Error;

/// Largest configuration file, in bytes (1 MiB).
const LIMIT: u64 = 1 << 20;

/// The text of `path`: a file, or a pipe such as `/dev/stdin` and `<(…)` of shells, which is read to its end.
pub fn read(path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let wrong = |what: String| {
        Error(format!(
            "the configuration {shown} can't be read: {what}\nhelp: check the path of the configuration file"
        ))
    };
    let io = |error: std::io::Error| wrong(error.to_string());
    // Asked before it is opened: to open a device may do something.
    let kind = fs_err::metadata(path).map_err(io)?.file_type();
    if kind.is_dir() {
        return Err(wrong("it is a folder".to_owned()));
    }
    if !kind.is_file() && !kind.is_fifo() {
        return Err(wrong("it is neither a file nor a pipe".to_owned()));
    }
    // The length that a file claims says nothing: pipes have none, and files below /proc claim 0.
    let mut bytes = Vec::new();
    fs_err::File::open(path).map_err(io)?.take(LIMIT + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Error(format!(
            "the configuration {shown} has more than {LIMIT} bytes, which is the limit"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Error(format!("{shown}:{line}:{column}: this is no UTF-8 text; save the file as UTF-8"))
    })
}
