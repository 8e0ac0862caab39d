//! What is said in a conversation, whatever the provider calls it. The same form is kept in the store.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, or the agent that asks.
    User,
    /// The model.
    Assistant,
    /// The tools that the model has called.
    Tool,
}

impl Role {
    /// The role's name, as it is kept.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    /// By its name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Role::User, Role::Assistant, Role::Tool].into_iter().find(|role| role.name() == name)
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it spoke. Providers want it back as it was.
    Thinking {
        /// The thought, as far as the provider tells it; empty where it tells only the signature.
        text: String,
        /// By which the provider knows it again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// An image, a sound or a document.
    Media {
        /// Its type, such as `image/png`.
        media_type: String,
        /// Its bytes in base64 (RFC 4648, section 4).
        data: String,
        /// What it is called, where it has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A tool that the model calls.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
}

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// By which its result finds it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object, or whatever else the model wrote.
    pub arguments: Value,
    /// By which the provider knows the thoughts before the call again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Texts and media.
    pub blocks: Vec<Block>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
}

impl Message {
    /// A message of one text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Message { role, blocks: vec![Block::text(text)] }
    }

    /// All its text, part by part.
    #[must_use]
    pub fn texts(&self) -> String {
        texts(&self.blocks)
    }

    /// The tools that it calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<&ToolCall> {
        let calls = self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        });
        calls.collect()
    }
}

impl Block {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text { text: text.into() }
    }
}

impl ToolResult {
    /// What a call answered in one text.
    #[must_use]
    pub fn of(call: &ToolCall, text: impl Into<String>, is_error: bool) -> Self {
        ToolResult { id: call.id.clone(), name: call.name.clone(), blocks: vec![Block::text(text)], is_error }
    }

    /// All its text.
    #[must_use]
    pub fn texts(&self) -> String {
        texts(&self.blocks)
    }
}

fn texts(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
