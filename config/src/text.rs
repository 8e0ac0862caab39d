//! Reads the text of a configuration file, within a size limit.
//!
//! `source` parses it.

use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::Error;

/// Maximum size of a configuration file, in bytes (1 MiB).
const LIMIT: u64 = 1 << 20;

/// Reads a file or a pipe, such as `/dev/stdin` or a shell's `<(…)`, to its end.
pub fn read(path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let wrong = |what: String| {
        Error(format!(
            "the configuration {shown} can't be read: {what}\nhelp: check the path of the configuration file"
        ))
    };
    let io = |error: std::io::Error| wrong(error.to_string());
    // Checked before opening, because opening a device may have effects.
    let kind = fs_err::metadata(path).map_err(io)?.file_type();
    if kind.is_dir() {
        return Err(wrong("it is a folder".to_owned()));
    }
    if !kind.is_file() && !kind.is_fifo() {
        return Err(wrong("it is neither a file nor a pipe".to_owned()));
    }
    // File lengths are unreliable: pipes have none, and files below /proc report 0.
    let mut bytes = Vec::new();
    fs_err::File::open(path).map_err(io)?.take(LIMIT + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Error(format!("the configuration {shown} is larger than {LIMIT} bytes, the maximum")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Error(format!("{shown}:{line}:{column}: this is not UTF-8 text; save the file as UTF-8"))
    })
}
