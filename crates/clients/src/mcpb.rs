//! Bundles of servers (MCPB, `.mcpb`): an archive with a server and a manifest, and the entry of a configuration that
//! starts the unpacked server.
//!
//! `archive` reads and unpacks, `manifest` has the form of the manifest, `launch` makes the command of it, with this
//! user's folders (`folders`). Everything in a bundle is untrusted.

mod archive;
mod folders;
mod launch;
mod manifest;

use std::path::Path;

use config::Error;

use self::archive::Archive;
pub use self::archive::MAX_BUNDLE;
use self::manifest::Manifest;
use super::edit::Entry;
use super::registry::{Answers, Question};

/// A bundle that was read.
pub struct Bundle {
    archive: Archive,
    manifest: Manifest,
}

impl Bundle {
    /// Reads the bundle in a file. Nothing is unpacked.
    ///
    /// # Errors
    /// If it is no bundle, has another hash than the expected one, or has something that must not be unpacked.
    pub fn open(file: &Path, sha256: Option<&str>) -> Result<Self, Error> {
        let mut archive = Archive::open(file)?;
        if let Some(expected) = sha256.filter(|expected| !expected.eq_ignore_ascii_case(&archive.sha256)) {
            let found = &archive.sha256;
            return Err(Error::new(format!("the bundle has the SHA-256 hash {found}, and not {expected}"))
                .hint("it is not the file that was published; nothing of it was used"));
        }
        let manifest = Manifest::read(&archive.manifest()?)?;
        Ok(Bundle { archive, manifest })
    }

    /// The SHA-256 hash of the file, in hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.archive.sha256
    }

    /// The name, the version and the description of the server, for the user.
    pub fn describe(&self) -> String {
        let Manifest { name, version, description, .. } = &self.manifest;
        format!("{} {}: {}", printable::name(name), printable::name(version), printable::prose(description))
    }

    /// The values that the server needs (`user_config`).
    ///
    /// # Errors
    /// If the manifest asks for too many, or in an unknown form.
    pub fn questions(&self) -> Result<Vec<Question>, Error> {
        self.manifest.questions()
    }

    /// Unpacks the bundle into a new folder.
    ///
    /// # Errors
    /// If the folder exists, or can't be written. What was written stays.
    pub fn unpack(&mut self, folder: &Path) -> Result<(), Error> {
        self.archive.unpack(folder)
    }

    /// The entry that starts the unpacked server, confined.
    ///
    /// # Errors
    /// If the manifest has no command for this platform, or an answer is missing.
    pub fn entry(&self, folder: &Path, answers: &Answers) -> Result<Entry, Error> {
        launch::entry(&self.manifest, folder, answers)
    }
}
