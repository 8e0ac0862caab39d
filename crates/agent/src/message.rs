//! The messages of a conversation, independent of the provider. The store uses the same form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the calling agent.
    User,
    /// The model.
    Assistant,
    /// The tools that the model called.
    Tool,
}

impl Role {
    /// The role's name, as stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    /// The role with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Role::User, Role::Assistant, Role::Tool].into_iter().find(|role| role.name() == name)
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its content, in order.
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
    /// The model's thoughts before its text. Providers require them back unchanged.
    Thinking {
        /// The thoughts, as far as the provider returns them; empty if it returns only the signature.
        text: String,
        /// The provider's signature of the thoughts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// An image, a sound or a document.
    Media {
        /// Its type, such as `image/png`.
        media_type: String,
        /// Its bytes in base64 (RFC 4648, section 4).
        data: String,
        /// Its file name, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A tool call by the model.
    ToolCall(ToolCall),
    /// A tool's result.
    ToolResult(ToolResult),
    /// A summary by the model, which replaces all messages before it for the model.
    Summary {
        /// The text.
        text: String,
    },
}

/// A tool call by the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object, or whatever the model wrote.
    pub arguments: Value,
    /// The provider's signatures of the thoughts before the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

/// A tool's result.
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

    /// All its texts, joined by line breaks.
    #[must_use]
    pub fn texts(&self) -> String {
        texts(&self.blocks)
    }

    /// Its tool calls, in order.
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
    /// The result of a call as one text.
    #[must_use]
    pub fn of(call: &ToolCall, text: impl Into<String>, is_error: bool) -> Self {
        ToolResult { id: call.id.clone(), name: call.name.clone(), blocks: vec![Block::text(text)], is_error }
    }

    /// All its texts, joined by line breaks.
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
