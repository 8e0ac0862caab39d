//! Reads the text of a configuration file, within a size limit.
//!
//! `source` parses it.

use std::io;
use std::path::Path;

use report::{Place, Problem};

use super::Error;

/// Maximum size of a configuration file, in bytes (1 MiB).
const LIMIT: u64 = 1 << 20;

/// Reads a file, or what the user gives to this process as `/dev/stdin` or a shell's `<(…)`, to its end.
pub fn read(path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let wrong = |what: &str| {
        Error::new(format!("the configuration {shown} can't be read: {what}"))
            .hint("check the path of the configuration file")
    };
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => wrong("there is no such file").caused_by(error),
        _ => wrong(&error.to_string()).caused_by(error),
    };
    let read = system::file::read_named(path, LIMIT).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            Error::new(format!("the configuration {shown} is larger than {LIMIT} bytes, the maximum"))
        }
        io::ErrorKind::IsADirectory => wrong("it is a folder"),
        _ => io(error),
    })?;
    let bytes = read.ok_or_else(|| io(io::ErrorKind::NotFound.into()))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        let (file, line, column) = (shown.to_string(), line as u64, Some(column as u64));
        let place = Place { file, line, column, excerpt: None };
        Error::of(vec![Problem::at(place, "this is not UTF-8 text; save the file as UTF-8")]).caused_by(error)
    })
}
