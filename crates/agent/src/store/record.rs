//! Stored data about conversations and messages.

use crate::message::Message;
use crate::model::Usage;

/// Data about a new conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewConversation {
    /// Its owner: `subagent:NAME:RUN` for that of a subagent, nothing for the user's.
    pub label: Option<String>,
    /// The agent run that requested it.
    pub parent_run: Option<String>,
    /// The `ref` of the model.
    pub model: String,
    /// The working folder.
    pub folder: String,
}

/// A conversation in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// The data from its start.
    pub about: NewConversation,
    /// When it started, in milliseconds since 1970.
    pub begun: i64,
    /// When its last message was stored.
    pub changed: i64,
    /// The number of its messages, in all branches.
    pub messages: u64,
    /// The tokens of all replies.
    pub usage: Usage,
    /// The beginning of its first text, on one line.
    pub title: String,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// Its id.
    pub id: String,
    /// The message before it.
    pub parent: Option<String>,
    /// When it was stored, in milliseconds since 1970.
    pub at: i64,
    /// The message.
    pub message: Message,
    /// The tokens used.
    pub usage: Usage,
}
