//! The only writing thread of a store: writes in the order of the queue, several messages per transaction.
//!
//! A message that can't be written now (the disk is full, another process locks the file) waits, and is retried before
//! the next one. If a message can never be written, the rest of its conversation is no longer stored: a conversation
//! with a gap is useless.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::content::StoredBlock;
use super::error::{StoreError, StoreErrorKind};
use super::file;
use super::reader::Reader;
use super::record::{NewConversation, Summary};
use crate::message::Role;
use crate::model::Usage;

/// Limit on the messages in one transaction.
const MAX_BATCH: usize = 256;

/// Limit on messages that wait in memory to be written, in bytes (32 MiB). A single message may be larger.
const MAX_WAITING: usize = 32 << 20;

/// Bytes counted for a message in addition to its content.
const MESSAGE_BYTES: usize = 512;

/// Limit on the failures in one error.
const MAX_LOSSES: usize = 8;

/// Limit on the tokens recorded for a message, so that sums stay within SQLite's integers.
const MAX_TOKENS: i64 = 1 << 40;

/// Limit on the pages freed after a deletion (64 MiB of them).
const MAX_FREED_PAGES: u32 = 16_384;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// Work for the thread.
#[derive(Debug)]
pub(super) enum Work {
    /// A message, with its counted bytes.
    Keep(Box<Keep>, usize),
    /// A message of this conversation exceeded the queue's limit.
    Overflow(String),
    Flush(Answer<()>),
    Delete(Vec<String>, Answer<Vec<Summary>>),
    Prune(i64, Answer<Vec<Summary>>),
}

/// A message to store.
#[derive(Debug)]
pub(super) struct Keep {
    pub(super) conversation: String,
    /// Sent with the first message.
    pub(super) beginning: Option<NewRecord>,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) at: i64,
    pub(super) role: Role,
    pub(super) usage: Usage,
    pub(super) blocks: Vec<StoredBlock>,
}

/// The start of a conversation.
#[derive(Debug)]
pub(super) struct NewRecord {
    pub(super) about: NewConversation,
    pub(super) at: i64,
}

/// The state shared by the thread and its callers.
#[derive(Debug, Default)]
pub(super) struct State {
    waiting: AtomicUsize,
    /// Conversations with a message that exceeded the limit.
    overflowed: Mutex<HashSet<String>>,
    trouble: Mutex<Option<StoreError>>,
}

impl State {
    pub(super) fn trouble(&self) -> Option<StoreError> {
        self.trouble.lock().clone()
    }

    fn set(&self, trouble: Option<StoreError>) {
        *self.trouble.lock() = trouble;
    }

    /// Queues a message, if the limit allows it.
    pub(super) fn queue(&self, writer: &mpsc::Sender<Work>, keep: Keep) {
        let bytes = MESSAGE_BYTES + keep.blocks.iter().map(|block| block.json.len()).sum::<usize>();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let work = if waiting > 0 && waiting.saturating_add(bytes) > MAX_WAITING {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            let mut overflowed = self.overflowed.lock();
            if !overflowed.insert(keep.conversation.clone()) {
                // The writing thread is notified only once.
                return;
            }
            Work::Overflow(keep.conversation)
        } else {
            Work::Keep(Box::new(keep), bytes)
        };
        if writer.send(work).is_err() {
            let message = "conversations are no longer stored: the writing thread has ended";
            self.set(Some(StoreError::new(StoreErrorKind::Thread, message)));
        }
    }
}

/// Starts the thread; it ends when all senders are dropped and everything is written.
pub(super) fn start(
    connection: Connection,
    file: &Path,
    state: Arc<State>,
) -> Result<mpsc::Sender<Work>, StoreError> {
    let (sender, works) = mpsc::channel();
    let writer = Writer::new(connection, file.to_owned(), state);
    let thread = std::thread::Builder::new().name("conversations".to_owned());
    thread.spawn(move || writer.run(&works)).map_err(|error| {
        let message = format!("cannot start a thread to write {}: {error}", file.display());
        StoreError::new(StoreErrorKind::Thread, message).caused_by(error)
    })?;
    Ok(sender)
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    file: PathBuf,
    state: Arc<State>,
    waiting: VecDeque<(Box<Keep>, usize)>,
    /// Conversations that are no longer stored.
    given_up: HashSet<String>,
    /// Failures since the last report.
    losses: Vec<String>,
    /// The reason why the first waiting message is not written.
    obstacle: Option<StoreError>,
    /// Time limit on waiting for other writing processes.
    pub(super) patience: Duration,
}

