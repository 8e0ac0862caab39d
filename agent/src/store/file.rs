//! Opens the file of a store: makes it, brings it up to date, and says what is wrong with one that can't be used.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::StoreError;
use super::schema::{APPLICATION, VERSION, migrations};

/// How long is waited for other processes that write: each of them needs milliseconds.
pub(super) const BUSY: Duration = Duration::from_secs(15);

/// How long is waited between two attempts where SQLite does not wait by itself.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// Bytes that the log of changes is cut back to when its content is in the file (16 MiB).
const LOG: i64 = 16 << 20;

/// One thread of this process at a time makes files: closing any handle of a file lets go of all locks that the process
/// holds on it (fcntl(2)), those of SQLite's connections as well.
static MAKING: Mutex<()> = Mutex::new(());

/// Opens the file for writing; makes it and its folder where they are missing.
pub(super) fn open(file: &Path) -> Result<Connection, StoreError> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error| told(file, "can't be opened", &error);
    // The many that open a file which is as it must be need not wait for each other.
    if file.exists() {
        let connection = connect(file).map_err(failed)?;
        if is_current(&connection, file)? {
            return Ok(connection);
        }
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let unusable = |what: &str, error: &dyn std::fmt::Display| {
        StoreError(format!("the folder {} {what}: {error}; {ELSEWHERE}", folder.display()))
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| unusable("for conversations can't be made", &error))?;
    let _lock = lock(folder).map_err(|error| unusable("of conversations can't be locked", &error))?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(StoreError(format!("{} can't be made: {error}; {ELSEWHERE}", file.display())));
        }
    }
    let mut connection = connect(file).map_err(failed)?;
    if !is_current(&connection, file)? {
        bring_up_to_date(&mut connection, file)?;
    }
    Ok(connection)
}

/// What a person can do about most of it.
const ELSEWHERE: &str = "correct that, or name another file as agent.conversations in the configuration";

/// A connection as this program needs it.
pub(super) fn connect(file: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // With a log of changes, a killed process loses nothing that it has written; only a machine that stops may.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // What is deleted is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    // A file that others have had their hands in runs nothing.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG, |_| Ok(()))?;
    Ok(connection)
}

/// Whether the file is as this version writes it. An empty one is not, and is no error.
fn is_current(connection: &Connection, file: &Path) -> Result<bool, StoreError> {
    let failed = |error| told(file, "can't be read", &error);
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError(format!("{} may only be read, not written; {ELSEWHERE}", file.display())));
    }
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let version = number("user_version").map_err(failed)?;
    let application = number("application_id").map_err(failed)?;
    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0)).map_err(failed)?;
    if (version != 0 || tables != 0) && application != i64::from(APPLICATION) {
        return Err(StoreError(format!(
            "{} is the database of another program; {ELSEWHERE}",
            file.display()
        )));
    }
    if version > VERSION {
        return Err(StoreError(format!(
            "{} was written by a newer version of this program (its schema is {version}, the newest known here is \
             {VERSION}); update this program, or name another file as agent.conversations in the configuration",
            file.display()
        )));
    }
    let journal = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    Ok(version == VERSION && journal.map_err(failed)?.eq_ignore_ascii_case("wal"))
}

/// Runs while the folder is locked: no other process does the same.
fn bring_up_to_date(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    let failed = |error| told(file, "can't be made ready", &error);
    // Room that deleted conversations leave can be given back; only a file without tables takes this.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    // Readers do not wait for the one who writes. SQLite does not wait here by itself.
    let journal = retry(BUSY, || {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    });
    let journal = journal.map_err(failed)?;
    if !journal.eq_ignore_ascii_case("wal") {
        return Err(StoreError(format!(
            "{} is in a file system that lets processes share no memory (write-ahead log: {journal}); name a file on a \
             local disk as agent.conversations in the configuration",
            file.display()
        )));
    }
    let migrated = migrations().to_latest(connection);
    migrated.map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => failed(err),
        other => StoreError(format!("{} can't be brought up to date: {other}", file.display())),
    })
}

/// Does something until it no longer fails for being busy, or so much time has passed.
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

/// Whether another one writes at the moment.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

/// Holds the folder for this process (flock(2)), or gives up after [`BUSY`].
fn lock(folder: &Path) -> io::Result<File> {
    let held = File::open(folder)?;
    let until = Instant::now() + BUSY;
    loop {
        match held.try_lock() {
            Ok(()) => return Ok(held),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process has held it for {} s; end that one", BUSY.as_secs());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// What SQLite says, with what to do about it.
pub(super) fn told(file: &Path, what: &str, error: &rusqlite::Error) -> StoreError {
    use ErrorCode::{
        CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly, SystemIoFailure,
        TooBig,
    };
    let help = match error.sqlite_error_code() {
        _ if is_busy(error) => "another process has kept it locked; end that one, or try again later",
        Some(DiskFull) => "the disk is full; make room",
        Some(ReadOnly | PermissionDenied) => {
            "it may not be written; check its permissions and those of its folder"
        }
        Some(CannotOpen) => "check that it is a file, and the permissions of it and of its folder",
        Some(NotADatabase) => "it is no file of conversations; name another one as agent.conversations",
        Some(DatabaseCorrupt) => "it is damaged; move it away, and a new one is made",
        Some(SystemIoFailure) => "reading or writing the disk failed; check that it has room and works",
        Some(TooBig) => "a message is too large to be kept",
        _ => "check the file and its disk",
    };
    StoreError(format!("{} {what}: {error}; {help}", file.display()))
}
