//! Which projects' configurations are trusted: a file of the user's with a hash for each.
//!
//! Showing what a configuration would do, and asking, is the command's job (`trust_command`).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{self, Error};

/// The file's name, in the user's folder of configurations.
const FILE: &str = "trusted.json";

/// Largest such file, in bytes (16 MiB): some hundred thousand projects.
const LIMIT: u64 = 16 << 20;

/// Whether a configuration is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// With exactly these bytes.
    Given,
    /// It was, with other bytes.
    Changed,
    /// It never was.
    Missing,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trusted {
    version: u32,
    /// Hashes by absolute paths.
    files: BTreeMap<String, String>,
}

/// Whether `bytes` is what was trusted of the configuration at `path`.
///
/// # Errors
/// Where the record can't be read: then nothing is known to be trusted.
pub(crate) fn of(path: &Path, bytes: &[u8]) -> Result<Trust, Error> {
    let Some(file) = file() else { return Ok(Trust::Missing) };
    let known = read(&file)?.files;
    Ok(match known.get(&key(path)?) {
        Some(known) if *known == hash(bytes) => Trust::Given,
        Some(_) => Trust::Changed,
        None => Trust::Missing,
    })
}

/// Records that `bytes` is trusted as the configuration at `path`; `None` takes the trust back.
///
/// # Errors
/// Where the record can't be read or written.
pub(crate) fn record(path: &Path, bytes: Option<&[u8]>) -> Result<(), Error> {
    let file = file().ok_or_else(|| {
        Error::new("there is no folder for what is trusted\nhelp: set HOME, or XDG_CONFIG_HOME".to_owned())
    })?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let io = |error: std::io::Error| {
        Error::new(format!("{} can't be written: {error}\nhelp: check its folder", file.display()))
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
    // Two commands at once must not forget what the other has recorded.
    let held = std::fs::File::open(folder).map_err(io)?;
    held.lock().map_err(io)?;
    let mut trusted = read(&file)?;
    trusted.version = 1;
    let key = key(path)?;
    match bytes {
        Some(bytes) => trusted.files.insert(key, hash(bytes)),
        None => trusted.files.remove(&key),
    };
    let mut text = serde_json::to_vec_pretty(&trusted).map_err(|error| io(error.into()))?;
    text.push(b'\n');
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
    new.as_file().set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(io)?;
    new.write_all(&text).map_err(io)?;
    new.as_file().sync_all().map_err(io)?;
    new.persist(&file).map_err(|error| io(error.error))?;
    held.sync_all().map_err(io)
}

/// The record's file. It may be missing.
pub(crate) fn file() -> Option<PathBuf> {
    config::user_folder().map(|folder| folder.join(FILE))
}

fn read(file: &Path) -> Result<Trusted, Error> {
    let wrong = |what: String| {
        Error::new(format!(
            "what is trusted can't be read from {}: {what}\nhelp: remove the file, and trust your projects again",
            file.display()
        ))
    };
    match fs_err::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Trusted::default()),
        Err(error) => return Err(wrong(error.to_string())),
        Ok(metadata) if metadata.len() > LIMIT => {
            return Err(wrong(format!("it has more than {LIMIT} bytes")));
        }
        Ok(_) => {}
    }
    let bytes = fs_err::read(file).map_err(|error| wrong(error.to_string()))?;
    strict_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
}

/// The absolute path without links: a project is the same by whatever way one gets there.
fn key(path: &Path) -> Result<String, Error> {
    let path = path
        .canonicalize()
        .map_err(|error| Error::new(format!("{} can't be found: {error}", path.display())))?;
    // A path that is no UTF-8 is kept by its bytes.
    Ok(path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
