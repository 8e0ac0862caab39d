//! Replaces a file atomically.

use std::io::{Error, Result, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use system::file::{Access, Durability, Replacement};

/// Writes `text` to the file at `path`, which had the text `before`, or did not exist.
///
/// A symbolic link is kept, and its target is replaced. The file keeps its mode; a new one gets `mode`, and its folder
/// is created.
///
/// # Errors
/// If the file or its folder can't be written, or the file has changed.
pub(crate) fn replace(path: &Path, before: Option<&str>, text: &str, mode: u32) -> Result<()> {
    let target = if before.is_some() { path.canonicalize()? } else { path.to_owned() };
    let mode = match before {
        Some(_) => std::fs::metadata(&target)?.permissions().mode() & 0o777,
        None => {
            config::create_folder_of(&target)?;
            mode
        }
    };
    let mut new = Replacement::begin(&target, Access::Mode(mode), Durability::Synced)?;
    new.write_all(text.as_bytes())?;
    let Some(before) = before else { return new.create() };
    if std::fs::read(&target)? != before.as_bytes() {
        return Err(Error::other("it has changed in the meantime; try again"));
    }
    new.replace()
}
