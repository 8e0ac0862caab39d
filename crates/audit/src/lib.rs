//! The audit log: requests for executions, permissions, calls and results, as JSON lines.
//!
//! # Guarantees
//! - **Nothing continues unlogged.** When [`Audit::record`] returns, the record is in the file (in the page cache, not
//!   yet on the disk: there is no `fsync`). `call_begin` is written before a call leaves, so the log of a killed
//!   process shows the calls it had started. If a record can't be written, the execution is refused or ended:
//!   the sink of the journals (`journal/audit.rs` of `server`) ensures that.
//! - **Private.** The file is created with mode 0600. An existing file is restricted to 0600 if it belongs to this
//!   user. It is refused if it is a symbolic link, not a regular file, another user's, or has a second name (hard
//!   link).
//! - **Shared.** A record is one `write` in append mode, which the kernel keeps whole among several processes, on local
//!   file systems (not on NFS).
//! - **Bounded.** A line has at most [`line::LINE`] bytes; a cut text ends with `…`, and a cut list with `… N more`.
//! - **Rotated by others.** Each record looks the path up, and reopens it if it names another file.
//! - **No secrets.** Those of the configuration are masked in every text, also in arguments kept in full. A hash of
//!   arguments covers the text as sent: a reader who can guess the arguments can confirm the guess.
//!
//! The callers decide when a record is written, and what ends if a record fails.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod file;
mod line;
mod record;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::Mutex;
use serde_json::value::RawValue;

use config::ArgumentsKept;
use report::{Kind, Report};
use terminal::Masker;

pub use record::{Answer, Arguments, Record, Refused, Who};

/// A record that is not in the log, or not whole. Then the action that it describes must not happen, or must end.
#[derive(Debug, thiserror::Error)]
#[error("the audit log {} can't be written: {source}. Actions that can't be logged are refused", path.display())]
pub struct Unrecorded {
    path: PathBuf,
    source: io::Error,
}

/// The log, shared by all executions of the process.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    kept: ArgumentsKept,
    file: Mutex<file::Appended>,
}

impl Audit {
    /// Opens the log, and creates the file and its folder (mode 0700) if they are missing.
    ///
    /// # Errors
    /// If the file can't be opened or must not be written to; the message is for the user who starts this process.
    pub fn open(path: &Path, kept: ArgumentsKept) -> Result<Audit, Report> {
        let opened = file::Appended::open(path);
        let file = opened.map_err(|error| {
            Report::new(Kind::Audit, format!("the audit log {} can't be used: {error}", path.display()))
                .caused_by(error)
                .hint("choose a file of your own in a writable folder, or remove the audit log from the configuration")
        })?;
        Ok(Audit { path: path.to_owned(), kept, file: Mutex::new(file) })
    }

    /// The part of these arguments (a JSON text) that is logged.
    pub fn arguments(&self, arguments: &RawValue, masker: &Masker) -> Option<Arguments> {
        Arguments::of(arguments, self.kept, masker)
    }

    /// Writes a record. Blocks for one `write` into the page cache, usually below a millisecond.
    ///
    /// # Errors
    /// If the record is not in the file, or not whole.
    pub fn record(&self, record: &Record<'_>, masker: &Masker) -> Result<(), Unrecorded> {
        let line = line::of(record, SystemTime::now(), masker);
        let appended = line.and_then(|line| self.file.lock().append(&self.path, &line));
        appended.map_err(|source| Unrecorded { path: self.path.clone(), source })
    }
}
