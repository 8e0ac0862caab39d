//! MCP content blocks: text, images, audio, resources and any others a server sends.

use std::fmt;

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
    pub(crate) fn of_json(value: Value) -> Result<Self, ContentError> {
        let (texts, object): (&[&'static str], Option<&'static str>) =
            match value.get("type").and_then(Value::as_str) {
                Some("text") => (&["text"], None),
                Some("image" | "audio") => (&["data", "mimeType"], None),
                Some("resource") => (&[], Some("resource")),
                Some("resource_link") => (&["uri", "name"], None),
                Some(other) => {
                    let fault = ContentFault::UnknownType(other.to_owned());
                    return Err(ContentError::invalid(&value, fault));
                }
                None if value.is_object() => return Err(ContentError::invalid(&value, ContentFault::NoType)),
                None => return Err(ContentError::invalid(&value, ContentFault::NotAnObject)),
            };
        let has = |key: &str, is: fn(&Value) -> bool| value.get(key).is_some_and(is);
        if let Some(key) = texts.iter().find(|key| !has(key, Value::is_string)) {
            return Err(ContentError::invalid(&value, ContentFault::NoString(key)));
        }
        match object.filter(|key| !has(key, Value::is_object)) {
            Some(key) => Err(ContentError::invalid(&value, ContentFault::NoObject(key))),
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

/// Why a value is not a content block.
#[derive(Debug)]
pub enum ContentError {
    /// It can't be written as JSON.
    Json(serde_json::Error),
    /// Its JSON is not that of a content block.
    Invalid {
        /// The start of its JSON.
        json: String,
        /// What is wrong with it.
        fault: ContentFault,
    },
}

/// How a JSON value differs from a content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentFault {
    /// It is not an object.
    NotAnObject,
    /// It has no string `type`.
    NoType,
    /// MCP has no such `type`.
    UnknownType(String),
    /// It lacks this string.
    NoString(&'static str),
    /// It lacks this object.
    NoObject(&'static str),
}

impl ContentError {
    fn invalid(value: &Value, fault: ContentFault) -> Self {
        const LONGEST: usize = 80;
        let mut json = value.to_string();
        if let Some((end, _)) = json.char_indices().nth(LONGEST) {
            json.truncate(end);
            json.push('…');
        }
        ContentError::Invalid { json, fault }
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentError::Json(error) => error.fmt(formatter),
            ContentError::Invalid { json, fault } => write!(
                formatter,
                "{json} {fault}; a content block has the `type` text, image, audio, resource or resource_link"
            ),
        }
    }
}

impl fmt::Display for ContentFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentFault::NotAnObject => formatter.write_str("is not an object"),
            ContentFault::NoType => formatter.write_str("has no `type`"),
            ContentFault::UnknownType(found) => {
                write!(formatter, "is not a content block: its `type` is {found:?}")
            }
            ContentFault::NoString(key) => write!(formatter, "has no string `{key}`"),
            ContentFault::NoObject(key) => write!(formatter, "has no object `{key}`"),
        }
    }
}

impl std::error::Error for ContentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ContentError::Json(error) => Some(error),
            ContentError::Invalid { .. } => None,
        }
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
