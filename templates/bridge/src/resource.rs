//! Lists and reads resources of servers from a snippet.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::content::Content;
use crate::content::data::Data as BlockData;
use crate::convert::{Argument, OptionalArgument};
use crate::error::ToolError;
use crate::lookup::Request;
use crate::wire::{FoundResource, Question};

/// Lists the resources and resource templates of all servers: `mcp_resources_list().server("docs").await?`.
pub fn mcp_resources_list() -> ListResources {
    ListResources {
        request: Request::new("mcp_resources_list", Question::Resources { server: None, query: None }),
    }
}

/// Reads a resource by its URI: `mcp_resource_read("file:///notes.txt").await?.text()`.
pub fn mcp_resource_read(uri: impl Argument<String>) -> ReadResource {
    let uri = uri.into_argument();
    ReadResource { request: Request::new("mcp_resource_read", Question::Resource { uri, server: None }) }
}

/// A list that is requested when awaited; see [`mcp_resources_list`].
#[derive(Debug)]
#[must_use = "nothing is listed until it is awaited: `mcp_resources_list().await?`"]
pub struct ListResources {
    request: Request,
}

impl ListResources {
    /// Only resources of this server, by its name.
    pub fn server<Form>(mut self, name: impl OptionalArgument<String, Form>) -> Self {
        if let Question::Resources { server, .. } = &mut self.request.question {
            *server = name.into_optional();
        }
        self
    }

    /// Only resources with each of these words in their URI, name or description.
    pub fn query<Form>(mut self, text: impl OptionalArgument<String, Form>) -> Self {
        if let Question::Resources { query, .. } = &mut self.request.question {
            *query = text.into_optional();
        }
        self
    }
}

impl Future for ListResources {
    type Output = Result<Vec<FoundResource>, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.request.poll(context)
    }
}

/// A resource that is read when awaited; see [`mcp_resource_read`].
#[derive(Debug)]
#[must_use = "nothing is read until it is awaited: `mcp_resource_read(…).await?`"]
pub struct ReadResource {
    request: Request,
}

impl ReadResource {
    /// Reads from the server with this name, if several have the URI.
    pub fn server<Form>(mut self, name: impl OptionalArgument<String, Form>) -> Self {
        if let Question::Resource { server, .. } = &mut self.request.question {
            *server = name.into_optional();
        }
        self
    }
}

impl Future for ReadResource {
    type Output = Result<Resource, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.request.poll(context)
    }
}

/// The contents of a resource: usually one, or several for something like a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The contents, in the server's order.
    pub contents: Vec<ResourceContent>,
}

impl Resource {
    /// The texts, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        self.contents.iter().filter_map(ResourceContent::text).collect::<Vec<_>>().join("\n")
    }

    /// The bytes of all contents, including text, concatenated.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.contents.iter().flat_map(ResourceContent::bytes).copied().collect()
    }
}

/// One content of a resource: text or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OnWire", into = "OnWire")]
pub struct ResourceContent {
    /// The URI.
    pub uri: String,
    /// The MIME type.
    pub mime_type: Option<String>,
    data: Data,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Data {
    Text(String),
    Bytes(Vec<u8>),
}

impl ResourceContent {
    /// The text, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            Data::Bytes(_) => None,
        }
    }

    /// The bytes, including those of text.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Text(text) => text.as_bytes(),
            Data::Bytes(bytes) => bytes,
        }
    }
}

/// For `emit`: images and audio as such, everything else as an embedded resource.
impl From<&ResourceContent> for Content {
    fn from(content: &ResourceContent) -> Self {
        let mime_type = content.mime_type.as_deref().unwrap_or_default();
        let data = || BASE64_STANDARD.encode(content.bytes());
        match (&content.data, mime_type.split_once('/')) {
            (Data::Bytes(_), Some(("image", _))) => Content::image(data(), mime_type),
            (Data::Bytes(_), Some(("audio", _))) => Content::audio(data(), mime_type),
            _ => Content::resource(&json!(content)),
        }
    }
}

impl From<ResourceContent> for Content {
    fn from(content: ResourceContent) -> Self {
        Content::from(&content)
    }
}

/// MCP's `TextResourceContents` or `BlobResourceContents`.
#[derive(Serialize, Deserialize)]
struct OnWire {
    uri: String,
    #[serde(rename = "mimeType", default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

impl TryFrom<OnWire> for ResourceContent {
    type Error = String;

    fn try_from(wire: OnWire) -> Result<Self, String> {
        let OnWire { uri, mut mime_type, text, blob } = wire;
        let data = match (text, blob) {
            (Some(text), _) => Data::Text(text),
            (None, Some(blob)) => {
                let blob = BlockData::read(blob.into()).map_err(|reason| format!("{uri}: {reason}"))?;
                mime_type = blob.mime_type.or(mime_type);
                let bytes = BASE64_STANDARD.decode(&blob.base64);
                Data::Bytes(bytes.map_err(|error| format!("{uri}: not Base64: {error}"))?)
            }
            (None, None) => return Err(format!("{uri}: neither text nor blob")),
        };
        Ok(ResourceContent { uri, mime_type, data })
    }
}

impl From<ResourceContent> for OnWire {
    fn from(content: ResourceContent) -> Self {
        let ResourceContent { uri, mime_type, data } = content;
        let (text, blob) = match data {
            Data::Text(text) => (Some(text), None),
            Data::Bytes(bytes) => (None, Some(BASE64_STANDARD.encode(bytes))),
        };
        OnWire { uri, mime_type, text, blob }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: &serde_json::Value) -> Result<Resource, String> {
        serde_json::from_value(json!({ "contents": contents, "_meta": {} }))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn text_and_bytes_are_distinguished() {
        let both = json!([
            { "uri": "a://1", "mimeType": "text/plain", "text": "one" },
            { "uri": "a://2", "mimeType": "image/png", "blob": "AP9h" },
            { "uri": "a://3", "text": "three" },
        ]);
        let resource = read(&both).unwrap();
        assert_eq!(resource.text(), "one\nthree");
        assert_eq!(resource.bytes(), b"one\x00\xffathree");
        assert_eq!((resource.contents[1].text(), resource.contents[1].bytes()), (None, &b"\x00\xffa"[..]));
        assert_eq!(json!(resource), json!({ "contents": both }));
    }

    #[test]
    fn invalid_contents_are_errors_with_the_uri() {
        for (content, why) in [
            (json!({ "uri": "a://1" }), "neither text nor blob"),
            (json!({ "uri": "a://1", "blob": "AP9h!" }), "not Base64"),
        ] {
            let error = read(&json!([content])).unwrap_err();
            assert!(error.contains("a://1") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn an_image_is_emitted_as_an_image() {
        let resource = read(&json!([
            { "uri": "a://1", "mimeType": "image/png", "blob": "AP9h" },
            { "uri": "a://2", "mimeType": "text/plain", "text": "two" },
        ]));
        let resource = resource.unwrap();
        let parts: Vec<Content> = resource.contents.iter().map(Content::from).collect();
        assert_eq!((parts[0].kind(), parts[0].data()), ("image", Some("AP9h")));
        assert_eq!((parts[1].kind(), parts[1].as_text()), ("resource", Some("two")));
    }
}
