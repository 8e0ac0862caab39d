//! The only writing thread of a process: several events in each transaction, a fraction of a second after the first.
//!
//! Events that can't be written now (the disk is full, another process locks the file) wait for the next attempt; that
//! is reported once, and again only after a success in between.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use database::{BUSY, Durability};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior, params};
use system::random;
use terminal::Notifier;
use tokio::sync::oneshot;

use crate::clock::now;
use crate::error::HistoryError;
use crate::event::{Bounds, Event, Step};
use crate::file;
use crate::prune;
use crate::rows::Rows;

/// The time for which events are collected before they are written: a crash loses no more than this and one write.
const DELAY: Duration = Duration::from_millis(250);

/// Events that are written without further delay, in bytes (4 MiB).
const BATCH: usize = 4 << 20;

/// Events in one transaction: this part of the bound on size, at most 512 KiB (which it is from the smallest bound that
/// can be configured on); one event may be larger. So the write-ahead log stays small, and deleting a few executions
/// makes place.
const TRANSACTION_PART: u64 = 128;
const MOST_TRANSACTION: usize = 512 << 10;

/// Interval between two attempts to write, and between two reports that this process still runs its executions.
const AGAIN: Duration = Duration::from_secs(5);

/// Interval between two searches for executions that are too old.
const EXPIRY: Duration = Duration::from_secs(600);

/// The number of times that a few executions that are too old are deleted while someone waits for the history to be
/// written.
const EXPIRED: usize = 8;

/// Length of a process's id, in letters.
const PROCESS: usize = 12;

/// The name of the key of hashes among the facts.
const KEY: &str = "hash_key";

/// Passes events to the thread, which ends when everything is written after this is dropped.
#[derive(Debug)]
pub(crate) struct Sender {
    events: mpsc::Sender<Event>,
    /// Wakes the thread while it collects events: the events themselves do not wake it then.
    wake: mpsc::Sender<()>,
}

impl Sender {
    /// `waiting` are the bytes of all events that wait, with this one.
    pub(crate) fn send(&self, event: Event, waiting: usize) {
        let is_urgent = waiting >= BATCH || matches!(event, Event::Flush(_));
        // Without the thread, there is no history; that was reported.
        let _ = self.events.send(event);
        if is_urgent {
            let _ = self.wake.send(());
        }
    }
}

/// The receiving side of the thread.
struct Receiver {
    events: mpsc::Receiver<Event>,
    wakes: mpsc::Receiver<()>,
}

/// Starts the thread.
pub(crate) fn start(
    file: PathBuf,
    durability: Durability,
    bounds: Bounds,
    waiting: Arc<AtomicUsize>,
    notifier: &Notifier,
) -> Sender {
    let (events, received) = mpsc::channel();
    let (wake, wakes) = mpsc::channel();
    let receiver = Receiver { events: received, wakes };
    let writer = Writer {
        file,
        durability,
        bounds,
        process: random::short_id(PROCESS),
        waiting,
        notifier: notifier.clone(),
        open: None,
        batch: Vec::new(),
        bytes: 0,
        running: 0,
        flushed: Vec::new(),
        is_reported: false,
    };
    let thread = std::thread::Builder::new().name("history".to_owned());
    if let Err(error) = thread.spawn(move || writer.run(&receiver)) {
        notifier.warning(&format!("no history is kept: its thread can't be started: {error}"));
    }
    Sender { events, wake }
}

struct Writer {
    file: PathBuf,
    durability: Durability,
    bounds: Bounds,
    /// The id of this process in the file.
    process: String,
    waiting: Arc<AtomicUsize>,
    notifier: Notifier,
    open: Option<Open>,
    /// Events to write, and their size in bytes.
    batch: Vec<Event>,
    bytes: usize,
    /// Executions that have begun and not ended.
    running: usize,
    /// The senders that wait until everything is written.
    flushed: Vec<oneshot::Sender<()>>,
    is_reported: bool,
}

