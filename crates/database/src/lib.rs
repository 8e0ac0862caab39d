//! Opens SQLite files that the processes of a user share: creates them, migrates them, and waits for other processes.
//!
//! The owner of a file words its errors ([`Error`]) and knows its tables ([`Format`]).

#![forbid(unsafe_code)]

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// Time limit on waiting for other processes that write: each of them needs milliseconds.
pub const BUSY: Duration = Duration::from_secs(15);

/// Interval between two attempts if SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(10);

/// Readable and writable by the owner only.
const MODE: u32 = 0o600;

/// Only one thread of this process at a time creates files: closing any descriptor of a file releases all locks of the
/// process on it (fcntl(2)), including those of SQLite's connections.
static CREATING: Mutex<()> = Mutex::new(());

/// The tables of a file.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The application id that distinguishes the file from other databases.
    pub application: i32,
    /// The migrations in SQL, the first one for an empty file; a published one never changes.
    pub steps: &'static [&'static str],
}

/// The part of a write that survives a crash of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Everything that was written: each write waits for the disk.
    Synced,
    /// The part that the system has written to the disk by then, and always an intact file. A killed process loses
    /// nothing.
    Written,
}

/// The reason why a file can't be used.
#[derive(Debug)]
pub enum Error {
    /// Its folder can't be created.
    Folder(io::Error),
    /// Its folder can't be locked against other processes.
    Lock(io::Error),
    /// It can't be created.
    File(io::Error),
    /// SQLite fails; the text says at what.
    Sqlite(&'static str, rusqlite::Error),
    /// Another program wrote it.
    Foreign,
    /// A newer version of this program wrote it.
    Newer {
        /// The version of its tables.
        version: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// Its file system has no shared memory for processes; the text is the kind of journal that it has.
    NoSharedMemory(String),
}

impl Format {
    /// The version after all migrations.
    #[must_use]
    pub const fn version(&self) -> i64 {
        self.steps.len() as i64
    }

    /// Opens a file for writing; creates it (mode 0600) and its folder (0700) if they are missing.
    ///
    /// # Errors
    /// If it can't be created, opened or migrated, or is not of this format.
    pub fn create(&self, file: &Path, durability: Durability) -> Result<Connection, Error> {
        let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
        // Processes that open an up-to-date file need not wait for each other.
        if file.exists()
            && let (connection, true) = self.opened(file, durability)?
        {
            return Ok(connection);
        }
        let folder = file.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::Folder)?;
        let _lock = lock(folder).map_err(Error::Lock)?;
        match OpenOptions::new().write(true).create_new(true).mode(MODE).open(file) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::File(error)),
        }
        self.open(file, durability)
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// If it can't be opened or migrated, or is not of this format.
    pub fn open(&self, file: &Path, durability: Durability) -> Result<Connection, Error> {
        let (mut connection, is_current) = self.opened(file, durability)?;
        if !is_current {
            initialize(&connection)?;
            retry(BUSY, || self.migrate(&mut connection)).map_err(Error::initializing)?;
        }
        Ok(connection)
    }

    /// Opens a file, and checks whether its tables are up to date.
    fn opened(&self, file: &Path, durability: Durability) -> Result<(Connection, bool), Error> {
        let connection =
            connect(file, durability).map_err(|cause| Error::Sqlite("can't be opened", cause))?;
        let is_current = self.is_current(&connection)?;
        Ok((connection, is_current))
    }

    /// Whether the file has the current version. An empty or older one does not, and is not an error.
    fn is_current(&self, connection: &Connection) -> Result<bool, Error> {
        let Head { application, version, tables, journal } =
            Head::of(connection).map_err(|cause| Error::Sqlite("can't be read", cause))?;
        if (version != 0 || tables != 0) && application != i64::from(self.application) {
            return Err(Error::Foreign);
        }
        if version > self.version() {
            return Err(Error::Newer { version, known: self.version() });
        }
        Ok(version == self.version() && is_log(&journal))
    }

    /// Brings a file to the current version. Several processes may try at the same time.
    fn migrate(&self, connection: &mut Connection) -> Result<(), rusqlite::Error> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version = number(&transaction, "user_version")?;
        for step in self.steps.iter().skip(usize::try_from(version).unwrap_or_default()) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", self.application)?;
        transaction.pragma_update(None, "user_version", self.version())?;
        transaction.commit()
    }
}

impl Error {
    fn initializing(cause: rusqlite::Error) -> Self {
        Error::Sqlite("can't be initialized", cause)
    }
}

/// The facts that tell whose file it is.
struct Head {
    application: i64,
    version: i64,
    tables: i64,
    journal: String,
}

impl Head {
    fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        // One transaction: another process may be creating the tables.
        let snapshot = connection.unchecked_transaction()?;
        let (application, version) =
            (number(&snapshot, "application_id")?, number(&snapshot, "user_version")?);
        let tables = snapshot.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
        drop(snapshot);
        let journal = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        Ok(Head { application, version, tables, journal })
    }
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Opens a connection to an existing file with this program's settings, without looking at its tables.
///
/// # Errors
/// If SQLite can't open it.
pub fn connect(file: &Path, durability: Durability) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // With a write-ahead log, a killed process loses nothing that it has written; only a crash of the machine may.
    let synchronous = match durability {
        Durability::Synced => "FULL",
        Durability::Written => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // Deleted data is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    // Other programs may have changed the file, so its schema runs no functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Sets what a file keeps for ever, before its tables are created.
fn initialize(connection: &Connection) -> Result<(), Error> {
    // Space of deleted rows can be freed; only possible in a file without tables.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(Error::initializing)?;
    // Readers do not wait for writers with a write-ahead log. SQLite itself does not wait here.
    let set =
        || connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
    let journal = retry(BUSY, set).map_err(Error::initializing)?;
    if is_log(&journal) { Ok(()) } else { Err(Error::NoSharedMemory(journal)) }
}

fn is_log(journal: &str) -> bool {
    journal.eq_ignore_ascii_case("wal")
}

/// Locks a folder for this process (flock(2)), or fails after [`BUSY`].
///
/// # Errors
/// If the folder can't be opened, or another process keeps it locked.
pub fn lock(folder: &Path) -> io::Result<File> {
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

/// Takes the rights of other users on a file away.
///
/// # Errors
/// If its mode can't be changed.
pub fn make_private(file: &Path) -> io::Result<()> {
    // By its path: closing a descriptor of the file would release SQLite's locks (fcntl(2)).
    if file.metadata().is_ok_and(|found| found.mode() & 0o077 != 0) {
        std::fs::set_permissions(file, Permissions::from_mode(MODE))?;
    }
    Ok(())
}

/// Repeats an action while other processes are writing, up to a time limit.
///
/// # Errors
/// As the action.
pub fn retry<T>(
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
#[must_use]
pub fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

#[cfg(test)]
mod tests;
