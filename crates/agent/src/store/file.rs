//! Opens the file of a store: creates it, migrates it, and explains why one can't be used.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::{StoreError, StoreErrorKind};
use super::schema::{APPLICATION, VERSION, migrations};

/// Time limit on waiting for other writing processes: each of them needs milliseconds.
pub(super) const BUSY: Duration = Duration::from_secs(15);

/// Interval between two attempts if SQLite itself does not wait.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// Size to which the write-ahead log shrinks after a checkpoint, in bytes (16 MiB).
const LOG: i64 = 16 << 20;

/// Only one thread of this process at a time creates files: closing any descriptor of a file releases all locks of the
/// process on it (fcntl(2)), including those of SQLite's connections.
static CREATING: Mutex<()> = Mutex::new(());

/// Opens the file for writing; creates it and its folder if they are missing.
pub(super) fn open(file: &Path) -> Result<Connection, StoreError> {
    let _creating = CREATING.lock();
    let failed = |cause| error(file, "can't be opened", cause);
    // Processes that open an up-to-date file need not wait for each other.
    if file.exists() {
        let connection = connect(file).map_err(failed)?;
        if is_current(&connection, file)? {
            return Ok(connection);
        }
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let in_folder = |what: &str, error| unusable(&format!("the folder {} {what}", folder.display()), error);
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(|error| in_folder("for conversations can't be created", error))?;
    let _lock = lock(folder).map_err(|error| in_folder("of conversations can't be locked", error))?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(unusable(&format!("{} can't be created", file.display()), error)),
    }
    let mut connection = connect(file).map_err(failed)?;
    if !is_current(&connection, file)? {
        bring_up_to_date(&mut connection, file)?;
    }
    Ok(connection)
}

/// The user's remedy for most failures.
const ELSEWHERE: &str = "correct that, or set agent.conversations to another file in the configuration";

fn unusable(what: &str, error: io::Error) -> StoreError {
    StoreError::new(StoreErrorKind::File, format!("{what}: {error}; {ELSEWHERE}")).caused_by(error)
}

/// Opens a connection with this program's settings.
pub(super) fn connect(file: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // With a write-ahead log, a killed process loses nothing that it has written; only a crash of the machine may.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Deleted data is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    // Other programs may have changed the file, so its schema runs no functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG, |_| Ok(()))?;
    Ok(connection)
}

/// Whether the file has the current version. An empty one does not, and is not an error.
fn is_current(connection: &Connection, file: &Path) -> Result<bool, StoreError> {
    let failed = |cause| error(file, "can't be read", cause);
    if connection.is_readonly("main").map_err(failed)? {
        let message = format!("{} is read-only; {ELSEWHERE}", file.display());
        return Err(StoreError::new(StoreErrorKind::File, message));
    }
    // One transaction: another process may be creating the tables.
    let snapshot = connection.unchecked_transaction().map_err(failed)?;
    let number = |pragma: &str| snapshot.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let version = number("user_version").map_err(failed)?;
    let application = number("application_id").map_err(failed)?;
    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = snapshot.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
    drop(snapshot);
    if (version != 0 || tables != 0) && application != i64::from(APPLICATION) {
        let message = format!("{} is the database of another program; {ELSEWHERE}", file.display());
        return Err(StoreError::new(StoreErrorKind::Format, message));
    }
    if version > VERSION {
        let message = format!(
            "{} was written by a newer version of this program (its schema is {version}, the newest supported one is \
             {VERSION}); update this program, or set agent.conversations to another file in the configuration",
            file.display()
        );
        return Err(StoreError::new(StoreErrorKind::Format, message));
    }
    let journal = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    Ok(version == VERSION && journal.map_err(failed)?.eq_ignore_ascii_case("wal"))
}

/// Migrates the file while the folder is locked against other processes.
fn bring_up_to_date(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    let failed = |cause| error(file, "can't be initialized", cause);
    // Allows freeing the space of deleted conversations; only possible in a file without tables.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    // Readers do not wait for the writer. SQLite itself does not wait here.
    let journal = retry(BUSY, || {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    });
    let journal = journal.map_err(failed)?;
    if !journal.eq_ignore_ascii_case("wal") {
        let message = format!(
            "{} is on a file system without shared memory for processes (write-ahead log: {journal}); set agent.conversations to a file on a \
             local disk in the configuration",
            file.display()
        );
        return Err(StoreError::new(StoreErrorKind::File, message));
    }
    let migrated = migrations().to_latest(connection);
    migrated.map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => failed(err),
        other => {
            let message = format!("{} can't be migrated: {other}", file.display());
            StoreError::new(StoreErrorKind::Format, message).caused_by(other)
        }
    })
}

/// Repeats an action while it fails with "busy", up to a time limit.
pub(super) fn retry<T>(
    patience: Duration,
    mut work: impl FnMut() -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    let until = Instant::now() + patience;
    loop {
        match work() {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Whether another connection is writing.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

/// Locks the folder for this process (flock(2)), or fails after [`BUSY`].
fn lock(folder: &Path) -> io::Result<File> {
    let held = File::open(folder)?;
    let until = Instant::now() + BUSY;
    loop {
        match held.try_lock() {
            Ok(()) => return Ok(held),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let message =
                    format!("another process has locked it for {} s; end that process", BUSY.as_secs());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
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
