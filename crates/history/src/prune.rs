//! Keeps the file within its bounds on age and size, and finds executions whose process was killed.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, ToSql, Transaction, TransactionBehavior, params};

use crate::event::Bounds;

/// Executions that are deleted in one transaction: other processes write in between, and the write-ahead log stays
/// small.
const BATCH: i64 = 16;

/// The share of the bound on size that is used after the oldest executions were deleted, in percent: so that deleting
/// is rare, and does not take long.
const REFILLED: u64 = 98;

/// The factor by which events are larger in the file than in memory, at most: with their index and the rests of pages.
const GROWTH: u64 = 4;

/// Part of the bound on size that is left to the write-ahead log, and as much again for what deleting needs: an eighth,
/// at most 32 MiB.
const RESERVE_PART: u64 = 8;
const MOST_RESERVE: u64 = 32 << 20;

/// Part of that at which the write-ahead log begins anew: a transaction that is larger may follow.
const LOG_PART: u64 = 4;
const MOST_LOG: u64 = 4 << 20;

/// Maximum length of the write-ahead log of a process that has ended (1 MiB: reading it takes less than a millisecond, and
/// emptying it takes two syncs, once in about twenty runs).
pub(crate) const SHORT_LOG: u64 = 1 << 20;

/// Pages freed after a deletion (64 MiB of them at most).
const FREED_PAGES: u64 = 16_384;

/// Whose an execution is, in SQL: of a subject, or of an address where there are no subjects.
const HOLDER: &str = "coalesce(issuer, '') || ' ' || coalesce(subject, address, '')";

/// About how much an execution takes, in SQL: a token has about four bytes. The texts themselves would have to be read.
const SIZE: &str = "code_bytes + 4 * (answer_tokens + direct_tokens)";

/// The time after which a process that is not seen counts as ended, in milliseconds: six times the interval at which it
/// reports itself.
pub(crate) const GONE: i64 = 30_000;

/// Limits the file of a connection to the bound on size. A write beyond it fails with "full".
pub(crate) fn limit(connection: &Connection, bounds: Bounds) -> Result<(), rusqlite::Error> {
    let reserve = reserve(bounds);
    let page = pages(connection, "page_size")?.max(1);
    // The log begins anew when it has this size, and shrinks to it if a transaction made it larger.
    let log = (reserve / LOG_PART).min(MOST_LOG);
    connection.pragma_update_and_check(None, "wal_autocheckpoint", integer(log / page), |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", integer(log), |_| Ok(()))?;
    set_limit(connection, bounds.size - 2 * reserve)
}

fn set_limit(connection: &Connection, bytes: u64) -> Result<(), rusqlite::Error> {
    let page = pages(connection, "page_size")?.max(1);
    let most = (bytes / page).min(u64::from(u32::MAX - 1));
    connection.pragma_update_and_check(None, "max_page_count", integer(most), |_| Ok(()))
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn pages(connection: &Connection, pragma: &str) -> Result<u64, rusqlite::Error> {
    connection
        .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
        .map(|pages| pages.try_into().unwrap_or(0))
}

/// Deletes executions that are too old, `most` times [`BATCH`] of them, and records those whose process was killed as
/// interrupted.
pub(crate) fn expire(
    connection: &mut Connection,
    bounds: Bounds,
    now: i64,
    most: usize,
) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let gone = "status IS NULL AND process NOT IN (SELECT id FROM processes WHERE seen >= ?1)";
    // The others were indexed at their end.
    let index = "INSERT INTO words (rowid, text) SELECT execution, code FROM contents";
    let sql = format!("{index} WHERE execution IN (SELECT number FROM executions WHERE {gone})");
    transaction.execute(&sql, [now - GONE])?;
    let seen = "SELECT seen FROM processes WHERE processes.id = executions.process";
    let sql = format!("UPDATE executions SET status = 'interrupted', ended = ({seen}) WHERE {gone}");
    transaction.execute(&sql, [now - GONE])?;
    transaction.execute("DELETE FROM processes WHERE seen < ?1", [now - GONE])?;
    transaction.commit()?;
    let oldest = now.saturating_sub(bounds.age);
    for _ in 0..most {
        if delete_first(connection, "begun < ?1", oldest)? < BATCH {
            break;
        }
    }
    Ok(())
}

/// Deletes the oldest executions until a fiftieth of the bound on size is free, and enough for events of this size in
/// bytes; returns whether more could be deleted, or was deleted. If one holder has more than half, only its executions
/// are deleted, so that it does not displace those of others.
pub(crate) fn shrink(
    connection: &mut Connection,
    bounds: Bounds,
    bytes: usize,
) -> Result<bool, rusqlite::Error> {
    let limited = pages(connection, "max_page_count")?;
    let page = pages(connection, "page_size")?.max(1);
    let events = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH) / page;
    let most = (limited * REFILLED / 100).min(limited.saturating_sub(events));
    set_limit(connection, bounds.size)?;
    let mut is_smaller = most > 0;
    let mut largest = largest_holder(connection)?;
    loop {
        let used = pages(connection, "page_count")?.saturating_sub(pages(connection, "freelist_count")?);
        if used <= most || delete_oldest(connection, &mut largest)? == 0 {
            // Deleting may have made the file larger than its limit, which is never below its size.
            let over = pages(connection, "page_count")?.saturating_sub(limited);
            free(connection, over)?;
            limit(connection, bounds)?;
            return Ok(is_smaller);
        }
        is_smaller = true;
    }
}

