//! The tables of the statistics in the file of the history, with bounded rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use database::Durability;
use report::Report;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior, params};

use super::errors::{not_created, refused, sqlite};
use super::histogram::Histogram;
use super::moved;
use super::tally::{Pending, Tally};
use crate::prune::SHORT_LOG;
use crate::schema::FORMAT;

/// Limit on the age of counters, in days.
const DAYS_KEPT: i64 = 400;

/// Limit on rows, each for one tool on one day; of the oldest days, the rows with the fewest calls are deleted first.
const ROWS_KEPT: i64 = 50_000;

/// Number of rows that a process adds or changes before it applies the limits again on the same day.
const PRUNE_INTERVAL: usize = 1_000;

/// Time limit on waiting for other processes that write: each of them needs milliseconds.
const BUSY: Duration = Duration::from_secs(5);

/// The opened tables.
#[derive(Debug)]
pub(super) struct Counters {
    connection: Connection,
    path: PathBuf,
    /// The day on which the limits were last applied, and the number of rows that were written since.
    pruned: Option<(i64, usize)>,
}

impl Counters {
    /// Opens the file; creates it (mode 0600) and its folder (0700) if they are missing. Takes up the counters of earlier
    /// versions.
    pub(super) fn create(path: &Path) -> Result<Self, Report> {
        // Counters that are moved are on the disk before their old file is removed.
        let durability = if moved::exists(path) { Durability::Synced } else { Durability::Written };
        let opened = FORMAT.create(path, durability);
        let mut connection = opened.map_err(|why| refused(path, why))?;
        database::make_private(path).map_err(|error| not_created(path, error))?;
        set_up(&connection).map_err(|error| sqlite(path, "can't be opened", error))?;
        moved::take_up(&mut connection, path)?;
        Ok(Counters { connection, path: path.to_owned(), pruned: None })
    }

