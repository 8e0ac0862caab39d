//! The answer of a tool: MCP's `CallToolResult` as a program sees it.

use std::fmt;
use std::panic::Location;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::content::Content;
use crate::items::{Items, said, texts};
use crate::unread;
use crate::view::View;

/// The whole answer of a tool: of one without an output schema, and of any by `.raw()`.
#[derive(Clone, PartialEq)]
pub struct ToolResult {
    /// The content blocks.
    pub content: Vec<Content>,
    /// The structured content, if the tool sent any.
    pub structured: Option<Value>,
    /// The view of the tool, if it has one.
    pub(crate) view: Option<Box<View>>,
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

    /// The view of the tool with this answer, for `emit` (MCP Apps): a link that clients with apps can show, or a text
    /// that says why there is none.
    #[must_use]
    pub fn view(&self) -> Content {
        match &self.view {
            Some(view) => view.content(&self.content, self.structured.as_ref()),
            None => Content::text("the answer has no view"),
        }
    }

    /// The answer as a `T`: the structured content, or else the text, parsed as JSON or as a Python literal. A list is
    /// also read from one text block for each item, which may be plain text.
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
        let text = self.text();
        let error = match said(&text) {
            Ok(said) => return Ok(Items::of(said.exact(WHOSE)?)),
            Err(error) => error,
        };
        let reason = format!("the answer is neither JSON ({error}) nor a Python literal: {}", shorten(&text));
        match self.is_item() {
            true => Ok(Items::of_plain(text, reason)),
            false => anyhow::bail!(reason),
        }
    }

    /// Whether the only content is a text that is no damaged JSON, so that it can be the only item of a list.
    fn is_item(&self) -> bool {
        let [only] = self.content.as_slice() else { return false };
        only.as_text()
            .is_some_and(|text| !text.trim_start_matches('\u{feff}').trim_start().starts_with(['[', '{']))
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolResult { content, structured, view: _ } = self;
        formatter
            .debug_struct("ToolResult")
            .field("content", content)
            .field("structured", structured)
            .finish()
    }
}

impl fmt::Display for ToolResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

/// A result serializes as its structured content, with a warning if other content says more, or else its text, or else
/// its content blocks.
impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(structured) = &self.structured {
            unread::warn_of_unwritten(&self.content, structured);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read<T: DeserializeOwned>(texts: &[&str]) -> Result<T, String> {
        let block = |text: &&str| serde_json::from_value(json!({ "type": "text", "text": text })).unwrap();
        let answer = ToolResult { content: texts.iter().map(block).collect(), structured: None, view: None };
        answer.json().map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_read_from_one_text_for_each_item() {
        for (texts, list) in [
            (&[][..], json!([])),
            (&["Charlie"], json!(["Charlie"])),
            (&["Charlie", "Dana"], json!(["Charlie", "Dana"])),
            (&["two words\nand a line"], json!(["two words\nand a line"])),
            (&[""], json!([""])),
            (&["5"], json!([5])),
            (&["5", "6.5"], json!([5, 6.5])),
            (&["5", "a"], json!(["5", "a"])),
            (&["\"a\""], json!(["a"])),
            (&["{\"a\":1}"], json!([{ "a": 1 }])),
            (&["{\"a\":1}", "{\"a\":2}"], json!([{ "a": 1 }, { "a": 2 }])),
            (&["[1,2]"], json!([1, 2])),
            (&["[]"], json!([])),
            (&["[1]", "[2]"], json!([[1], [2]])),
        ] {
            assert_eq!(read::<Vec<Value>>(texts), Ok(list.as_array().unwrap().clone()), "{texts:?}");
            assert_eq!(
                read::<Option<Vec<Value>>>(texts).map(Option::unwrap_or_default).map(Value::Array),
                Ok(list)
            );
        }
    }

    #[test]
    fn a_list_of_strings_is_read_from_texts_that_look_like_others() {
        for (texts, list) in [
            (&[][..], &[][..]),
            (&["Charlie"], &["Charlie"]),
            (&["5"], &["5"]),
            (&["5", "6"], &["5", "6"]),
            (&["true"], &["true"]),
            (&["null"], &["null"]),
            (&[""], &[""]),
            (&["", ""], &["", ""]),
            (&["\"a\""], &["a"]),
            (&["[\"a\", \"b\"]"], &["a", "b"]),
        ] {
            let list: Vec<String> = list.iter().map(|item| (*item).to_owned()).collect();
            assert_eq!(read::<Vec<String>>(texts), Ok(list), "{texts:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_item_is_refused_with_its_beginning() {
        let reason = |read: Result<Value, String>| read.unwrap_err();
        let list = |texts: &[&str]| reason(read::<Vec<Value>>(texts).map(Value::Array));
        assert!(reason(read::<Value>(&["Charlie"])).ends_with("nor a Python literal: \"Charlie\""));
        assert!(reason(read::<String>(&["Charlie"]).map(Value::String)).contains("neither JSON"));
        assert!(reason(read::<Vec<i64>>(&["Found nothing"]).map(|_| Value::Null)).contains("neither JSON"));
        assert!(reason(read::<String>(&["5"]).map(Value::String)).contains("integer `5`"));
        // Damaged JSON.
        assert!(list(&["[1, 2"]).contains("neither JSON"));
        assert!(list(&["{\"a\": 1, "]).contains("neither JSON"));
        // A sentence before the items.
        assert!(list(&["2 items:", "{\"a\":1}"]).contains("neither JSON"));
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "a" });
        let content = [image, text].map(|block| serde_json::from_value(block).unwrap()).to_vec();
        assert!(ToolResult { content, structured: None, view: None }.json::<Vec<Value>>().is_err());
    }
}
