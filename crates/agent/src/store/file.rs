//! Opens the file of a store: creates it, migrates it, and explains why one can't be used.

use std::io;
use std::path::Path;

use database::{Durability, is_busy};
use rusqlite::{Connection, ErrorCode};

use super::error::{StoreError, StoreErrorKind};
use super::schema::FORMAT;

/// Size to which the write-ahead log shrinks after a checkpoint, in bytes (16 MiB).
const LOG: i64 = 16 << 20;

/// Opens the file for writing; creates it and its folder if they are missing.
pub(super) fn open(file: &Path) -> Result<Connection, StoreError> {
    let failed = |cause| error(file, "can't be opened", cause);
    let connection = FORMAT.create(file, Durability::Written).map_err(|why| refused(file, why))?;
    if connection.is_readonly("main").map_err(failed)? {
        let message = format!("{} is read-only; {ELSEWHERE}", file.display());
        return Err(StoreError::new(StoreErrorKind::File, message));
    }
    connection.pragma_update_and_check(None, "journal_size_limit", LOG, |_| Ok(())).map_err(failed)?;
    Ok(connection)
}

/// Opens a connection for reading.
pub(super) fn connect(file: &Path) -> Result<Connection, rusqlite::Error> {
    database::connect(file, Durability::Written)
}

/// The user's remedy for most failures.
const ELSEWHERE: &str = "correct that, or set agent.conversations to another file in the configuration";

fn unusable(what: &str, error: io::Error) -> StoreError {
    StoreError::new(StoreErrorKind::File, format!("{what}: {error}; {ELSEWHERE}")).caused_by(error)
}

fn refused(file: &Path, why: database::Error) -> StoreError {
    let (shown, folder) = (file.display(), file.parent().unwrap_or(Path::new("/")).display());
    let (kind, message) = match why {
        database::Error::Folder(error) => {
            return unusable(&format!("the folder {folder} for conversations can't be created"), error);
        }
        database::Error::Lock(error) => {
            return unusable(&format!("the folder {folder} of conversations can't be locked"), error);
        }
        database::Error::File(error) => return unusable(&format!("{shown} can't be created"), error),
        database::Error::Sqlite(what, cause) => return error(file, what, cause),
        database::Error::Foreign => {
            (StoreErrorKind::Format, format!("{shown} is the database of another program; {ELSEWHERE}"))
        }
        database::Error::Newer { version, known } => (
            StoreErrorKind::Format,
            format!(
                "{shown} was written by a newer version of this program (its schema is {version}, the newest \
                 supported one is {known}); update this program, or set agent.conversations to another file in the \
                 configuration"
            ),
        ),
        database::Error::NoSharedMemory(journal) => (
            StoreErrorKind::File,
            format!(
                "{shown} is on a file system without shared memory for processes (write-ahead log: {journal}); set \
                 agent.conversations to a file on a local disk in the configuration"
            ),
        ),
    };
    StoreError::new(kind, message)
}

/// SQLite's error, with advice.
pub(super) fn error(file: &Path, what: &str, cause: rusqlite::Error) -> StoreError {
    use ErrorCode::{
        CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly, SystemIoFailure,
        TooBig,
    };
    let help = match cause.sqlite_error_code() {
        _ if is_busy(&cause) => "another process keeps it locked; end that process, or try again later",
        Some(DiskFull) => "the disk is full; free some space",
        Some(ReadOnly | PermissionDenied) => {
            "it is not writable; check its permissions and those of its folder"
        }
        Some(CannotOpen) => "check that it is a file, and its permissions and those of its folder",
        Some(NotADatabase) => "it is not a file of conversations; set agent.conversations to another one",
        Some(DatabaseCorrupt) => "it is damaged; move it away to have a new one created",
        Some(SystemIoFailure) => "reading or writing the disk failed; check that it has room and works",
        Some(TooBig) => "a message is too large to be stored",
        _ => "check the file and its disk",
    };
    let message = format!("{} {what}: {cause}; {help}", file.display());
    StoreError::new(StoreErrorKind::File, message).caused_by(cause)
}