/// The file, opened.
struct Open {
    connection: Connection,
    /// Device and inode number, to recognize when the path names another file.
    identity: Option<(u64, u64)>,
    /// The key of hashes.
    key: [u8; 32],
    expired: Option<Instant>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver) {
        loop {
            let is_connected = self.collect(receiver);
            if self.open.is_some() || !self.batch.is_empty() {
                self.write();
            }
            for flushed in self.flushed.drain(..) {
                // The caller may no longer wait.
                let _ = flushed.send(());
            }
            if !is_connected {
                return;
            }
        }
    }

    /// Waits for events, and collects those that follow; returns whether more can follow.
    fn collect(&mut self, Receiver { events, wakes }: &Receiver) -> bool {
        let is_idle = self.running == 0 && self.batch.is_empty();
        let first = match is_idle {
            true => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => events.recv_timeout(AGAIN),
        };
        match first {
            Ok(event) => self.take(event),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        if self.flushed.is_empty() && self.bytes < BATCH {
            // Without a sender, it returns at once.
            let _ = wakes.recv_timeout(DELAY);
        }
        wakes.try_iter().for_each(drop);
        loop {
            match events.try_recv() {
                Ok(event) => self.take(event),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Flush(flushed) => self.flushed.push(flushed),
            Event::Bounds(bounds) => {
                self.bounds = bounds;
                // Opening the file applies them.
                self.open = None;
            }
            event => {
                match &event {
                    Event::Begin(_) => self.running += 1,
                    Event::Of(_, Step::End { .. }) => self.running = self.running.saturating_sub(1),
                    _ => {}
                }
                self.bytes += event.bytes();
                self.batch.push(event);
            }
        }
    }

    fn write(&mut self) {
        match self.try_write() {
            Ok(()) => self.is_reported = false,
            Err(error) => {
                self.open = None;
                if !std::mem::replace(&mut self.is_reported, true) {
                    self.notifier.warning(&format!("{error}. Executions go on"));
                }
            }
        }
    }

    fn try_write(&mut self) -> Result<(), HistoryError> {
        let mut open = match self.open.take() {
            Some(open) if open.identity == identity(&self.file) => open,
            _ => Open::new(&self.file, self.durability, self.bounds)?,
        };
        let failed = |cause| file::error(&self.file, "can't be written", cause);
        // First, so that its executions count as running. An idle process need not be seen.
        if self.running > 0 {
            database::retry(BUSY, || open.see(&self.process)).map_err(failed)?;
        }
        loop {
            let (count, bytes) = part(&self.batch, self.bounds);
            let events = self.batch.get(..count).unwrap_or_default();
            let mut room = bytes;
            while let Err(error) = database::retry(BUSY, || open.write(events, &self.process)) {
                // The file has its size: older executions make place. Merging the index may need more than the events.
                let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
                let may_fit =
                    is_full && prune::shrink(&mut open.connection, self.bounds, room).map_err(failed)?;
                if !may_fit {
                    return Err(failed(error));
                }
                room = room.saturating_mul(2);
            }
            self.batch.drain(..count);
            self.bytes -= bytes;
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            if self.batch.is_empty() {
                break;
            }
        }
        let is_last = !self.flushed.is_empty();
        prune::shorten_log(&open.connection, self.bounds, &self.file, is_last).map_err(failed)?;
        if open.expired.is_none_or(|last| last.elapsed() >= EXPIRY) {
            let most = if self.flushed.is_empty() { usize::MAX } else { EXPIRED };
            prune::expire(&mut open.connection, self.bounds, now(), most).map_err(failed)?;
            open.expired = Some(Instant::now());
        }
        self.open = Some(open);
        Ok(())
    }
}

/// The events of the next transaction: their number, and their size in bytes.
fn part(events: &[Event], bounds: Bounds) -> (usize, usize) {
    let most = usize::try_from(bounds.size / TRANSACTION_PART)
        .map_or(MOST_TRANSACTION, |part| part.min(MOST_TRANSACTION));
    let (mut count, mut bytes) = (0, 0);
    for event in events {
        if count > 0 && bytes + event.bytes() > most {
            break;
        }
        (count, bytes) = (count + 1, bytes + event.bytes());
    }
    (count, bytes)
}

fn identity(file: &std::path::Path) -> Option<(u64, u64)> {
    file.metadata().ok().map(|found| (found.dev(), found.ino()))
}

impl Open {
    fn new(file: &std::path::Path, durability: Durability, bounds: Bounds) -> Result<Self, HistoryError> {
        let connection = file::create(file, durability)?;
        let failed = |cause| file::error(file, "can't be written", cause);
        prune::limit(&connection, bounds).map_err(failed)?;
        let key = database::retry(BUSY, || key(&connection)).map_err(failed)?;
        Ok(Open { connection, identity: identity(file), key, expired: None })
    }

    fn write(&mut self, events: &[Event], process: &str) -> Result<(), rusqlite::Error> {
        // No other process writes from its start on, so there is no deadlock between processes.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut rows = Rows::new(&transaction, &self.key, process);
        for event in events {
            match event {
                Event::Begin(begin) => rows.begin(begin)?,
                Event::Of(owner, step) => rows.step(owner, step)?,
                Event::Flush(_) | Event::Bounds(_) => {}
            }
        }
        rows.finish()?;
        transaction.commit()
    }

    /// Records that a process is there.
    fn see(&self, process: &str) -> Result<(), rusqlite::Error> {
        let sql = "INSERT OR REPLACE INTO processes (id, seen) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![process, now()]).map(|_| ())
    }
}

/// Whether executions were written to the file; it may have only statistics.
pub(crate) fn has_key(connection: &Connection) -> Result<bool, rusqlite::Error> {
    stored_key(connection).map(|key| key.is_some())
}

fn stored_key(connection: &Connection) -> Result<Option<[u8; 32]>, rusqlite::Error> {
    let sql = "SELECT value FROM facts WHERE name = ?1";
    connection.query_row(sql, [KEY], |row| row.get(0)).optional()
}

/// The key of hashes, which is created before the first execution is written.
pub(crate) fn key(connection: &Connection) -> Result<[u8; 32], rusqlite::Error> {
    if let Some(key) = stored_key(connection)? {
        return Ok(key);
    }
    let new =
        random::bytes::<32>().map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    connection.execute("INSERT OR IGNORE INTO facts (name, value) VALUES (?1, ?2)", params![KEY, new])?;
    // Another process may have been first.
    stored_key(connection)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_not_wait_wakes_the_thread_while_it_collects() {
        let (events, _received) = mpsc::channel();
        let (wake, wakes) = mpsc::channel();
        let sender = Sender { events, wake };
        let bounds = || Event::Bounds(Bounds { age: 1, size: 1 });
        sender.send(bounds(), BATCH - 1);
        assert!(wakes.try_recv().is_err());
        sender.send(bounds(), BATCH);
        assert!(wakes.try_recv().is_ok());
        sender.send(Event::Flush(oneshot::channel().0), 0);
        assert!(wakes.try_recv().is_ok());
    }
}
