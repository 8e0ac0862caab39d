//! Opens the file of a history: creates it, migrates it, and explains why one can't be used.

use std::io;
use std::path::{Path, PathBuf};

use database::{Durability, is_busy};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

use crate::error::{HistoryError, HistoryErrorKind};
use crate::schema::FORMAT;

/// The file's name in the user's state folder.
const NAME: &str = "history.db";

/// The end of every advice.
const SWITCH_OFF: &str = "or switch the history off: `history: { enabled: false }` in your configuration";

/// The file of the user's history.
///
/// # Errors
/// If the user has no state folder.
pub fn file() -> Result<PathBuf, config::Error> {
    Ok(config::state_folder()?.join(NAME))
}

/// Opens the file for writing; creates it (mode 0600) and its folder (0700) if they are missing.
pub(crate) fn create(file: &Path, durability: Durability) -> Result<Connection, HistoryError> {
    let connection = FORMAT.create(file, durability).map_err(|error| refused(file, error))?;
    database::make_private(file).map_err(|error| not_created(file, error))?;
    ending_at_once(connection, file)
}

/// Opens an existing file.
pub(crate) fn open(file: &Path, durability: Durability) -> Result<Connection, HistoryError> {
    let connection = FORMAT.open(file, durability).map_err(|error| refused(file, error))?;
    ending_at_once(connection, file)
}

/// The connection, whose end does not wait for the disk.
fn ending_at_once(connection: Connection, file: &Path) -> Result<Connection, HistoryError> {
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    set.map_err(|cause| error(file, "can't be opened", cause))?;
    Ok(connection)
}

fn refused(file: &Path, why: database::Error) -> HistoryError {
    let shown = file.display();
    let (kind, message) = match why {
        database::Error::Folder(error) | database::Error::Lock(error) | database::Error::File(error) => {
            return not_created(file, error);
        }
        database::Error::Sqlite(what, cause) => return error(file, what, cause),
        database::Error::Foreign => (
            HistoryErrorKind::Format,
            format!("the history {shown} is the database of another program; move it away"),
        ),
        database::Error::Newer { version, known } => (
            HistoryErrorKind::Format,
            format!(
                "the history {shown} was written by a newer version of this program (its format is {version}, the \
                 newest known one is {known}); update Toolsmith, or move the file away"
            ),
        ),
        database::Error::NoSharedMemory(journal) => (
            HistoryErrorKind::File,
            format!(
                "the history {shown} is on a file system without shared memory for processes (write-ahead log: \
                 {journal}); set XDG_STATE_HOME to a folder on a local disk, {SWITCH_OFF}"
            ),
        ),
    };
    HistoryError::new(kind, message)
}

fn not_created(file: &Path, error: io::Error) -> HistoryError {
    let message = format!(
        "the history {} can't be created: {error}; make its folder writable, {SWITCH_OFF}",
        file.display()
    );
    HistoryError::new(HistoryErrorKind::File, message).caused_by(error)
}

/// SQLite's error, with advice.
pub(crate) fn error(file: &Path, what: &str, cause: rusqlite::Error) -> HistoryError {
    use ErrorCode::{CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly};
    let advice = match cause.sqlite_error_code() {
        _ if is_busy(&cause) => "another process keeps it locked; end that process, or try again later",
        Some(DiskFull) => "the disk is full; free some space",
        Some(ReadOnly | PermissionDenied | CannotOpen) => "check its permissions and those of its folder",
        Some(NotADatabase | DatabaseCorrupt) => "it is damaged; move it away, and a new one is created",
        _ => "check the file and its disk",
    };
    let message = format!("the history {} {what}: {cause}; {advice}", file.display());
    HistoryError::new(HistoryErrorKind::File, message).caused_by(cause)
}
