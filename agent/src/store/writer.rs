//! The one thread of a store that writes: in the order in which it is told, all that waits in one transaction.
//!
//! What can't be written for now (the disk is full, another process keeps the file locked) waits, and is tried again
//! before whatever comes next. What can never be written ends the keeping of its conversation: a conversation with a
//! hole is of no use to anybody.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::content::StoredBlock;
use super::error::StoreError;
use super::file;
use super::reader::Reader;
use super::record::{NewConversation, Summary};
use crate::message::Role;
use crate::model::Usage;

/// Most messages in one transaction.
const MOST_AT_ONCE: usize = 256;

/// Most bytes that wait to be written (32 MiB): they stand in memory. A single message may be larger.
const MOST_WAITING: usize = 32 << 20;

/// Bytes that a message counts beside its content.
const MESSAGE_BYTES: usize = 512;

/// Most failures that are told at once.
const MOST_LOSSES: usize = 8;

/// Most tokens that a message is said to have cost, so that sums stay within SQLite's numbers.
const MOST_TOKENS: i64 = 1 << 40;

/// Pages that are given back after deleting (64 MiB of them).
const PAGES_GIVEN_BACK: u32 = 16_384;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the thread is told to do.
#[derive(Debug)]
pub(super) enum Work {
    /// With its bytes.
    Keep(Box<Keep>, usize),
    /// A message of this conversation was more than could wait.
    Overflow(String),
    Flush(Answer<()>),
    Delete(Vec<String>, Answer<Vec<Summary>>),
    Prune(i64, Answer<Vec<Summary>>),
}

/// A message to be kept.
#[derive(Debug)]
pub(super) struct Keep {
    pub(super) conversation: String,
    /// With the first message.
    pub(super) beginning: Option<NewRecord>,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) at: i64,
    pub(super) role: Role,
    pub(super) usage: Usage,
    pub(super) blocks: Vec<StoredBlock>,
}

/// The beginning of a conversation.
#[derive(Debug)]
pub(super) struct NewRecord {
    pub(super) about: NewConversation,
    pub(super) at: i64,
}

/// What the thread and those who tell it what to do both know.
#[derive(Debug, Default)]
pub(super) struct State {
    waiting: AtomicUsize,
    /// Conversations of which a message did not fit.
    overflowed: Mutex<HashSet<String>>,
    trouble: Mutex<Option<StoreError>>,
}

impl State {
    pub(super) fn trouble(&self) -> Option<StoreError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, trouble: Option<StoreError>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Hands a message over, as far as there is room for it.
    pub(super) fn hand_over(&self, writer: &mpsc::Sender<Work>, keep: Keep) {
        let bytes = MESSAGE_BYTES + keep.blocks.iter().map(|block| block.json.len()).sum::<usize>();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let work = if waiting > 0 && waiting.saturating_add(bytes) > MOST_WAITING {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            let mut overflowed = self.overflowed.lock().unwrap_or_else(PoisonError::into_inner);
            if !overflowed.insert(keep.conversation.clone()) {
                // The thread that writes is told once.
                return;
            }
            Work::Overflow(keep.conversation)
        } else {
            Work::Keep(Box::new(keep), bytes)
        };
        if writer.send(work).is_err() {
            self.set(Some(StoreError(
                "conversations are not kept any more: the thread that writes has ended".to_owned(),
            )));
        }
    }
}

/// Starts the thread; it ends when nobody can tell it anything any more, and everything is written.
pub(super) fn start(
    connection: Connection,
    file: &Path,
    state: Arc<State>,
) -> Result<mpsc::Sender<Work>, StoreError> {
    let (sender, works) = mpsc::channel();
    let failed = |error| StoreError(format!("no thread can be started to write {}: {error}", file.display()));
    let writer = Writer::new(connection, file.to_owned(), state);
    let thread = std::thread::Builder::new().name("conversations".to_owned());
    thread.spawn(move || writer.run(&works)).map_err(failed)?;
    Ok(sender)
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    file: PathBuf,
    state: Arc<State>,
    waiting: VecDeque<(Box<Keep>, usize)>,
    /// Conversations that are kept no further.
    given_up: HashSet<String>,
    /// Why, since that was last told.
    losses: Vec<String>,
    /// Why the first that waits is not written.
    obstacle: Option<StoreError>,
    /// How long other processes that write are waited for.
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
            while self.waiting.len() < MOST_AT_ONCE
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
                let why = format!("more than {} MiB wait to be written", MOST_WAITING >> 20);
                self.give_up(&conversation, &why);
            }
            // Whoever asks may no longer wait for the answer.
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
        let mut told = std::mem::take(&mut self.losses);
        let more = told.len().saturating_sub(MOST_LOSSES);
        told.truncate(MOST_LOSSES);
        if more > 0 {
            told.push(format!("and {more} further conversations"));
        }
        if let Some(StoreError(why)) = &self.obstacle {
            told.push(format!("{} messages are not kept: {why}", self.waiting.len()));
        }
        self.state.set(self.obstacle.clone());
        if told.is_empty() { Ok(()) } else { Err(StoreError(told.join("\n"))) }
    }

    /// Writes all that waits, or finds out why that is not possible now.
    pub(super) fn write(&mut self) {
        self.obstacle = None;
        let mut most = MOST_AT_ONCE;
        loop {
            let given_up = &self.given_up;
            let state = &self.state;
            self.waiting.retain(|(keep, bytes)| {
                let stays = !given_up.contains(&keep.conversation);
                if !stays {
                    state.waiting.fetch_sub(*bytes, Ordering::Relaxed);
                }
                stays
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
                    self.obstacle = Some(file::told(&self.file, "can't be written", &error));
                    break;
                }
                // One of them is the reason: each by itself.
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
            // From its beginning on nobody else writes: there is nothing that two processes could wait for crosswise.
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
                "it was deleted in the meantime".to_owned()
            }
            (Some(ErrorCode::TooBig), _) => "a message is larger than the file can hold".to_owned(),
            _ => error.to_string(),
        };
        self.give_up(&id, &why);
    }

    fn give_up(&mut self, conversation: &str, why: &str) {
        if self.given_up.insert(conversation.to_owned()) {
            let file = self.file.display();
            let loss = format!("the conversation {conversation} is not kept in {file} from here on: {why}");
            self.state.set(Some(StoreError(loss.clone())));
            self.losses.push(loss);
        }
    }

    /// Deletes conversations, all or none; `choose` sees the file as it is then.
    fn delete(
        &mut self,
        choose: impl FnOnce(&Reader<'_>) -> Result<Vec<Summary>, StoreError>,
    ) -> Result<Vec<Summary>, StoreError> {
        let failed = |error| file::told(&self.file, "can't be written", &error);
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

    /// Gives room back, and takes what was deleted out of the log of changes. Where others use the file at the moment,
    /// that is left to the next time.
    fn tidy_up(&self) {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        // Each row that is read is a page that was given back.
        let vacuum = format!("PRAGMA incremental_vacuum({PAGES_GIVEN_BACK})");
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

/// Whether the same may succeed later, without the message being another one.
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
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX).min(MOST_TOKENS);
    let Usage { input, output, cached } = keep.usage;
    let [input, output, cached] = [input, output, cached].map(tokens);
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
