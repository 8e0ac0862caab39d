//! MCP content blocks: text, images, audio, resources and any others a server sends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One content block, kept as received JSON, so that nothing is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Content(Value);

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

    /// The content block in a JSON value.
    ///
    /// # Errors
    /// If it is not one of MCP's (MCP, "Tools", "Tool Result"), with the reason.
    pub(crate) fn of_json(value: Value) -> Result<Self, String> {
        let (texts, object): (&[&str], Option<&str>) = match value.get("type").and_then(Value::as_str) {
            Some("text") => (&["text"], None),
            Some("image" | "audio") => (&["data", "mimeType"], None),
            Some("resource") => (&[], Some("resource")),
            Some("resource_link") => (&["uri", "name"], None),
            Some(other) => {
                return Err(no_block(&value, &format!("is not a content block: its `type` is {other:?}")));
            }
            None if value.is_object() => return Err(no_block(&value, "has no `type`")),
            None => return Err(no_block(&value, "is not an object")),
        };
        let has = |key: &str, is: fn(&Value) -> bool| value.get(key).is_some_and(is);
        if let Some(key) = texts.iter().find(|key| !has(key, Value::is_string)) {
            return Err(no_block(&value, &format!("has no string `{key}`")));
        }
        match object.filter(|key| !has(key, Value::is_object)) {
            Some(key) => Err(no_block(&value, &format!("has no object `{key}`"))),
            None => Ok(Content(value)),
        }
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

/// The error for a value that is not a content block.
fn no_block(value: &Value, why: &str) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    let shown = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    format!("{shown} {why}; a content block has the `type` text, image, audio, resource or resource_link")
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
