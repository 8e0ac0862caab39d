//! Conversations in a file, shared by the agents of several processes.
//!
//! The file is an SQLite database; `store::file` opens and migrates it, `store::schema` defines its tables,
//! `store::writer` is the only writing thread of a store, `store::reader` runs queries.

mod content;
mod error;
mod file;
mod reader;
mod record;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use rusqlite::Connection;
use system::random;
use tokio::sync::oneshot;

use self::writer::{Keep, State, Work};
use crate::message::Message;
use crate::model::Usage;

pub use self::error::{StoreError, StoreErrorKind};
pub use self::record::{NewConversation, StoredMessage, Summary};

/// Length of a conversation's id, in letters.
const CONVERSATION_ID: usize = 10;

/// Length of a message's id, in letters; there are more messages than conversations.
const MESSAGE_ID: usize = 12;

/// A file with conversations. Clones share one writing thread.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: PathBuf,
    writer: mpsc::Sender<Work>,
    state: Arc<State>,
}

/// An open conversation: each message is stored after the previous one. Dropping it does not wait; queued messages are
/// still written, as long as the process lives.
#[derive(Debug)]
pub struct Conversation {
    id: String,
    /// Until its first message is queued.
    beginning: Option<writer::NewRecord>,
    last: Option<String>,
    shared: Arc<Shared>,
}

