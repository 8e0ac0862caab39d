//! Opens the file of a history: creates it, migrates it, and explains why one can't be used.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{HistoryError, HistoryErrorKind};
use crate::schema::{self, APPLICATION, VERSION};

/// The file's name in the user's state folder.
const NAME: &str = "history.db";

/// Time limit on waiting for other processes that write: each of them needs milliseconds.
const BUSY: Duration = Duration::from_secs(15);

/// Interval between two attempts if SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(10);

/// Readable and writable by the owner only.
const MODE: u32 = 0o600;

/// The end of every advice.
const SWITCH_OFF: &str = "or switch the history off: `history: { enabled: false }` in your configuration";

/// The part of a write that survives a crash of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Everything that was written: each write waits for the disk.
    Synced,
    /// The part that the system has written to the disk by then, and always an intact file. A killed process loses
    /// nothing.
    Written,
}

/// The file of the user's history.
///
/// # Errors
/// If the user has no state folder.
pub fn file() -> Result<PathBuf, config::Error> {
    Ok(config::state_folder()?.join(NAME))
}

/// Opens the file for writing; creates it (mode 0600) and its folder (0700) if they are missing.
pub(crate) fn create(file: &Path, durability: Durability) -> Result<Connection, HistoryError> {
    let unusable = |error: io::Error| {
        let message = format!(
            "the history {} can't be created: {error}; make its folder writable, {SWITCH_OFF}",
            file.display()
        );
        HistoryError::new(HistoryErrorKind::File, message).caused_by(error)
    };
    let folder = file.parent().unwrap_or(Path::new("/"));
    if !file.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
        match OpenOptions::new().write(true).create_new(true).mode(MODE).open(file) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(error)),
        }
    }
    // An empty file is being created. Processes that do that one after the other need not wait for SQLite's locks.
    let is_new = file.metadata().is_ok_and(|found| found.len() == 0);
    let creating = is_new.then(|| lock(folder)).transpose().map_err(unusable)?;
    let connection = open(file, durability)?;
    drop(creating);
    // By its path: closing a descriptor of the file would release SQLite's locks (fcntl(2)).
    if file.metadata().is_ok_and(|found| found.mode() & 0o077 != 0) {
        std::fs::set_permissions(file, Permissions::from_mode(MODE)).map_err(unusable)?;
    }
    Ok(connection)
}

/// Locks the folder for this process (flock(2)), or fails after [`BUSY`].
fn lock(folder: &Path) -> io::Result<File> {
    let held = File::open(folder)?;
    let until = Instant::now() + BUSY;
    loop {
        match held.try_lock() {
            Ok(()) => return Ok(held),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(io::Error::from(io::ErrorKind::WouldBlock)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens an existing file.
pub(crate) fn open(file: &Path, durability: Durability) -> Result<Connection, HistoryError> {
    let failed = |cause| error(file, "can't be opened", cause);
    let mut connection = connect(file, durability).map_err(failed)?;
    if !is_current(&connection, file)? {
        // Space of deleted executions can be freed; only possible in a file without tables.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        use_log(&connection, file)?;
        retry(|| schema::migrate(&mut connection)).map_err(failed)?;
    }
    Ok(connection)
}

fn connect(file: &Path, durability: Durability) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let synchronous = match durability {
        Durability::Synced => "FULL",
        Durability::Written => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // Deleted data is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    // Other programs may have changed the file, so its schema runs no functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // The end of a run does not wait for the disk.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Readers do not wait for writers with a write-ahead log. SQLite itself does not wait here.
fn use_log(connection: &Connection, file: &Path) -> Result<(), HistoryError> {
    let set =
        || connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
    let journal = retry(set).map_err(|cause| error(file, "can't be initialized", cause))?;
    if journal.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    let message = format!(
        "the history {} is on a file system without shared memory for processes (write-ahead log: {journal}); set \
         XDG_STATE_HOME to a folder on a local disk, {SWITCH_OFF}",
        file.display()
    );
    Err(HistoryError::new(HistoryErrorKind::File, message))
}

/// Whether the file has the current version. An empty or older one does not, and is not an error.
fn is_current(connection: &Connection, file: &Path) -> Result<bool, HistoryError> {
    let failed = |cause| error(file, "can't be read", cause);
    // One transaction: another process may be creating the tables.
    let snapshot = connection.unchecked_transaction().map_err(failed)?;
    let number = |pragma: &str| snapshot.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (application, version) =
        (number("application_id").map_err(failed)?, number("user_version").map_err(failed)?);
    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = snapshot.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
    drop(snapshot);
    if (version != 0 || tables != 0) && application != APPLICATION {
        let message =
            format!("the history {} is the database of another program; move it away", file.display());
        return Err(HistoryError::new(HistoryErrorKind::Format, message));
    }
    if version > VERSION {
        let message = format!(
            "the history {} was written by a newer version of this program (its format is {version}, the newest \
             known one is {VERSION}); update Toolsmith, or move the file away",
            file.display()
        );
        return Err(HistoryError::new(HistoryErrorKind::Format, message));
    }
    Ok(version == VERSION)
}

/// Repeats an action while other processes are writing, up to [`BUSY`].
pub(crate) fn retry<T>(mut work: impl FnMut() -> Result<T, rusqlite::Error>) -> Result<T, rusqlite::Error> {
    let until = Instant::now() + BUSY;
    loop {
        match work() {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Whether another connection is writing.
fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
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