impl Writer {
    pub(super) fn new(connection: Connection, file: PathBuf, state: Arc<State>) -> Self {
        let (waiting, given_up) = (VecDeque::new(), HashSet::new());
        Writer {
            connection,
            file,
            state,
            waiting,
            given_up,
            losses: Vec::new(),
            obstacle: None,
            patience: file::BUSY,
        }
    }

    fn run(mut self, works: &mpsc::Receiver<Work>) {
        while let Ok(work) = works.recv() {
            self.take(work);
            while self.waiting.len() < MAX_BATCH
                && let Ok(work) = works.try_recv()
            {
                self.take(work);
            }
            self.write();
        }
    }

    pub(super) fn take(&mut self, work: Work) {
        match work {
            Work::Keep(keep, bytes) => self.waiting.push_back((keep, bytes)),
            Work::Overflow(conversation) => {
                let why = format!("more than {} MiB are waiting to be written", MAX_WAITING >> 20);
                self.give_up(&conversation, &why);
            }
            // The caller may no longer wait for the result.
            Work::Flush(answer) => drop(answer.send(self.flush())),
            Work::Delete(ids, answer) => {
                self.write();
                let done =
                    self.delete(|reader| ids.iter().map(|id| reader.summary(&reader.find(id)?)).collect());
                drop(answer.send(done));
            }
            Work::Prune(before, answer) => {
                self.write();
                let done = self.delete(|reader| {
                    let all = reader.list()?;
                    Ok(all.into_iter().filter(|summary| summary.changed < before).collect())
                });
                drop(answer.send(done));
            }
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        self.write();
        let mut failures = std::mem::take(&mut self.losses);
        let more = failures.len().saturating_sub(MAX_LOSSES);
        failures.truncate(MAX_LOSSES);
        if more > 0 {
            failures.push(format!("and {}", report::count(more, "more conversation")));
        }
        if let Some(obstacle) = &self.obstacle {
            failures.push(format!(
                "not stored yet: {}: {obstacle}",
                report::count(self.waiting.len(), "message")
            ));
        }
        self.state.set(self.obstacle.clone());
        if failures.is_empty() {
            return Ok(());
        }
        let error = StoreError::new(StoreErrorKind::NotStored, failures.join("\n"));
        Err(match &self.obstacle {
            Some(obstacle) => error.caused_by(obstacle.clone()),
            None => error,
        })
    }

    /// Writes all waiting messages, or records why that is not possible now.
    pub(super) fn write(&mut self) {
        self.obstacle = None;
        let mut most = MAX_BATCH;
        loop {
            let given_up = &self.given_up;
            let state = &self.state;
            self.waiting.retain(|(keep, bytes)| {
                let remains = !given_up.contains(&keep.conversation);
                if !remains {
                    state.waiting.fetch_sub(*bytes, Ordering::Relaxed);
                }
                remains
            });
            let count = self.waiting.len().min(most);
            if count == 0 {
                break;
            }
            match self.write_first(count) {
                Ok(()) => {
                    let written: usize = self.waiting.drain(..count).map(|(_, bytes)| bytes).sum();
                    self.state.waiting.fetch_sub(written, Ordering::Relaxed);
                }
                Err(error) if is_passing(&error) => {
                    self.obstacle = Some(file::error(&self.file, "can't be written", error));
                    break;
                }
                // One of them is the reason: try each separately.
                Err(_) if count > 1 => most = 1,
                Err(error) => self.lose_first(&error),
            }
        }
        if let Some(obstacle) = &self.obstacle {
            self.state.set(Some(obstacle.clone()));
        } else if self.losses.is_empty() {
            self.state.set(None);
        }
    }

    fn write_first(&mut self, count: usize) -> Result<(), rusqlite::Error> {
        let (connection, waiting) = (&mut self.connection, &self.waiting);
        file::retry(self.patience, || {
            // No other process writes from its start on, so there is no deadlock between processes.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (keep, _) in waiting.iter().take(count) {
                insert(&transaction, keep)?;
            }
            transaction.commit()
        })
    }