/// Deletes the oldest executions of the largest holder; if it has none left, or there is no such holder, those of all.
/// Returns their number.
fn delete_oldest(connection: &mut Connection, largest: &mut Option<String>) -> Result<i64, rusqlite::Error> {
    if let Some(holder) = largest {
        let deleted = delete_first(connection, &format!("{HOLDER} = ?1"), &*holder)?;
        if deleted > 0 {
            return Ok(deleted);
        }
        *largest = None;
    }
    delete_first(connection, "?1 = 0", 0)
}

/// The holder whose executions take more than half of the file, if there is one.
fn largest_holder(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let sql = format!(
        "SELECT holder FROM (SELECT {HOLDER} AS holder, sum({SIZE}) AS size FROM executions GROUP BY holder)
         WHERE 2 * size > (SELECT sum({SIZE}) FROM executions)"
    );
    connection.query_row(&sql, [], |row| row.get(0)).optional()
}

/// Deletes the oldest executions for which a condition on `?1` is true, at most [`BATCH`]; returns their number.
fn delete_first(
    connection: &mut Connection,
    condition: &str,
    value: impl ToSql,
) -> Result<i64, rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = format!("SELECT number FROM executions WHERE {condition} ORDER BY begun LIMIT ?2");
    let numbers: Vec<i64> = {
        let mut statement = transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(params![value, BATCH], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    delete(&transaction, &numbers)?;
    transaction.commit()?;
    Ok(i64::try_from(numbers.len()).unwrap_or(BATCH))
}

/// Deletes executions by their numbers.
pub(crate) fn delete(transaction: &Transaction<'_>, numbers: &[i64]) -> Result<(), rusqlite::Error> {
    for number in numbers {
        transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([number])?;
        transaction.prepare_cached("DELETE FROM executions WHERE number = ?1")?.execute([number])?;
    }
    Ok(())
}

/// Removes deleted texts from the index and from the write-ahead log, and frees their space.
pub(crate) fn tidy(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
    free(connection, FREED_PAGES)
}

/// Empties the write-ahead log if it is larger than what is left to it: merging the index writes much at once. A process
/// that ends (`is_last`) leaves a short log, because the next one reads all of it; SQLite begins a log anew only in a
/// process that writes more than once. Readers can prevent both, until the next time.
pub(crate) fn shorten_log(
    connection: &Connection,
    bounds: Bounds,
    file: &Path,
    is_last: bool,
) -> Result<(), rusqlite::Error> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let limit = if is_last { SHORT_LOG } else { reserve(bounds) };
    match std::fs::metadata(log) {
        Ok(found) if found.len() > limit => free(connection, 0),
        // Without a log, there is nothing to do.
        _ => Ok(()),
    }
}

fn reserve(bounds: Bounds) -> u64 {
    (bounds.size / RESERVE_PART).min(MOST_RESERVE)
}

/// Frees the space of this many unused pages at most, and empties the write-ahead log.
fn free(connection: &Connection, pages: u64) -> Result<(), rusqlite::Error> {
    // 0 would free all of them.
    let vacuum = (pages > 0).then(|| format!("PRAGMA incremental_vacuum({pages})"));
    for pragma in vacuum.as_deref().into_iter().chain(["PRAGMA wal_checkpoint(TRUNCATE)"]) {
        let mut statement = connection.prepare(pragma)?;
        let mut rows = statement.query([])?;
        // Each row that is read is a freed page.
        while rows.next()?.is_some() {}
    }
    Ok(())
}
