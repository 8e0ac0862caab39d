//! A lock that lets one process at a time change a file.

use std::fs::File;
use std::path::Path;

use report::{Kind, Report};

/// Locks the file's folder (flock(2)) until the result is dropped or the process ends, so that no other process changes
/// the file.
///
/// # Errors
/// If the folder can't be locked.
pub fn hold(file: &Path) -> Result<File, Report> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let held = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    held.map_err(|error| {
        Report::new(Kind::CommandLine, format!("the folder {} can't be locked: {error}", folder.display()))
    })
}