impl Store {
    /// Opens the file, or creates it (mode 0600, its folder 0700). Waits some seconds for other processes that do the
    /// same.
    ///
    /// # Errors
    /// Returns an error with a remedy if the file can't be opened or used.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let file = std::path::absolute(file).map_err(|error| {
            let message = format!("{} is not a file path: {error}", file.display());
            StoreError::new(StoreErrorKind::File, message).caused_by(error)
        })?;
        let connection = file::open(&file)?;
        let state = Arc::new(State::default());
        let writer = writer::start(connection, &file, Arc::clone(&state))?;
        Ok(Store { shared: Arc::new(Shared { file, writer, state }) })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.shared.file
    }

    /// Starts a conversation; it is listed from its first message on.
    #[must_use]
    pub fn begin(&self, about: NewConversation) -> Conversation {
        let beginning = writer::NewRecord { about, at: now() };
        let id = random::short_id(CONVERSATION_ID);
        Conversation { id, beginning: Some(beginning), last: None, shared: Arc::clone(&self.shared) }
    }

    /// Resumes a conversation at its last message, and returns its messages up to there, in order. `id` may be a unique
    /// prefix of an id.
    ///
    /// # Errors
    /// If there is no such id, or the file can't be read.
    pub async fn resume(&self, id: &str) -> Result<(Conversation, Vec<StoredMessage>), StoreError> {
        self.resume_from(id, None).await
    }

    /// Resumes a conversation after any of its messages: if that already has a successor, a branch starts.
    ///
    /// # Errors
    /// If there is no such conversation or message, or the file can't be read.
    pub async fn resume_at(
        &self,
        id: &str,
        message: &str,
    ) -> Result<(Conversation, Vec<StoredMessage>), StoreError> {
        self.resume_from(id, Some(message.to_owned())).await
    }

    async fn resume_from(
        &self,
        id: &str,
        message: Option<String>,
    ) -> Result<(Conversation, Vec<StoredMessage>), StoreError> {
        let id = id.to_owned();
        let (id, path) = self
            .read(move |reader| {
                let id = reader.find(&id)?;
                let path = reader.path(&id, message.as_deref())?;
                Ok((id, path))
            })
            .await?;
        let last = path.last().map(|kept| kept.id.clone());
        Ok((Conversation { id, beginning: None, last, shared: Arc::clone(&self.shared) }, path))
    }

    /// The conversations, the one that changed last first.
    ///
    /// # Errors
    /// If the file can't be read.
    pub async fn list(&self) -> Result<Vec<Summary>, StoreError> {
        self.read(|reader| reader.list()).await
    }

    /// One conversation, by its id or a unique prefix of it.
    ///
    /// # Errors
    /// If there is none, or more than one, or the file can't be read.
    pub async fn find(&self, id: &str) -> Result<Summary, StoreError> {
        let id = id.to_owned();
        self.read(move |reader| reader.summary(&reader.find(&id)?)).await
    }

    /// The messages from the first one to `message`, or to the one that was stored last.
    ///
    /// # Errors
    /// If there is no such conversation or message, or the file can't be read.
    pub async fn path(&self, id: &str, message: Option<&str>) -> Result<Vec<StoredMessage>, StoreError> {
        let (id, message) = (id.to_owned(), message.map(str::to_owned));
        self.read(move |reader| reader.path(&reader.find(&id)?, message.as_deref())).await
    }

    /// A conversation with the messages of all its branches, in the order in which they were stored.
    ///
    /// # Errors
    /// If there is none, or the file can't be read.
    pub async fn whole(&self, id: &str) -> Result<(Summary, Vec<StoredMessage>), StoreError> {
        let id = id.to_owned();
        self.read(move |reader| {
            let id = reader.find(&id)?;
            Ok((reader.summary(&id)?, reader.all(&id)?))
        })
        .await
    }

    /// Deletes conversations with all their branches, all or none of them; returns the deleted ones.
    ///
    /// # Errors
    /// If one of them does not exist, or the file can't be written.
    pub async fn delete(&self, ids: &[String]) -> Result<Vec<Summary>, StoreError> {
        let ids = ids.to_vec();
        self.ask(|answer| Work::Delete(ids, answer)).await
    }

    /// Deletes the conversations that last changed before a time, in milliseconds since 1970; returns them.
    ///
    /// # Errors
    /// If the file can't be written.
    pub async fn prune(&self, before: i64) -> Result<Vec<Summary>, StoreError> {
        self.ask(|answer| Work::Prune(before, answer)).await
    }

    /// Waits until all queued messages are written; retries those that could not be written before.
    ///
    /// # Errors
    /// Returns an error if a message could not be written since the last flush.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Work::Flush).await
    }

    /// The current write error, without waiting.
    #[must_use]
    pub fn trouble(&self) -> Option<StoreError> {
        self.shared.state.trouble()
    }

    /// Queues work for the writing thread, and waits for its result.
    async fn ask<T>(
        &self,
        work: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Work,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let gone = || {
            let message = format!("{}: the writing thread has ended", self.shared.file.display());
            StoreError::new(StoreErrorKind::Thread, message)
        };
        self.shared.writer.send(work(sender)).map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }

    /// Reads on a separate connection, which waits for no writer, and on a thread that may block on the disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(reader::Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let reading = tokio::task::spawn_blocking(move || {
            let failed = |error| file::error(&shared.file, "can't be read", error);
            let mut connection: Connection = file::connect(&shared.file).map_err(failed)?;
            // One consistent view of the file for all queries.
            let transaction = connection.transaction().map_err(failed)?;
            read(reader::Reader::new(&transaction, &shared.file))
        });
        reading.await.map_err(|error| {
            let message = format!("reading {} failed: {error}", self.shared.file.display());
            StoreError::new(StoreErrorKind::Thread, message).caused_by(error)
        })?
    }
}

impl Conversation {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The message that the next one follows.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Queues a message to be stored, without waiting; returns its id.
    pub fn keep(&mut self, message: &Message, usage: Usage) -> String {
        let id = random::short_id(MESSAGE_ID);
        let parent = self.last.replace(id.clone());
        self.shared.state.queue(
            &self.shared.writer,
            Keep {
                conversation: self.id.clone(),
                beginning: self.beginning.take(),
                id: id.clone(),
                parent,
                at: now(),
                role: message.role,
                usage,
                blocks: content::blocks(message),
            },
        );
        id
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
