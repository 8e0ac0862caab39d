//! The answer of a tool: MCP's `CallToolResult` as a program sees it.

use std::fmt;
use std::panic::Location;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::content::Content;
use crate::convert::{Readable, Reader, Unheld, readable, shortened};
use crate::error::{ToolError, ToolErrorKind};
use crate::python;
use crate::tool::Tool;
use crate::warning::warn;

/// The answer of a tool without an output schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The content blocks.
    pub content: Vec<Content>,
    /// The structured content, if the tool sent any.
    pub structured: Option<Value>,
}

impl ToolResult {
    /// Converts an answer to a result.
    ///
    /// # Errors
    /// If its structured content has a number that a [`Value`] can't hold.
    pub(crate) fn of(reply: Reply, tool: &Tool) -> Result<Self, ToolError> {
        let Reply { content, structured, unheld, .. } = reply;
        match structured {
            Some(mut structured) if let Some(number) = unheld.find(&structured) => {
                let message = format!("the structured content has {}", too_large(number));
                unheld.spell_out(&mut structured);
                Err(ToolError { content, ..mismatch_error(tool, message, structured) })
            }
            structured => Ok(ToolResult { content, structured }),
        }
    }

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

    /// The answer as a `T`: the structured content, or else the text, parsed as JSON or as a Python literal.
    ///
    /// # Errors
    /// If the text is neither, or the value is not a `T`.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> crate::Result<T> {
        let read = self.value().and_then(|value| Ok(serde_json::from_value(value)?));
        match read {
            Ok(value) => Ok(value),
            Err(error) => Err(error.at(Location::caller())),
        }
    }

    fn value(&self) -> crate::Result<Value> {
        if let Some(structured) = &self.structured {
            return Ok(structured.clone());
        }
        let text = self.text();
        let literal;
        let mut json = text.as_str();
        if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
            literal = python::to_json(&text).ok_or_else(|| {
                anyhow::anyhow!(
                    "the answer is neither JSON ({error}) nor a Python literal: {}",
                    shorten(&text)
                )
            })?;
            json = &literal;
        }
        let Readable { text: json, unheld, rounded } = readable(json);
        let value = serde_json::from_str(&json)
            .map_err(|error| anyhow::anyhow!("the answer is not JSON ({error}): {}", shorten(&text)))?;
        if let Some(number) = unheld.find(&value) {
            anyhow::bail!("the answer has {}; `.text()` returns it unchanged", too_large(number));
        }
        warn_of_rounding("an answer", rounded);
        Ok(value)
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

/// `CallToolResult` on the wire (MCP, "Tools", "Calling Tools").
#[derive(Debug, Deserialize)]
pub struct Reply {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default, rename = "structuredContent")]
    structured: Option<Value>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    /// Numbers in it that a `Value` can't hold.
    #[serde(skip)]
    unheld: Unheld,
}

/// A reader of the value to convert, which also holds it for an error.
pub(crate) fn reader(reply: Reply, tool: &Tool) -> Result<Reader, ToolError> {
    if let Some(structured) = reply.structured {
        return Ok(Reader::new(structured, reply.unheld));
    }
    let text = join_text(&reply.content);
    let Readable { text: json, unheld, rounded } = readable(&text);
    match serde_json::from_str::<Value>(&json) {
        Ok(value) => {
            warn_of_rounding(&format!("{}.{}", tool.server, tool.name), rounded);
            Ok(Reader::new(value, unheld))
        }
        Err(_) => Err(mismatch_error(
            tool,
            format!("no structured content, and the text is not JSON: {}", shorten(&text)),
            serde_json::to_value(&reply.content).unwrap_or_default(),
        )),
    }
}

/// The error of an answer that does not match its type.
pub(crate) fn mismatch(reader: Reader, tool: &Tool) -> ToolError {
    let (raw, mismatch) = reader.end();
    let message = mismatch.map_or_else(String::new, |mismatch| mismatch.to_string());
    mismatch_error(tool, message, raw)
}

fn mismatch_error(tool: &Tool, message: String, raw: Value) -> ToolError {
    ToolError {
        kind: ToolErrorKind::Mismatch,
        server: tool.server.to_owned(),
        tool: tool.name.to_owned(),
        message,
        content: Vec::new(),
        raw: Some(Box::new(raw)),
    }
}

/// Parses an answer; if it has `isError`, it is the tool's own failure.
pub(crate) fn read(raw: &str, tool: &Tool) -> Result<Reply, ToolError> {
    let Readable { text, unheld, rounded } = readable(raw);
    let reply: Reply = serde_json::from_str(&text).map_err(|error| ToolError {
        kind: ToolErrorKind::Protocol,
        server: tool.server.to_owned(),
        tool: tool.name.to_owned(),
        message: format!("the answer is not a CallToolResult: {error}"),
        content: Vec::new(),
        raw: serde_json::from_str(raw).ok().map(Box::new),
    })?;
    if !reply.is_error {
        warn_of_rounding(&format!("{}.{}", tool.server, tool.name), rounded);
        return Ok(Reply { unheld, ..reply });
    }
    let text = join_text(&reply.content);
    Err(ToolError {
        kind: ToolErrorKind::Failed,
        server: tool.server.to_owned(),
        tool: tool.name.to_owned(),
        message: if text.is_empty() { "the tool gave no reason".to_owned() } else { text },
        content: reply.content,
        raw: serde_json::from_str(raw).ok().map(Box::new),
    })
}

/// Describes a number that fits neither 64 bits nor a double.
fn too_large(number: &str) -> String {
    format!(
        "the number {number}, which a `serde_json::Value` can't hold: it fits neither 64 bits nor a double"
    )
}

fn warn_of_rounding(whose: &str, number: Option<&str>) {
    if let Some(number) = number {
        let double = number.parse::<f64>().unwrap_or(f64::NAN);
        let number = shortened(number);
        warn(
            format!("{whose} has the number {number}, which is read as the nearest double, {double:?}"),
            None,
        );
    }
}

fn join_text(content: &[Content]) -> String {
    let parts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    parts.join("\n")
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
