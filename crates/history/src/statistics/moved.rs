//! Takes up the counters of earlier versions, which kept them in a file of their own.
//!
//! A process of an earlier version may still write to that file. So it is emptied each time, and removed once no other
//! process has opened it.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use database::{Durability, Format};
use report::Report;
use rusqlite::{Connection, TransactionBehavior};

use super::errors::{not_created, refused, sqlite};

/// The file's name, in the folder of the history.
const NAME: &str = "stats.db";

/// The tables of the file ("TSST").
pub(super) const FORMAT: Format = Format { application: 0x5453_5354, steps: &[TABLES] };

const TABLES: &str = "
CREATE TABLE calls (
    day INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    ms REAL NOT NULL,
    longest_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (day, server, tool)
) STRICT, WITHOUT ROWID;
CREATE TABLE durations (
    day INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (day, server, tool, bucket)
) STRICT, WITHOUT ROWID;
";

/// Adds the counters of the file.
const ADD: &str = "
INSERT INTO main.counters (day, server, tool, calls, failures, cached, ms, longest_ms, bytes)
SELECT day, server, tool, calls, failures, cached, ms, longest_ms, bytes FROM old.calls WHERE true
ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls,
    failures = failures + excluded.failures,
    cached = cached + excluded.cached,
    ms = ms + excluded.ms,
    longest_ms = max(longest_ms, excluded.longest_ms),
    bytes = min(bytes + excluded.bytes, 1 << 60);
INSERT INTO main.durations (day, server, tool, bucket, calls)
SELECT day, server, tool, bucket, calls FROM old.durations WHERE true
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls;
INSERT INTO main.facts (name, value) VALUES ('statistics_moved', x'');
";

/// Empties the file.
const EMPTY: &str = "DELETE FROM old.calls; DELETE FROM old.durations;";

/// Whether the counters of the file were added, and it may not have been emptied: a transaction on two files is not
/// atomic if the machine crashes.
const IS_MOVED: &str = "SELECT EXISTS (SELECT 1 FROM main.facts WHERE name = 'statistics_moved')";

fn file(history: &Path) -> PathBuf {
    history.with_file_name(NAME)
}

/// Whether the file of an earlier version is there.
pub(super) fn exists(history: &Path) -> bool {
    file(history).exists()
}

/// Moves the counters of the file into these of the history.
pub(super) fn take_up(connection: &mut Connection, history: &Path) -> Result<(), Report> {
    if !exists(history) {
        return Ok(());
    }
    let file = file(history);
    let folder = history.parent().unwrap_or(Path::new("/"));
    // Until the fact is gone, no other process may see it.
    let _lock = database::lock(folder).map_err(|error| not_created(history, error))?;
    if !file.exists() {
        return Ok(());
    }
    drop(FORMAT.open(&file, Durability::Written).map_err(|why| refused(&file, why))?);
    move_all(connection, &file).map_err(|error| sqlite(&file, "can't be moved into the history", error))
}

fn move_all(connection: &mut Connection, file: &Path) -> Result<(), rusqlite::Error> {
    // A path may be no UTF-8 text.
    connection.execute("ATTACH ?1 AS old", [file.as_os_str().as_bytes()])?;
    let moved = move_rows(connection);
    let is_alone = moved.is_ok() && leave_log(connection);
    connection.execute_batch("DETACH old")?;
    moved?;
    if is_alone {
        // Otherwise, an empty file remains.
        let _ = std::fs::remove_file(file);
    }
    connection.execute("DELETE FROM facts WHERE name = 'statistics_moved'", []).map(|_| ())
}

fn move_rows(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !transaction.query_row(IS_MOVED, [], |row| row.get::<_, bool>(0))? {
        transaction.execute_batch(ADD)?;
    }
    transaction.execute_batch(EMPTY)?;
    transaction.commit()
}

/// Ends the use of a write-ahead log, which SQLite does only if no other connection has opened the file.
fn leave_log(connection: &Connection) -> bool {
    let mode = connection.query_row("PRAGMA old.journal_mode = DELETE", [], |row| row.get::<_, String>(0));
    mode.is_ok_and(|mode| mode == "delete")
}
