//! Reads a tool's answer (MCP, "Tools", "Calling Tools") as its failure, as a typed result, or whole.

use serde::Deserialize;
use serde_json::Value;

use crate::content::Content;
use crate::convert::{Readable, Reader, Unheld, readable, too_large, warn_of_rounded};
use crate::error::{ToolError, ToolErrorKind};
use crate::items::{Items, said, texts};
use crate::result::{ToolResult, join_text, shorten};
use crate::tool::Tool;
use crate::unread;
use crate::view::View;

/// `CallToolResult` on the wire.
#[derive(Debug, Deserialize)]
pub(crate) struct Reply {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default, rename = "structuredContent")]
    structured: Option<Value>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Value,
    /// Numbers in it that a `Value` can't hold.
    #[serde(skip)]
    unheld: Unheld,
}

/// An answer to read as a typed result.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Of the value to convert, which it also holds for an error; empty if the call failed.
    pub(crate) reader: Reader,
    /// The error if the value does not fit, instead of the mismatch.
    error: Option<Box<ToolError>>,
    content: Vec<Content>,
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
        warn_of_rounded(&whose(tool), rounded);
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

fn whose(tool: &Tool) -> String {
    format!("{}.{}", tool.server, tool.name)
}

impl Reply {
    /// The whole answer. Numbers that a `Value` can't hold are the nearest doubles, with a warning.
    pub(crate) fn whole(self, tool: &Tool) -> ToolResult {
        let Reply { content, mut structured, unheld, meta, .. } = self;
        if let Some(structured) = &mut structured {
            unheld.settle(structured, &whose(tool));
        }
        ToolResult { content, structured, view: View::of(meta, tool) }
    }

    /// The answer of a tool without an output schema.
    ///
    /// # Errors
    /// If its structured content has a number that a `Value` can't hold.
    pub(crate) fn untyped(self, tool: &Tool) -> Result<ToolResult, ToolError> {
        let Reply { content, structured, unheld, meta, .. } = self;
        match structured {
            Some(mut structured) if let Some(number) = unheld.find(&structured) => {
                let message = format!("the structured content has {}", too_large(number));
                unheld.spell_out(&mut structured);
                Err(mismatch(tool, &message, structured, content))
            }
            structured => Ok(ToolResult { content, structured, view: View::of(meta, tool) }),
        }
    }
}

impl Answer {
    /// The value to convert: the structured content, or what the text says.
    pub(crate) fn of(reply: Reply, tool: &Tool) -> Self {
        let Reply { content, structured, unheld, .. } = reply;
        match value(structured, unheld, &content, tool) {
            Some(reader) => Answer { reader, error: None, content },
            None => Answer::without_value(content, tool),
        }
    }

    /// Like [`Answer::of`], for a type that accepts anything, also text and content blocks.
    pub(crate) fn unchecked(reply: Reply, tool: &Tool) -> Self {
        let Reply { content, structured, unheld, .. } = reply;
        let reader = value(structured, unheld, &content, tool).unwrap_or_else(|| {
            let is_text = content.iter().all(|block| block.as_text().is_some());
            let value = match is_text {
                true => Value::String(join_text(&content)),
                false => serde_json::to_value(&content).unwrap_or_default(),
            };
            Reader::new(value, Unheld::default(), &whose(tool))
        });
        Answer { reader, error: None, content }
    }

    /// An answer without structured content and JSON. Its only block may be what the schema describes.
    fn without_value(content: Vec<Content>, tool: &Tool) -> Self {
        let text = join_text(&content);
        let message = match (content.is_empty(), text.trim().is_empty()) {
            (true, _) => "the answer is empty".to_owned(),
            (false, true) => {
                format!("no structured content, but {}", unread::described(&content))
            }
            (false, false) => format!("no structured content, and the text is not JSON: {}", shorten(&text)),
        };
        let blocks = serde_json::to_value(&content).unwrap_or_default();
        let reader = match content.as_slice() {
            // A list without items.
            [] => Reader::new(Value::Array(Vec::new()), Unheld::default(), &whose(tool)),
            [only] => Reader::new(only.as_json().clone(), Unheld::default(), &whose(tool)),
            _ => Reader::stopped(),
        };
        let error = mismatch(tool, &message, blocks, content);
        Answer { reader, error: Some(Box::new(error)), content: Vec::new() }
    }

    /// A call that failed.
    pub(crate) fn failed(error: ToolError) -> Self {
        Answer { reader: Reader::stopped(), error: Some(Box::new(error)), content: Vec::new() }
    }

    /// Returns the reason why the value does not fit.
    pub(crate) fn error(self, tool: &Tool) -> ToolError {
        let Answer { reader, error, content } = self;
        match error {
            Some(error) => *error,
            None => {
                let (raw, found) = reader.end();
                mismatch(tool, &found.map_or_else(String::new, |found| found.to_string()), raw, content)
            }
        }
    }
}

/// A reader of the structured content, or of what the text says. Content that says more is counted.
fn value(structured: Option<Value>, unheld: Unheld, content: &[Content], tool: &Tool) -> Option<Reader> {
    let whose = whose(tool);
    let reader = match structured {
        Some(structured) => Reader::new(structured, unheld, &whose),
        None => text(content, &whose)?,
    };
    unread::count(tool, content, reader.input());
    Some(reader)
}

/// A reader of what the text says: all blocks as one document, one block for each item of a list, or the only block that
/// is an object or array.
fn text(content: &[Content], whose: &str) -> Option<Reader> {
    let texts = texts(content);
    let whole = said(&texts.join("\n")).ok().or_else(|| {
        let mut values = texts.iter().filter_map(|text| said(text).ok());
        let only = values.find(|said| said.value.is_object() || said.value.is_array())?;
        (texts.len() > 1 && values.next().is_none()).then_some(only)
    });
    if let Some(said) = whole {
        warn_of_rounded(whose, said.rounded.as_deref());
        return Some(Reader::of_texts(said.value, said.unheld, whose));
    }
    if texts.len() < 2 || content.len() > texts.len() {
        return None;
    }
    let items = Items::of_texts(&texts, whose).ok()??;
    Some(Reader::of_texts(items.list(), Unheld::default(), whose))
}

fn mismatch(tool: &Tool, message: &str, raw: Value, content: Vec<Content>) -> ToolError {
    ToolError {
        kind: ToolErrorKind::Mismatch,
        server: tool.server.to_owned(),
        tool: tool.name.to_owned(),
        message: format!(
            "{message}. The call was made: this answer is in `ToolError.raw`; `.raw().await?` takes any answer"
        ),
        content,
        raw: Some(Box::new(raw)),
    }
}
