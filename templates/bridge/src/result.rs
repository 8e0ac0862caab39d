//! The answer of a tool: MCP's `CallToolResult` as a program sees it.

use std::fmt;
use std::panic::Location;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::content::Content;
use crate::items::{Items, said, texts};

/// The whole answer of a tool: of one without an output schema, and of any by `.raw()`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The content blocks.
    pub content: Vec<Content>,
    /// The structured content, if the tool sent any.
    pub structured: Option<Value>,
}

impl ToolResult {
    /// The text blocks, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        join_text(&self.content)
    }

    /// The first image, for `emit`.
    #[must_use]
    pub fn image(&self) -> Option<&Content> {
        self.content.iter().find(|part| part.kind() == "image")
    }

    /// The answer as a `T`: the structured content, or else the text, parsed as JSON or as a Python literal. A list is
    /// also read from one text block for each item.
    ///
    /// # Errors
    /// If the text is neither, or the value is not a `T`.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> crate::Result<T> {
        let read = self.items().and_then(|items| Ok(items.read()?));
        match read {
            Ok(value) => Ok(value),
            Err(error) => Err(error.at(Location::caller())),
        }
    }

    fn items(&self) -> crate::Result<Items> {
        const WHOSE: &str = "an answer";
        if let Some(structured) = &self.structured {
            return Ok(Items::of(structured.clone()));
        }
        if let Some(items) = Items::of_texts(&texts(&self.content), WHOSE)? {
            return Ok(items);
        }
        match said(&self.text()) {
            Ok(said) => Ok(Items::of(said.exact(WHOSE)?)),
            Err(error) => anyhow::bail!(
                "the answer is neither JSON ({error}) nor a Python literal: {}",
                shorten(&self.text())
            ),
        }
    }
}

impl fmt::Display for ToolResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

/// A result serializes as its structured content, or else its text, or else its content blocks.
impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(structured) = &self.structured {
            structured.serialize(serializer)
        } else if self.content.iter().all(|part| part.as_text().is_some()) {
            self.text().serialize(serializer)
        } else {
            self.content.serialize(serializer)
        }
    }
}

/// Joins the text blocks by newlines.
pub(crate) fn join_text(content: &[Content]) -> String {
    texts(content).join("\n")
}

/// The beginning of a text, quoted.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
