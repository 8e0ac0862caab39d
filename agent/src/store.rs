//! Conversations in a file, which agents of several processes share.
//!
//! The file is an SQLite database; `store::file` opens it and brings it up to date, `store::schema` says what it holds,
//! `store::writer` is the one thread of a store that writes, `store::reader` looks things up.

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

pub use self::error::StoreError;
pub use self::record::{NewConversation, StoredMessage, Summary};

/// Letters of a conversation's id.
const CONVERSATION_ID: usize = 10;

/// Letters of a message's id, of which there are more.
const MESSAGE_ID: usize = 12;

/// A file with conversations. Its clones share one thread that writes.
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

/// A conversation as it goes on: each message is kept behind the one before. Dropping it waits for nothing; what was
/// handed over is written all the same, as long as the process lives.
#[derive(Debug)]
pub struct Conversation {
    id: String,
    /// Until its first message is handed over.
    beginning: Option<writer::NewRecord>,
    last: Option<String>,
    shared: Arc<Shared>,
}

impl Store {
    /// Opens the file, and makes it where there is none (mode 0600, its folder 0700). Waits some seconds for other
    /// processes that are about to do the same.
    ///
    /// # Errors
    /// What is wrong with it and what to do.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let file = std::path::absolute(file)
            .map_err(|error| StoreError(format!("{} is no path of a file: {error}", file.display())))?;
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

    /// Begins a conversation; it stands in the list with its first message.
    #[must_use]
    pub fn begin(&self, about: NewConversation) -> Conversation {
        let beginning = writer::NewRecord { about, at: now() };
        let id = random::short_id(CONVERSATION_ID);
        Conversation { id, beginning: Some(beginning), last: None, shared: Arc::clone(&self.shared) }
    }

    /// Goes on with a conversation where it ended last, and gives its messages up to there, in order. `id` may be the
    /// beginning of an id, if it is that of no other.
    ///
    /// # Errors
    /// Where there is none of this id, or its file can't be read.
    pub async fn resume(&self, id: &str) -> Result<(Conversation, Vec<StoredMessage>), StoreError> {
        self.go_on(id, None).await
    }

    /// Goes on behind any message of a conversation: where that has been answered already, a branch begins.
    ///
    /// # Errors
    /// Where there is no such conversation or message, or the file can't be read.
    pub async fn resume_at(
        &self,
        id: &str,
        message: &str,
    ) -> Result<(Conversation, Vec<StoredMessage>), StoreError> {
        self.go_on(id, Some(message.to_owned())).await
    }

    async fn go_on(
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
    /// Where the file can't be read.
    pub async fn list(&self) -> Result<Vec<Summary>, StoreError> {
        self.read(|reader| reader.list()).await
    }

    /// One conversation, by its id or a beginning of it that no other has.
    ///
    /// # Errors
    /// Where there is none, or more than one, or the file can't be read.
    pub async fn find(&self, id: &str) -> Result<Summary, StoreError> {
        let id = id.to_owned();
        self.read(move |reader| reader.summary(&reader.find(&id)?)).await
    }

    /// The messages from the first one to `message`, or to the one that was kept last.
    ///
    /// # Errors
    /// Where there is no such conversation or message, or the file can't be read.
    pub async fn path(&self, id: &str, message: Option<&str>) -> Result<Vec<StoredMessage>, StoreError> {
        let (id, message) = (id.to_owned(), message.map(str::to_owned));
        self.read(move |reader| reader.path(&reader.find(&id)?, message.as_deref())).await
    }

    /// A conversation with the messages of all its branches, in the order in which they were kept.
    ///
    /// # Errors
    /// Where there is none, or the file can't be read.
    pub async fn whole(&self, id: &str) -> Result<(Summary, Vec<StoredMessage>), StoreError> {
        let id = id.to_owned();
        self.read(move |reader| {
            let id = reader.find(&id)?;
            Ok((reader.summary(&id)?, reader.all(&id)?))
        })
        .await
    }

    /// Deletes conversations with all their branches, or none of them; gives what was deleted.
    ///
    /// # Errors
    /// Where one of them is not there, or the file can't be written.
    pub async fn delete(&self, ids: &[String]) -> Result<Vec<Summary>, StoreError> {
        let ids = ids.to_vec();
        self.ask(|answer| Work::Delete(ids, answer)).await
    }

    /// Deletes the conversations that last changed before a time, in milliseconds since 1970; gives what was deleted.
    ///
    /// # Errors
    /// Where the file can't be written.
    pub async fn prune(&self, before: i64) -> Result<Vec<Summary>, StoreError> {
        self.ask(|answer| Work::Prune(before, answer)).await
    }

    /// Waits until all that was handed over is written; what could not be before is tried once more.
    ///
    /// # Errors
    /// What could not be written, since the last time that this was asked.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Work::Flush).await
    }

    /// What can't be written at the moment, without waiting for anything.
    #[must_use]
    pub fn trouble(&self) -> Option<StoreError> {
        self.shared.state.trouble()
    }

    /// Hands work to the thread that writes, behind all that was handed over before, and waits for its answer.
    async fn ask<T>(
        &self,
        work: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Work,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let gone = || StoreError(format!("{}: nothing is written any more", self.shared.file.display()));
        self.shared.writer.send(work(answer)).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// Reads on a connection of its own, which waits for no writer, and in a thread that may wait for a disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(reader::Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let reading = tokio::task::spawn_blocking(move || {
            let failed = |error| file::told(&shared.file, "can't be read", &error);
            let mut connection: Connection = file::connect(&shared.file).map_err(failed)?;
            // One view of the file for all that is read.
            let transaction = connection.transaction().map_err(failed)?;
            read(reader::Reader::new(&transaction, &shared.file))
        });
        let ended =
            |error| StoreError(format!("reading {} was given up: {error}", self.shared.file.display()));
        reading.await.map_err(ended)?
    }
}

impl Conversation {
    /// By which it is found.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The message that the next one is kept behind.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Hands a message over to be kept, at once and without waiting; gives the id that it is kept under.
    pub fn keep(&mut self, message: &Message, usage: Usage) -> String {
        let id = random::short_id(MESSAGE_ID);
        let parent = self.last.replace(id.clone());
        self.shared.state.hand_over(
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