    fn lose_first(&mut self, error: &rusqlite::Error) {
        let Some((keep, _)) = self.waiting.front() else { return };
        let id = keep.conversation.clone();
        let is_new = keep.beginning.is_some();
        let known = "SELECT count(*) FROM conversations WHERE id = ?1";
        let known: Result<i64, _> = self.connection.query_row(known, [&id], |row| row.get(0));
        let why = match (error.sqlite_error_code(), known) {
            (Some(ErrorCode::ConstraintViolation), Ok(0)) if !is_new => {
                "it was deleted by another process".to_owned()
            }
            (Some(ErrorCode::TooBig), _) => "a message is too large for the file".to_owned(),
            _ => error.to_string(),
        };
        self.give_up(&id, &why);
    }

    fn give_up(&mut self, conversation: &str, why: &str) {
        if self.given_up.insert(conversation.to_owned()) {
            let file = self.file.display();
            let loss = format!("the conversation {conversation} is no longer stored in {file}: {why}");
            self.state.set(Some(StoreError::new(StoreErrorKind::NotStored, loss.clone())));
            self.losses.push(loss);
        }
    }

    /// Deletes conversations, all or none; `choose` runs in the same transaction.
    fn delete(
        &mut self,
        choose: impl FnOnce(&Reader<'_>) -> Result<Vec<Summary>, StoreError>,
    ) -> Result<Vec<Summary>, StoreError> {
        let failed = |error| file::error(&self.file, "can't be written", error);
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior).map_err(failed)?;
        let mut chosen = choose(&Reader::new(&transaction, &self.file))?;
        let mut seen = HashSet::new();
        chosen.retain(|summary| seen.insert(summary.id.clone()));
        for summary in &chosen {
            transaction.execute("DELETE FROM conversations WHERE id = ?1", [&summary.id]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        if !chosen.is_empty() {
            self.tidy_up();
        }
        Ok(chosen)
    }

    /// Frees space, and removes the deleted data from the write-ahead log. If other processes use the file, this is
    /// left to the next time.
    fn tidy_up(&self) {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        // Each row that is read is a freed page.
        let vacuum = format!("PRAGMA incremental_vacuum({MAX_FREED_PAGES})");
        for pragma in [&vacuum, "PRAGMA wal_checkpoint(TRUNCATE)"] {
            let _ = self.connection.prepare(pragma).and_then(|mut statement| {
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            });
        }
        let _ = self.connection.busy_timeout(self.patience);
    }
}

/// Whether the same message may succeed later.
fn is_passing(error: &rusqlite::Error) -> bool {
    use ErrorCode::{
        CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, OutOfMemory, PermissionDenied, ReadOnly,
        SystemIoFailure,
    };
    let of_the_file = matches!(
        error.sqlite_error_code(),
        Some(
            DiskFull
                | SystemIoFailure
                | ReadOnly
                | PermissionDenied
                | CannotOpen
                | OutOfMemory
                | DatabaseCorrupt
                | NotADatabase
        )
    );
    of_the_file || file::is_busy(error)
}

fn insert(transaction: &Transaction<'_>, keep: &Keep) -> Result<(), rusqlite::Error> {
    if let Some(NewRecord { about, at }) = &keep.beginning {
        let sql = "INSERT INTO conversations (id, label, parent_run, model, folder, begun) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let NewConversation { label, parent_run, model, folder } = about;
        let values = params![keep.conversation, label, parent_run, model, folder, at];
        transaction.prepare_cached(sql)?.execute(values)?;
    }
    let sql = "INSERT INTO messages (id, conversation, parent, role, at, input_tokens, output_tokens, cached_tokens) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let Usage { input, output, cached } = keep.usage;
    let [input, output, cached] =
        [input, output, cached].map(|count| i64::try_from(count).unwrap_or(i64::MAX).min(MAX_TOKENS));
    let role = keep.role.name();
    let values = params![keep.id, keep.conversation, keep.parent, role, keep.at, input, output, cached];
    transaction.prepare_cached(sql)?.execute(values)?;
    let number = transaction.last_insert_rowid();
    let sql = "INSERT INTO blocks (message, position, type, content) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = transaction.prepare_cached(sql)?;
    for (position, block) in keep.blocks.iter().enumerate() {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        statement.execute(params![number, position, block.kind, block.json])?;
    }
    Ok(())
}
