//! The record of trusted projects: hashes of each configuration and of the lock file next to it.
//!
//! The command `trust` shows a configuration and asks the user.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use system::file::{Access, Durability};

use crate::error::ErrorKind;
use crate::{Error, user_folder};

/// The name of the record, in the user's configuration folder.
const FILE: &str = "trusted.json";

/// Maximum size of the record, in bytes (16 MiB): some hundred thousand projects.
const LIMIT: u64 = 16 << 20;

/// Whether a configuration is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It is trusted with exactly these bytes.
    Given,
    /// It was trusted with other bytes.
    Changed,
    /// It was trusted with another lock file, or the lock file was added or removed.
    LockChanged,
    /// It was never trusted.
    Missing,
}

/// The version of the record. Version 1 had no lock files: projects in it are trusted without one.
const VERSION: u32 = 2;

/// A project's files: the bytes of its configuration, and of the lock file next to it.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFiles<'a> {
    pub(crate) config: &'a [u8],
    /// `None` if there is no lock file.
    pub(crate) lock: Option<&'a [u8]>,
}

impl<'a> ProjectFiles<'a> {
    /// From the texts of both files.
    pub fn new(config: &'a str, lock: Option<&'a str>) -> Self {
        ProjectFiles { config: config.as_bytes(), lock: lock.map(str::as_bytes) }
    }
}

/// The trusted projects, by the absolute paths of their configurations.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    version: u32,
    /// Hashes of configurations.
    files: BTreeMap<String, String>,
    /// Hashes of their lock files, if any.
    #[serde(default)]
    locks: BTreeMap<String, String>,
}

/// Common to all versions of the record.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

/// The reason why a text is no record of trusted projects.
#[derive(Debug, thiserror::Error)]
pub enum InvalidRecord {
    /// It is not JSON in the form of the record.
    #[error(transparent)]
    Json(#[from] strict_json::Error),
    /// It has lock files, which its version has not.
    #[error("its version is 1, which has no lock files")]
    LocksInVersion1,
    /// It has a version that does not exist.
    #[error("its version is {0}, which does not exist")]
    Version(u32),
    /// A newer program has written it.
    #[error(
        "a newer version of Toolsmith has written it (its version is {0}, the newest supported one is {VERSION})"
    )]
    Newer(u32),
}

impl Trusted {
    /// Parses the record.
    ///
    /// # Errors
    /// The error in the text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidRecord> {
        // A newer version may have other members.
        match strict_json::from_slice::<Header>(text)?.version {
            0 => return Err(InvalidRecord::Version(0)),
            1..=VERSION => {}
            newer => return Err(InvalidRecord::Newer(newer)),
        }
        let trusted: Trusted = strict_json::from_slice(text)?;
        if trusted.version == 1 && !trusted.locks.is_empty() {
            return Err(InvalidRecord::LocksInVersion1);
        }
        Ok(trusted)
    }

    /// Whether these files are trusted under this key.
    pub fn of(&self, key: &str, stated: ProjectFiles<'_>) -> Trust {
        match self.files.get(key) {
            None => Trust::Missing,
            Some(known) if *known != hash(stated.config) => Trust::Changed,
            Some(_) if self.locks.get(key) != stated.lock.map(hash).as_ref() => Trust::LockChanged,
            Some(_) => Trust::Given,
        }
    }

    /// Trusts these files under this key; `None` revokes the trust.
    pub fn set(&mut self, key: String, stated: Option<ProjectFiles<'_>>) {
        self.version = VERSION;
        self.locks.remove(&key);
        let Some(stated) = stated else {
            self.files.remove(&key);
            return;
        };
        if let Some(lock) = stated.lock {
            self.locks.insert(key.clone(), hash(lock));
        }
        self.files.insert(key, hash(stated.config));
    }
}

/// Whether these files are trusted for the configuration at `path`.
///
/// # Errors
/// If the record can't be read: then nothing is trusted.
pub fn of(path: &Path, stated: ProjectFiles<'_>) -> Result<Trust, Error> {
    of_in(file().as_deref(), path, stated)
}

/// Whether these files are trusted by the record in `file`. An account without a place for a record trusts nothing.
fn of_in(file: Option<&Path>, path: &Path, stated: ProjectFiles<'_>) -> Result<Trust, Error> {
    let Some(file) = file else { return Ok(Trust::Missing) };
    Ok(read(file)?.of(&key(path)?, stated))
}

