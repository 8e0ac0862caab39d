//! MCP content blocks: text, images, audio, resources and any others a server sends.

mod address;
mod annotations;
pub(crate) mod data;
mod repair;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

pub use repair::presentable;

/// One content block as JSON, so that nothing is lost. A received block that breaks MCP's rules is repaired if that has
/// one meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Content(Value);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Content::received)
    }
}

impl Content {
    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content(json!({ "type": "text", "text": text.into() }))
    }

    /// An image block; `data` is Base64.
    #[must_use]
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content(json!({ "type": "image", "data": data.into(), "mimeType": mime_type.into() }))
    }

    /// An audio block; `data` is Base64.
    #[must_use]
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content(json!({ "type": "audio", "data": data.into(), "mimeType": mime_type.into() }))
    }

    /// An embedded resource: MCP's `TextResourceContents` or `BlobResourceContents`.
    #[must_use]
    pub(crate) fn resource(contents: &Value) -> Self {
        Content(json!({ "type": "resource", "resource": contents }))
    }

    /// A block as a server or a program sent it.
    pub(crate) fn received(block: Value) -> Self {
        Content(repair::repaired(&block).unwrap_or(block))
    }

    /// Whether a value can be read as a content block.
    pub(crate) fn is_block(value: &Value) -> bool {
        repair::is_block(value)
    }

    /// The block's type: `text`, `image`, `audio`, `resource`, `resource_link` or a newer one.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.string("type").unwrap_or("")
    }

    /// The text of a text block or of an embedded text resource.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self.kind() {
            "text" => self.string("text"),
            "resource" => self.0.get("resource")?.get("text")?.as_str(),
            _ => None,
        }
    }

    /// The Base64 data of an image, an audio block or an embedded binary resource.
    #[must_use]
    pub fn data(&self) -> Option<&str> {
        self.string("data").or_else(|| self.0.get("resource")?.get("blob")?.as_str())
    }

    /// The MIME type of an image, an audio block or a resource.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.string("mimeType").or_else(|| self.0.get("resource")?.get("mimeType")?.as_str())
    }

    /// The block as JSON.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        &self.0
    }

    fn string(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::text(text)
    }
}

impl From<&Content> for Content {
    fn from(content: &Content) -> Self {
        content.clone()
    }
}
