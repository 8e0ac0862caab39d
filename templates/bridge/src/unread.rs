//! Content of answers that a typed result does not have: counted for each tool, and noted when the program ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::content::Content;
use crate::items::said;
use crate::size::size;
use crate::tool::Tool;
use crate::warning::warn;

/// Maximum number of text blocks of an answer to compare with all values of its structured content.
const COMPARED: usize = 16;

/// The types of blocks besides text, each with the words for one and for several.
const KINDS: [(&str, [&str; 2]); 4] = [
    ("image", ["image", "images"]),
    ("audio", ["audio clip", "audio clips"]),
    ("resource", ["resource", "resources"]),
    ("resource_link", ["resource link", "resource links"]),
];

/// Content of a tool's answers.
#[derive(Debug, Default)]
struct Unread {
    calls: usize,
    /// The length of all texts, in bytes.
    text: usize,
    /// The number of blocks of each of [`KINDS`], and of others.
    blocks: [usize; KINDS.len() + 1],
}

/// By server and tool.
static UNREAD: Mutex<BTreeMap<(&str, &str), Unread>> = Mutex::new(BTreeMap::new());

impl Unread {
    /// The content that says more than `value`, which is read instead.
    fn of(content: &[Content], value: &Value) -> Self {
        let mut unread = Unread::default();
        let (texts, others): (Vec<&Content>, Vec<&Content>) =
            content.iter().partition(|block| block.kind() == "text");
        let texts: Vec<&str> = texts.into_iter().filter_map(Content::as_text).collect();
        let repeated = repeats(&texts.join("\n"), value) || is_list(&texts, value);
        for (index, text) in texts.iter().enumerate().filter(|_| !repeated) {
            if index >= COMPARED || !repeats(text, value) {
                unread.text += text.len();
            }
        }
        for block in others {
            let known = KINDS.iter().position(|(kind, _)| *kind == block.kind());
            unread.blocks[known.unwrap_or(KINDS.len())] += 1;
        }
        unread
    }

    fn is_empty(&self) -> bool {
        self.text == 0 && self.blocks.iter().all(|count| *count == 0)
    }

    fn add(&mut self, other: &Unread) {
        self.calls += 1;
        self.text += other.text;
        self.blocks.iter_mut().zip(other.blocks).for_each(|(count, more)| *count += more);
    }

    /// The content as text: `4 KiB of text and 2 images`.
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if self.text > 0 {
            parts.push(format!("{} of text", size(self.text)));
        }
        let words = KINDS.into_iter().map(|(_, words)| words).chain([["other block", "other blocks"]]);
        for (count, [one, several]) in self.blocks.iter().zip(words).filter(|(count, _)| **count > 0) {
            parts.push(format!("{count} {}", if *count == 1 { one } else { several }));
        }
        match parts.pop() {
            Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
            last => last.unwrap_or_default(),
        }
    }
}

/// Describes content, such as `1 image`.
pub(crate) fn described(content: &[Content]) -> String {
    let unread = Unread::of(content, &Value::Null);
    if unread.is_empty() { "an empty text".to_owned() } else { unread.text() }
}

/// Warns of content that says more than `value`, which is written instead.
pub(crate) fn warn_of_unwritten(content: &[Content], value: &Value) {
    let unread = Unread::of(content, value);
    if !unread.is_empty() {
        let text = unread.text();
        warn(
            format!("an answer is written as its structured content, without {text}; `emit` takes them"),
            None,
        );
    }
}

/// Counts the content that says more than `value`, which is read instead.
pub(crate) fn count(tool: &Tool, content: &[Content], value: &Value) {
    let unread = Unread::of(content, value);
    if !unread.is_empty() {
        let mut all = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((tool.server, tool.name)).or_default().add(&unread);
    }
}

/// Notes the counted content in the outcome.
pub(crate) fn report() {
    let all = std::mem::take(&mut *UNREAD.lock().unwrap_or_else(PoisonError::into_inner));
    for ((server, tool), unread) in all {
        let mut message = format!("{server}.{tool} also answered {}", unread.text());
        if unread.calls > 1 {
            // Writing to a string does not fail.
            let _ = write!(message, " in {} calls", unread.calls);
        }
        message.push_str("; `.raw()` gives them");
        warn(message, None);
    }
}

/// Whether each text is an item of the list that the value is or wraps.
fn is_list(texts: &[&str], value: &Value) -> bool {
    let Some(items) = value.as_array().or_else(|| value.get("result")?.as_array()) else { return false };
    let is_item = |(text, item): (&&str, &Value)| is_said(text, item);
    !texts.is_empty() && items.len() == texts.len() && texts.iter().zip(items).all(is_item)
}

/// Whether a text says nothing more than a value: it is empty, or the value or a part of it.
fn repeats(text: &str, value: &Value) -> bool {
    if text.trim().is_empty() {
        return true;
    }
    let said = said(text).ok().map(|said| said.value);
    let is_said =
        |value: &Value| value.as_str() == Some(text) || said.as_ref().is_some_and(|said| same(said, value));
    within(value, &is_said)
}

fn is_said(text: &str, value: &Value) -> bool {
    value.as_str() == Some(text) || said(text).is_ok_and(|said| same(&said.value, value))
}

/// Whether the value or a part of it passes the test.
fn within(value: &Value, test: &dyn Fn(&Value) -> bool) -> bool {
    test(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| within(item, test)),
            Value::Object(fields) => fields.values().any(|field| within(field, test)),
            _ => false,
        }
}

/// Whether two values are equal, however their numbers are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unread(content: &[Content], value: &Value) -> String {
        Unread::of(content, value).text()
    }

    #[test]
    fn content_that_repeats_the_value_is_not_counted() {
        let value = json!({ "result": [{ "id": 1.0 }, { "id": 2 }] });
        for texts in [
            vec!["{\"result\": [{\"id\": 1}, {\"id\": 2}]}"],
            vec!["[{\"id\": 1}, {\"id\": 2}]"],
            vec!["{\"id\": 1}", "{'id': 2}"],
            vec!["{\"result\": [{\"id\": 1},", "{\"id\": 2}]}"],
            vec!["", " \n"],
            vec![],
        ] {
            let content: Vec<Content> = texts.iter().copied().map(Content::text).collect();
            assert_eq!(unread(&content, &value), "", "{texts:?}");
        }
        assert_eq!(unread(&[Content::text("a page")], &json!({ "page": "a page" })), "");
    }

    #[test]
    fn content_that_says_more_is_described() {
        let value = json!({ "points": 3 });
        let image = || Content::image("AAAA", "image/png");
        assert_eq!(unread(&[Content::text("drawn"), image()], &value), "5 bytes of text and 1 image");
        assert_eq!(unread(&[Content::text("{\"points\":3}"), image(), image()], &value), "2 images");
        let all = [Content::text("drawn"), image(), Content::audio("AAAA", "audio/wav")];
        assert_eq!(unread(&all, &value), "5 bytes of text, 1 image and 1 audio clip");
    }
}
