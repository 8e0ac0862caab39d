//! `toolsmith.lock`: the accepted or observed tools of servers, and what was observed of their results.
//!
//! JSON with a version, sorted keys and a final newline, so that the same tools give the same bytes. The file may have
//! been edited or merged by hand: it is read strictly, and errors are reported, not repaired.

mod content;
mod form;

use std::io::Error;
use std::path::{Path, PathBuf};

use report::{Kind, Report};
use serde_json::json;
use system::file::{self, Access, Durability};

use crate::text::shown;

use content::sort;
pub use content::{Lock, LockedServer, LockedTool, Observed, Shape};
pub use form::LOCK_VERSION;

/// Maximum size of a lock file, in bytes (64 MiB): four servers with lists of the maximum size.
pub const MAX_LOCK_BYTES: u64 = 64 << 20;

/// The remedy for a file in another form.
const REMEDY: &str = "restore an older version of it; or delete it, which discards all observations, and create it again with \
                      `toolsmith mcp lock`";

/// Limit on the description of an error, in bytes.
const REASON_BYTES: usize = 400;

/// The reason why a lock file can't be used: the file, the error and its position.
#[derive(Debug, thiserror::Error)]
#[error("the lock file {} {what}", file.display())]
pub struct LockError {
    /// The kind of failure.
    pub kind: LockErrorKind,
    file: PathBuf,
    what: String,
    source: Option<Error>,
}

/// The operation on a lock file that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockErrorKind {
    /// It can't be read.
    Unreadable,
    /// It is not in the form that [`Lock::write`] writes.
    Invalid,
    /// It can't be written.
    Unwritable,
}

impl LockError {
    fn new(kind: LockErrorKind, file: &Path, what: String) -> Self {
        LockError { kind, file: file.to_owned(), what, source: None }
    }

    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            LockErrorKind::Unreadable => "remove or restore the lock file",
            LockErrorKind::Invalid => REMEDY,
            LockErrorKind::Unwritable => "check its folder",
        }
    }
}

impl From<LockError> for Report {
    fn from(error: LockError) -> Self {
        Report::new(Kind::Lock, error.to_string()).hint(error.hint()).caused_by(error)
    }
}

impl Lock {
    /// Reads the lock from a file; returns `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file can't be read, or is not in the form that [`Lock::write`] writes.
    pub fn read(file: &Path) -> Result<Option<Self>, LockError> {
        Self::read_text(file)?.map(|text| Self::parse(&text, file)).transpose()
    }

    /// Reads the text of a file, of at most [`MAX_LOCK_BYTES`]; returns `None` if the file does not exist. The text is
    /// parsed with [`Lock::parse`]: a caller that has checked a text must parse that text, not what the file may
    /// contain later.
    ///
    /// # Errors
    /// If the file can't be read, is not a regular file, or is too large.
    pub fn read_text(file: &Path) -> Result<Option<String>, LockError> {
        match text_of(file) {
            Ok(text) => Ok(Some(text)),
            Err(Unread::Missing) => Ok(None),
            Err(Unread::Unusable(what, source)) => {
                let what = shown(&what, REASON_BYTES);
                Err(LockError { source, ..LockError::new(LockErrorKind::Unreadable, file, what) })
            }
        }
    }

    /// Parses the text of `file`; returns `None` if the text has no `servers` and so is something else, such as a
    /// response to `tools/list`.
    ///
    /// # Errors
    /// If the text has `servers` but is not in the form that [`Lock::write`] writes.
    pub fn from_text(text: &str, file: &Path) -> Result<Option<Self>, LockError> {
        form::has_servers(text).then(|| Self::parse(text, file)).transpose()
    }

    /// Parses the text of `file`.
    ///
    /// # Errors
    /// If the text is not in the form that [`Lock::write`] writes.
    pub fn parse(text: &str, file: &Path) -> Result<Self, LockError> {
        form::parse(text).map_err(|what| {
            LockError::new(LockErrorKind::Invalid, file, shown(&what.to_string(), REASON_BYTES))
        })
    }

    /// The text that [`Lock::write`] writes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut content = json!({ "version": LOCK_VERSION, "servers": self.servers });
        sort(&mut content);
        format!("{content:#}\n")
    }

    /// Writes the file atomically: readers see the old or the new one.
    ///
    /// # Errors
    /// If the folder is not writable, or the file would be too large to read again.
    pub fn write(&self, file: &Path) -> Result<(), LockError> {
        let failed = |what| LockError::new(LockErrorKind::Unwritable, file, what);
        let text = self.to_text();
        if text.len() as u64 > MAX_LOCK_BYTES {
            let length = text.len();
            return Err(failed(format!("would have {length} bytes, over the limit of {MAX_LOCK_BYTES}")));
        }
        write_text(file, &text).map_err(|error| {
            let what = format!("can't be written: {error}");
            LockError { source: Some(error), ..failed(what) }
        })
    }
}

/// The reason why the text can't be read.
enum Unread {
    Missing,
    Unusable(String, Option<Error>),
}

fn text_of(path: &Path) -> Result<String, Unread> {
    let bytes = file::read(path, MAX_LOCK_BYTES)
        .map_err(|error| Unread::Unusable(format!("can't be read: {error}"), Some(error)))?;
    let text = String::from_utf8(bytes.ok_or(Unread::Missing)?)
        .map_err(|_| Unread::Unusable("is not text".to_owned(), None))?;
    Ok(strict_json::without_mark(&text).to_owned())
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    // If the path is a link, its target is replaced, not the link.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    file::replace(&path, text.as_bytes(), Access::Umask, Durability::Synced)
}

#[cfg(test)]
mod tests;
