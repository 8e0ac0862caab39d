//! Conversations in a file, which agents of several processes share.

use std::path::Path;

use crate::message::Message;
use crate::model::Usage;

/// A file with conversations.
#[derive(Debug, Clone)]
pub struct Store {}

/// What is known of a conversation when it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewConversation {
    /// Whose it is: `subagent:NAME:RUN` for that of a subagent, nothing for a person's.
    pub label: Option<String>,
    /// The run of the agent that asked for it.
    pub parent_run: Option<String>,
    /// The `ref` of the model.
    pub model: String,
    /// The working folder.
    pub folder: String,
}

/// A conversation in the list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// By which it is found.
    pub id: String,
    /// What was known when it began.
    pub about: NewConversation,
    /// When it began, in milliseconds since 1970.
    pub begun: i64,
    /// When its last message was kept.
    pub changed: i64,
    /// How many messages it has.
    pub messages: u64,
    /// What all replies cost.
    pub usage: Usage,
    /// The beginning of its first text.
    pub title: String,
}

/// A message that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// By which it is found.
    pub id: String,
    /// The message before it.
    pub parent: Option<String>,
    /// When it was kept, in milliseconds since 1970.
    pub at: i64,
    /// The message.
    pub message: Message,
    /// What it cost.
    pub usage: Usage,
}

/// A conversation as it goes on: each message is kept behind the one before. Dropping it waits for nothing; what was
/// handed over is written all the same, as long as the process lives.
#[derive(Debug)]
pub struct Conversation {}

/// Why a store does not do what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

impl Store {
    /// Opens the file, and makes it where there is none (mode 0600).
    ///
    /// # Errors
    /// What is wrong with it and what to do.
    pub fn open(_file: &Path) -> Result<Self, StoreError> {
        Ok(Store {})
    }

    /// Begins a conversation; it stands in the list with its first message.
    pub fn begin(&self, _about: NewConversation) -> Conversation {
        Conversation {}
    }

    /// Goes on with a conversation where it ended last, and gives its messages up to there, in order.
    ///
    /// # Errors
    /// Where there is none of this id, or its file can't be read.
    pub async fn resume(&self, _id: &str) -> Result<(Conversation, Vec<Kept>), StoreError> {
        Err(StoreError("not yet".to_owned()))
    }

    /// The conversations, the one that changed last first.
    ///
    /// # Errors
    /// Where the file can't be read.
    pub async fn list(&self) -> Result<Vec<Summary>, StoreError> {
        Ok(Vec::new())
    }

    /// Waits until all that was handed over is written.
    ///
    /// # Errors
    /// What could not be written, since the last time that this was asked.
    pub async fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Conversation {
    /// By which it is found.
    #[must_use]
    pub fn id(&self) -> &str {
        ""
    }

    /// Hands a message over to be kept, at once and without waiting; gives the id that it is kept under.
    pub fn keep(&mut self, _message: &Message, _usage: Usage) -> String {
        String::new()
    }
}