    /// Opens the file if there are statistics.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, Report> {
        if path.exists() || moved::exists(path) { Self::create(path).map(Some) } else { Ok(None) }
    }

    /// Adds counters, and deletes those that are too old.
    pub(super) fn add(&mut self, pending: &Pending, today: i64) -> Result<(), Report> {
        let path = self.path.clone();
        let since = self.pruned.filter(|(day, _)| *day == today).map(|(_, rows)| rows + pending.len());
        let prunes = since.is_none_or(|rows| rows >= PRUNE_INTERVAL);
        let written = self.try_add(pending, prunes.then_some(today));
        written.map_err(|error| sqlite(&path, "can't be written", error))?;
        self.pruned = Some((today, since.filter(|_| !prunes).unwrap_or_default()));
        // The counters are written; a long log only costs time.
        let _ = self.shorten_log();
        Ok(())
    }

    fn try_add(&mut self, pending: &Pending, prune: Option<i64>) -> Result<(), rusqlite::Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for ((day, server, tool), tally) in pending {
            transaction.prepare_cached(ADD_CALLS)?.execute(params![
                day,
                server,
                tool,
                integer(tally.calls),
                integer(tally.failures),
                integer(tally.cached),
                tally.ms,
                tally.longest_ms,
                integer(tally.bytes),
            ])?;
            for (bucket, count) in &tally.durations.0 {
                let values = params![day, server, tool, bucket, integer(*count)];
                transaction.prepare_cached(ADD_DURATIONS)?.execute(values)?;
            }
        }
        if let Some(today) = prune {
            let deleted = transaction.execute("DELETE FROM counters WHERE day <= ?1", [today - DAYS_KEPT])?
                + transaction.execute(DELETE_EXCESS, [ROWS_KEPT])?;
            if deleted > 0 {
                transaction.execute(DELETE_DURATIONS, [])?;
            }
        }
        transaction.commit()
    }

    /// Empties a long write-ahead log: each process reads it once, and SQLite begins it anew only in a process that
    /// writes more than once.
    fn shorten_log(&self) -> Result<(), rusqlite::Error> {
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        if !std::fs::metadata(log).is_ok_and(|found| found.len() > SHORT_LOG) {
            return Ok(());
        }
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// The counters since a day, by server and tool.
    pub(super) fn read(
        &self,
        since: i64,
        server: Option<&str>,
    ) -> Result<BTreeMap<(String, String), Tally>, Report> {
        self.try_read(since, server).map_err(|error| sqlite(&self.path, "can't be read", error))
    }

    fn try_read(
        &self,
        since: i64,
        server: Option<&str>,
    ) -> Result<BTreeMap<(String, String), Tally>, rusqlite::Error> {
        // One consistent view for both queries.
        let snapshot = self.connection.unchecked_transaction()?;
        let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
        let mut calls = snapshot.prepare(READ_CALLS)?;
        let mut rows = calls.query(params![since, server])?;
        while let Some(row) = rows.next()? {
            let tally = Tally {
                calls: count(row.get(2)?),
                failures: count(row.get(3)?),
                cached: count(row.get(4)?),
                ms: row.get(5)?,
                longest_ms: row.get(6)?,
                bytes: count(row.get(7)?),
                durations: Histogram::default(),
            };
            tallies.insert((row.get(0)?, row.get(1)?), tally);
        }
        let mut durations = snapshot.prepare(READ_DURATIONS)?;
        let mut rows = durations.query(params![since, server])?;
        while let Some(row) = rows.next()? {
            if let Some(tally) = tallies.get_mut(&(row.get(0)?, row.get(1)?)) {
                tally.durations.0.insert(row.get(2)?, count(row.get(3)?));
            }
        }
        Ok(tallies)
    }

    /// Deletes all counters, or those of a server; returns the number of deleted calls.
    pub(super) fn reset(&mut self, server: Option<&str>) -> Result<u64, Report> {
        let path = self.path.clone();
        self.try_reset(server).map_err(|error| sqlite(&path, "can't be written", error))
    }

    fn try_reset(&mut self, server: Option<&str>) -> Result<u64, rusqlite::Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let calls: i64 = transaction.query_row(
            "SELECT coalesce(sum(calls), 0) FROM counters WHERE ?1 IS NULL OR server = ?1",
            [server],
            |row| row.get(0),
        )?;
        transaction.execute("DELETE FROM counters WHERE ?1 IS NULL OR server = ?1", [server])?;
        transaction.execute("DELETE FROM durations WHERE ?1 IS NULL OR server = ?1", [server])?;
        transaction.commit()?;
        Ok(count(calls))
    }
}

const ADD_CALLS: &str = "
INSERT INTO counters (day, server, tool, calls, failures, cached, ms, longest_ms, bytes)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls,
    failures = failures + excluded.failures,
    cached = cached + excluded.cached,
    ms = ms + excluded.ms,
    longest_ms = max(longest_ms, excluded.longest_ms),
    bytes = min(bytes + excluded.bytes, 1 << 60)";

const ADD_DURATIONS: &str = "
INSERT INTO durations (day, server, tool, bucket, calls) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls";

const DELETE_EXCESS: &str = "
DELETE FROM counters WHERE (day, server, tool) IN
    (SELECT day, server, tool FROM counters ORDER BY day DESC, calls DESC, server, tool LIMIT -1 OFFSET ?1)";

const DELETE_DURATIONS: &str = "
DELETE FROM durations WHERE (day, server, tool) NOT IN (SELECT day, server, tool FROM counters)";

const READ_CALLS: &str = "
SELECT server, tool, sum(calls), sum(failures), sum(cached), total(ms), max(longest_ms), sum(bytes)
FROM counters WHERE day >= ?1 AND (?2 IS NULL OR server = ?2) GROUP BY server, tool";

const READ_DURATIONS: &str = "
SELECT server, tool, bucket, sum(calls)
FROM durations WHERE day >= ?1 AND (?2 IS NULL OR server = ?2) GROUP BY server, tool, bucket";

fn set_up(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY)?;
    // The end of a run does not wait for the disk.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// A count as SQLite stores it.
fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).min(1 << 60)
}

fn count(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or_default()
}