/// Records these files as trusted for the configuration at `path`; `None` revokes the trust.
///
/// # Errors
/// If the record can't be read or written.
pub fn record(path: &Path, stated: Option<ProjectFiles<'_>>) -> Result<(), Error> {
    record_in(file().as_deref(), path, stated)
}

fn record_in(file: Option<&Path>, path: &Path, stated: Option<ProjectFiles<'_>>) -> Result<(), Error> {
    let file = file.ok_or_else(|| {
        Error::new("there is no folder for the trust record")
            .kind(ErrorKind::Trust)
            .hint("set HOME, or XDG_CONFIG_HOME")
    })?;
    let folder = system::file::folder_of(file);
    let io = |error: std::io::Error| {
        Error::new(format!("{} can't be written: {error}", file.display()))
            .kind(ErrorKind::Trust)
            .hint(system::file::advice(&error))
            .caused_by(error)
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
    // The lock keeps parallel commands from losing each other's changes.
    let held = std::fs::File::open(folder).map_err(io)?;
    held.lock().map_err(io)?;
    let mut trusted = read(file)?;
    trusted.set(key(path)?, stated);
    let mut text = serde_json::to_vec_pretty(&trusted).map_err(|error| io(error.into()))?;
    text.push(b'\n');
    system::file::replace(file, &text, Access::Owner, Durability::Synced).map_err(io)
}

/// The record's file. It may be missing.
pub fn file() -> Option<PathBuf> {
    user_folder().map(|folder| folder.join(FILE))
}

fn read(file: &Path) -> Result<Trusted, Error> {
    let wrong = |what: &dyn Display, hint: &str| {
        Error::new(format!("the trust record {} can't be read: {what}", file.display()))
            .kind(ErrorKind::Trust)
            .hint(hint)
    };
    let remove = "remove the file, and trust your projects again";
    match system::private::read(file, LIMIT).map_err(|error| wrong(&error, remove).caused_by(error))? {
        Some(bytes) => Trusted::parse(&bytes).map_err(|error| {
            let hint = match error {
                InvalidRecord::Newer(_) => {
                    "update Toolsmith, or move the file away and trust your projects again"
                }
                _ => remove,
            };
            wrong(&error, hint).caused_by(error)
        }),
        None => Ok(Trusted::default()),
    }
}

/// The absolute path with links resolved, so that a project has one key.
fn key(path: &Path) -> Result<String, Error> {
    let path = path.canonicalize().map_err(|error| {
        Error::new(format!("{} can't be found: {error}", path.display())).caused_by(error)
    })?;
    // A path that is not UTF-8 is kept by its bytes.
    Ok(path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned))
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "/p/toolsmith.yaml";

    /// Whether the project is trusted with these files.
    fn trust(trusted: &Trusted, config: &str, lock: Option<&str>) -> Trust {
        trusted.of(PROJECT, ProjectFiles::new(config, lock))
    }

    fn recorded(config: &str, lock: Option<&str>) -> Trusted {
        let mut trusted = Trusted::default();
        trusted.set(PROJECT.to_owned(), Some(ProjectFiles::new(config, lock)));
        trusted
    }

    #[test]
    fn a_project_is_trusted_with_exactly_the_bytes_of_its_files() {
        let plain = recorded("a", None);
        assert_eq!(trust(&plain, "a", None), Trust::Given);
        assert_eq!(trust(&plain, "a ", None), Trust::Changed);
        assert_eq!(trust(&plain, "a", Some("")), Trust::LockChanged);
        let locked = recorded("a", Some("l"));
        assert_eq!(trust(&locked, "a", Some("l")), Trust::Given);
        assert_eq!(trust(&locked, "a", Some("L")), Trust::LockChanged);
        assert_eq!(trust(&locked, "a", None), Trust::LockChanged);
        assert_eq!(trust(&locked, "b", Some("l")), Trust::Changed);
        assert_eq!(locked.of("/other.yaml", ProjectFiles::new("a", Some("l"))), Trust::Missing);
    }

    #[test]
    fn trust_is_replaced_and_revoked_as_a_whole() {
        let mut trusted = recorded("a", Some("l"));
        trusted.set(PROJECT.to_owned(), Some(ProjectFiles::new("b", None)));
        assert_eq!(trust(&trusted, "b", None), Trust::Given);
        assert_eq!(trust(&trusted, "a", Some("l")), Trust::Changed);
        trusted.set(PROJECT.to_owned(), None);
        assert_eq!(trust(&trusted, "b", None), Trust::Missing);
        assert!(trusted.files.is_empty() && trusted.locks.is_empty());
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let text = serde_json::to_vec(&recorded("a", Some("l"))).unwrap();
        let read = Trusted::parse(&text).unwrap();
        assert_eq!(trust(&read, "a", Some("l")), Trust::Given);
        // The hash is that of BLAKE3, so that an older record stays valid.
        let hash = "17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f";
        assert_eq!(read.files[PROJECT], hash);
    }

    #[test]
    fn a_record_of_another_version_or_form_is_refused() {
        for right in [
            r#"{ "version": 1, "files": { "/p": "0" } }"#,
            r#"{ "version": 1, "files": {}, "locks": {} }"#,
            r#"{ "version": 2, "files": {}, "locks": { "/p": "0" } }"#,
        ] {
            assert!(Trusted::parse(right.as_bytes()).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "{}",
            r#"{ "version": 0, "files": {} }"#,
            r#"{ "version": 1, "files": {}, "locks": { "/p": "0" } }"#,
            r#"{ "version": 2, "files": {}, "more": {} }"#,
            r#"{ "version": 2, "files": { "/p": "0", "/p": "1" } }"#,
        ] {
            assert!(Trusted::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
        for newer in [r#"{ "version": 3, "files": {} }"#, r#"{ "version": 3, "projects": [] }"#] {
            assert!(matches!(Trusted::parse(newer.as_bytes()), Err(InvalidRecord::Newer(3))), "{newer}");
        }
    }

    /// The record, a project, and whether it is trusted; `None` if an error says why not.
    #[test]
    fn only_a_record_that_can_be_read_trusts() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("toolsmith.yaml");
        std::fs::write(&project, "a").unwrap();
        let files = ProjectFiles::new("a", None);
        let file = folder.path().join(FILE);
        let right = {
            record_in(Some(&file), &project, Some(files)).unwrap();
            std::fs::read_to_string(&file).unwrap()
        };
        let other = right.replacen("toolsmith.yaml", "other.yaml", 1);
        for (record, path, expected) in [
            (Some(right.as_str()), &project, Some(Trust::Given)),
            (Some(&other), &project, Some(Trust::Missing)),
            (None, &project, Some(Trust::Missing)),
            (Some(&right[..right.len() / 2]), &project, None),
            (Some(""), &project, None),
            (Some(&right.replacen("2", "3", 1)), &project, None),
            (Some(&right), &folder.path().join("nowhere.yaml"), None),
        ] {
            let _ = std::fs::remove_file(&file);
            record.iter().for_each(|text| std::fs::write(&file, text).unwrap());
            assert_eq!(of_in(Some(&file), path, files).ok(), expected, "{record:?}");
        }
        // An account without a home.
        assert_eq!(of_in(None, &project, files).ok(), Some(Trust::Missing));
        let failed = record_in(None, &project, Some(files)).unwrap_err();
        assert_eq!(failed.to_string(), "there is no folder for the trust record");
        // A record that can't be read is not replaced.
        std::fs::write(&file, "{").unwrap();
        assert!(record_in(Some(&file), &project, Some(files)).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
    }

    #[test]
    fn a_project_has_one_key_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("toolsmith.yaml");
        std::fs::write(&project, "a").unwrap();
        let link = folder.path().join("link.yaml");
        std::os::unix::fs::symlink(&project, &link).unwrap();
        assert_eq!(key(&link).unwrap(), key(&project).unwrap());
        assert!(key(&folder.path().join("nowhere")).is_err());
    }

    /// Each command reads the record, and writes it with its own change.
    #[test]
    fn commands_at_the_same_time_lose_no_project() {
        const COMMANDS: usize = 4;
        const PROJECTS: usize = 4;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("user").join(FILE);
        let start = std::sync::Barrier::new(COMMANDS);
        let trust_all = |command: usize| {
            start.wait();
            for number in 0..PROJECTS {
                let project = folder.path().join(format!("{command}-{number}"));
                std::fs::write(&project, "a").unwrap();
                record_in(Some(&file), &project, Some(ProjectFiles::new("a", None))).unwrap();
            }
        };
        std::thread::scope(|scope| {
            let trust_all = &trust_all;
            (0..COMMANDS).for_each(|command| drop(scope.spawn(move || trust_all(command))));
        });
        assert_eq!(read(&file).unwrap().files.len(), COMMANDS * PROJECTS);
    }
}
