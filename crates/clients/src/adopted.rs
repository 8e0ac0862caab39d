//! The record of what `adopt` has changed, from which everything can be put back. It is written before any other file is
//! changed, so an interruption at any point can be undone.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use config::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use system::file::{self, Access, Durability};

use crate::file::LIMIT;
use crate::file_lock::hold;

/// The version of the record's form.
const VERSION: u32 = 1;

/// The name of the folder with the records, in the state folder.
const FOLDER: &str = "adopted";

/// A file that was changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The file.
    pub path: PathBuf,
    /// The text before; `None` if there was no file.
    pub before: Option<String>,
    /// The BLAKE3 hash of the text that was written.
    after: String,
}

impl Changed {
    /// A file with its texts before and after the change.
    pub fn new(path: &Path, before: Option<&str>, after: &str) -> Self {
        Changed { path: path.to_owned(), before: before.map(str::to_owned), after: hash(after) }
    }

    /// Whether the file still has the text that was written.
    pub fn is_as_written(&self, now: Option<&str>) -> bool {
        now.is_some_and(|now| hash(now) == self.after)
    }

    /// Whether the file has its earlier text: it was not changed, or has been put back.
    pub fn is_as_before(&self, now: Option<&str>) -> bool {
        self.before.as_deref() == now
    }
}

/// A server that was moved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// Its name in the client's file.
    pub given: String,
    /// Its entry in the client's file.
    pub was: Json,
    /// Its name in Toolsmith's configuration.
    pub name: String,
    /// Its entry in Toolsmith's configuration.
    pub entry: Json,
    /// The entry of this name that it replaced.
    pub replaced: Option<Json>,
    /// Whether Toolsmith's configuration already had it, and keeps it.
    pub is_there: bool,
}

/// One adoption.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adoption {
    /// The client's file.
    pub client: Changed,
    /// Toolsmith's configuration.
    pub config: Changed,
    /// The servers that were moved.
    pub servers: Vec<Moved>,
    /// The name of Toolsmith's entry, if `adopt` has added it.
    pub added: Option<String>,
}

/// Common to all versions of the form.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u32,
    adoptions: Vec<Adoption>,
}

/// The adoptions of one file of a client, the latest last.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    /// No other process changes the record until this is dropped.
    _held: File,
    /// The adoptions.
    pub adoptions: Vec<Adoption>,
}

impl Record {
    /// Reads and locks the record for a client's file; it is empty if there is none. Its folder is created, and only the
    /// user can read it.
    ///
    /// # Errors
    /// If it can't be read, or is of another version.
    pub fn open(client: &str, file: &Path) -> Result<Self, Error> {
        let hash = hash(&file.to_string_lossy());
        let name = format!("{client}-{}.json", hash.get(..16).unwrap_or_default());
        let folder = config::state_folder()?.join(FOLDER);
        let path = folder.join(name);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| unwritable(&path, error))?;
        let held = hold(&path).map_err(|report| Error::of(report.problems))?;
        let wrong = |what: String| {
            Error::new(format!("the record {} can't be used: {what}", path.display()))
                .hint("move it away; the previous texts of the files are in it")
        };
        // A record holds two files of each adoption.
        let Some(bytes) = file::read(&path, 4 * LIMIT).map_err(|error| wrong(error.to_string()))? else {
            return Ok(Record { path, _held: held, adoptions: Vec::new() });
        };
        // Another version may have other members.
        let header: Header = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if header.version != VERSION {
            let what = format!("it has version {}, and this Toolsmith knows {VERSION}", header.version);
            return Err(wrong(what).hint("if a newer Toolsmith has written it, use that one"));
        }
        let form: Form = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        Ok(Record { path, _held: held, adoptions: form.adoptions })
    }

    /// Writes the record durably, or deletes it if it is empty.
    ///
    /// # Errors
    /// If that fails. The file is then unchanged.
    pub fn save(&self) -> Result<(), Error> {
        if self.adoptions.is_empty() {
            return match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(unwritable(&self.path, error))
                }
                _ => Ok(()),
            };
        }
        let form = Form { version: VERSION, adoptions: self.adoptions.clone() };
        let written = serde_json::to_vec(&form).map_err(std::io::Error::other);
        let written =
            written.and_then(|text| file::replace(&self.path, &text, Access::Owner, Durability::Synced));
        written.map_err(|error| unwritable(&self.path, error))
    }
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::new(format!("the record {} can't be written: {error}", path.display()))
        .hint(format!("nothing is changed without it; {}, or set XDG_STATE_HOME", file::advice(&error)))
        .caused_by(error)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
