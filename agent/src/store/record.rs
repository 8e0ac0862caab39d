//! What is known of a conversation that is kept, and of its messages.

use crate::message::Message;
use crate::model::Usage;

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
    /// How many messages it has, in all branches.
    pub messages: u64,
    /// What all replies cost.
    pub usage: Usage,
    /// The beginning of its first text, in one line.
    pub title: String,
}

/// A message that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
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
