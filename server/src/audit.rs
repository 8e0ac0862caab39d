//! The audit log: who had what executed, what was permitted, which calls were made and how it ended, as JSON lines.
//!
//! # What can be relied on
//! - **Nothing goes on unlogged.** Each record is in the file (in the kernel's hands, not yet on the disk: there is no
//!   `fsync`) when [`Audit::record`] returns. `call_begin` is written before a call leaves, so that a process that is
//!   killed leaves the beginning of what it was at. Where a record can't be written, an execution is refused, or ends:
//!   [`Execution`] sees to that.
//! - **Its owner's alone.** The file is made with mode 0600. One that exists is tightened to 0600 if it is this
//!   user's, and refused if it is a symbolic link, no regular file, another user's, or has a second name (hard link).
//! - **Shared.** A record is one `write` in append mode, which the kernel keeps whole among several processes, on
//!   file systems of this machine (not on NFS).
//! - **Bounded.** A line is at most [`line::LINE`] bytes; what is cut ends with `…`, and a list that is cut with `… N more`.
//! - **Rotated by others.** The file is looked up for each record, and opened again where the path names another one.
//! - **No secrets.** Those of the configuration are masked in every text, also in arguments that are kept in full. A
//!   hash of arguments is of the text as it was sent: whoever can guess the arguments can confirm the guess.
//!
//! Leaves to others: what is recorded when, and what ends if it can't be.

mod file;
mod line;
mod record;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::value::RawValue;

use config::ArgumentsKept;
use gateway::failure::Failure;
use terminal::Masker;

pub(crate) use record::{Answer, Arguments, Record, Refused, Who};

/// The log, for as many executions at a time as there are.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
    kept: ArgumentsKept,
    file: Mutex<file::Appended>,
}

impl Audit {
    /// Opens the log, and makes it and its folder (mode 0700) where they are missing.
    ///
    /// # Errors
    /// The file can't be opened, or is none that may be written to; in words for whoever starts this process.
    pub(crate) fn open(path: &Path, kept: ArgumentsKept) -> Result<Audit, Failure> {
        let opened = file::Appended::open(path);
        let file = opened.map_err(|error| Failure::configuration(format!(
            "the audit log {} can't be used: {error}\nhelp: name a file that is yours alone, in a folder that you can write to, or leave the audit log out of the configuration",
            path.display()
        )))?;
        Ok(Audit { path: path.to_owned(), kept, file: Mutex::new(file) })
    }

    /// What is kept of these arguments, a JSON text.
    pub(crate) fn arguments(&self, arguments: &RawValue, masker: &Masker) -> Option<Arguments> {
        Arguments::of(arguments, self.kept, masker)
    }

    /// Writes a record. Blocks for one `write` into the page cache, as a rule below a millisecond.
    ///
    /// # Errors
    /// It is not in the file, or not whole. What it was to tell of must not happen, or must end: see [`Audit::refusal`].
    pub(crate) fn record(&self, record: &Record<'_>, masker: &Masker) -> io::Result<()> {
        let line = line::of(record, SystemTime::now(), masker)?;
        self.file.lock().unwrap_or_else(PoisonError::into_inner).append(&self.path, &line)
    }

    /// Why something does not happen, or does not go on, because it can't be recorded.
    pub(crate) fn refusal(&self, error: &io::Error) -> String {
        format!(
            "the audit log {} can't be written: {error}. Nothing is done that is not in it",
            self.path.display()
        )
    }
}
