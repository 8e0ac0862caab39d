//! Remembers the shape of tools' answers in a client's session, if the declared output does not describe it: a sample
//! of a text, or the type of JSON. Tool lookups show it, to the client that made the calls and to no other.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde_json::Value;

use terminal::Masker;

/// Limit on tools whose answers are remembered.
const TOOLS_KEPT: usize = 256;
/// Maximum length of a shape, in characters.
const LONGEST: usize = 300;
/// Maximum length of the last line that a sample of a long text keeps, in characters.
const MAX_LAST: usize = 80;
/// Answers above this size in bytes are skipped (256 KiB): they would be in memory twice.
const ANSWER_LIMIT: usize = 256 << 10;
/// Texts above this size in bytes are not parsed as JSON (64 KiB).
const JSON_LIMIT: usize = 64 << 10;
/// Limits on the levels and members of a JSON type.
const DEEPEST: usize = 3;
const MEMBERS_SHOWN: usize = 12;

/// The shape of the first answer of each tool, by server and tool. Later answers are not read, so a tool that is called
/// in a loop costs nothing more.
#[derive(Debug, Default)]
pub(crate) struct AnswerShapes(Mutex<BTreeMap<(String, String), String>>);

impl AnswerShapes {
    /// Records a tool's answer, a `CallToolResult`.
    pub(crate) fn note(&self, server: &str, tool: &str, answer: &str, masker: &Masker) {
        let mut seen = self.0.lock();
        let key = (server.to_owned(), tool.to_owned());
        if answer.len() > ANSWER_LIMIT || seen.len() >= TOOLS_KEPT || seen.contains_key(&key) {
            return;
        }
        if let Some(shape) = shape(answer, masker) {
            seen.insert(key, shape);
        }
    }

    /// The shape of a tool's answers, if one was seen.
    pub(crate) fn shape(&self, server: &str, tool: &str) -> Option<String> {
        let seen = self.0.lock();
        seen.get(&(server.to_owned(), tool.to_owned())).cloned()
    }
}

/// The shape of a text answer; `None` for failures and for output that a declared type describes.
fn shape(answer: &str, masker: &Masker) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    if answer["isError"] == true {
        return None;
    }
    let text = match &answer["structuredContent"] {
        structured @ Value::Object(_) => only_text(structured)?,
        _ => answer["content"].as_array()?.iter().find_map(|block| block["text"].as_str())?,
    };
    if text.len() <= JSON_LIMIT
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) =
            serde_json::from_str(strict_json::without_mark(text))
    {
        let shape = cut(&json_type(&value, DEEPEST));
        return Some(format!("JSON: {}", printable::prose(&masker.mask(&shape))));
    }
    Some(shape_of_text(text, masker))
}

/// The text, if structured content has no other field: its type says no more about it.
pub fn only_text(structured: &Value) -> Option<&str> {
    let mut fields = structured.as_object()?.values();
    fields.next().filter(|_| fields.next().is_none())?.as_str()
}

/// A sample of an answer that is not JSON, without secrets, for storage.
pub fn sample(text: &str, masker: &Masker) -> String {
    cut(masker.mask(text).trim_end())
}

/// Describes an answer that is not JSON, or a sample of it. Lines stay whole, because readers infer columns and blocks
/// from them.
pub fn shape_of_text(text: &str, masker: &Masker) -> String {
    let sample = sample(text, masker);
    let lines: Vec<String> = sample.lines().map(|line| printable::prose(line).to_string()).collect();
    match lines.as_slice() {
        [] | [_] => format!("text: {}", Value::from(lines.concat())),
        lines => format!("text, whose lines are\n{}", lines.join("\n")),
    }
}

/// The shape of a tool's answers as a comment.
pub fn comment(server: &str, tool: &str, shape: &str) -> String {
    let mut lines = shape.lines();
    let first = format!("// {server}.{tool} has answered with {}", lines.next().unwrap_or_default());
    let more = lines.map(|line| format!("//   {line}"));
    [first].into_iter().chain(more).collect::<Vec<_>>().join("\n")
}

/// The first characters of a text. If it is longer, also the count of omitted lines and the last line, where answers
/// often describe how to get the next page.
fn cut(text: &str) -> String {
    if text.chars().nth(LONGEST).is_none() {
        return text.to_owned();
    }
    let lines = text.lines().count();
    let last = text.lines().next_back().filter(|line| line.chars().count() <= MAX_LAST);
    let left_out = |shown: usize| match lines.saturating_sub(shown) {
        0 => String::new(),
        1 => "\n(1 line left out)".to_owned(),
        more => format!("\n({more} lines left out)"),
    };
    let last = last.map(|line| format!("\n{line}")).unwrap_or_default();
    let room = LONGEST - 1 - left_out(1).chars().count() - last.chars().count();
    let first: String = text.chars().take(room).collect();
    let shown = first.lines().count() + usize::from(!last.is_empty());
    format!("{first}…{}{last}", left_out(shown))
}

/// The type of a value: names and types without the values.
fn json_type(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => "number".to_owned(),
        Value::Number(_) => "integer".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) | Value::Object(_) if depth == 0 => "…".to_owned(),
        Value::Array(items) => match items.first() {
            Some(first) => format!("[{}]", json_type(first, depth - 1)),
            None => "[]".to_owned(),
        },
        Value::Object(fields) => {
            let shown = fields.iter().take(MEMBERS_SHOWN);
            let shown = shown.map(|(key, value)| {
                format!("{}: {}", Value::from(key.as_str()), json_type(value, depth - 1))
            });
            let more = (fields.len() > MEMBERS_SHOWN).then(|| "…".to_owned());
            format!("{{{}}}", shown.chain(more).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AnswerShapes, LONGEST, Masker, comment, cut};

    fn seen(answer: &serde_json::Value) -> Option<String> {
        let seen = AnswerShapes::default();
        let masker = Masker::new(&["tops3cret-value".to_owned()]);
        seen.note("git", "log", &answer.to_string(), &masker);
        assert_eq!(seen.shape("git", "other"), None);
        seen.shape("git", "log")
    }

    fn text(text: &str) -> serde_json::Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn texts_are_described_by_their_first_lines_and_json_by_its_type() {
        assert_eq!(seen(&text("a \"b\"\n")).unwrap(), r#"text: "a \"b\"""#);
        let lines = seen(&text("kiln  \"state\"\nno. 1  in use\n")).unwrap();
        assert_eq!(lines, "text, whose lines are\nkiln  \"state\"\nno. 1  in use");
        let shown =
            "// git.log has answered with text, whose lines are\n//   kiln  \"state\"\n//   no. 1  in use";
        assert_eq!(comment("git", "log", &lines), shown);
        let rows = json!([{ "deep": { "a": [{ "b": 1.5 }] }, "n": 1, "x": null }]);
        let shape = seen(&text(&rows.to_string())).unwrap();
        assert_eq!(shape, r#"JSON: [{"deep": {"a": …}, "n": integer, "x": null}]"#);
        let long = seen(&text(&"é".repeat(5_000))).unwrap();
        assert_eq!(long.chars().filter(|c| *c == 'é').count(), 299);
        let paged = seen(&text(&format!("{}(more: t6)\n", "a row of a table\n".repeat(100)))).unwrap();
        assert!(paged.starts_with("text, whose lines are\na row of a table\n"), "{paged}");
        assert!(paged.ends_with("…\n(84 lines left out)\n(more: t6)"), "{paged}");
        let kept = cut(&"a row of a table\n".repeat(100));
        assert_eq!((cut(&kept), kept.chars().count() <= LONGEST), (kept.clone(), true), "{kept}");
    }

    #[test]
    fn failures_types_and_secrets_are_not_shown() {
        assert_eq!(seen(&json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })), None);
        assert_eq!(seen(&json!({ "content": [], "structuredContent": { "a": 1 } })), None);
        let wrapped = json!({ "content": [], "structuredContent": { "result": "a|b" } });
        assert_eq!(seen(&wrapped).unwrap(), r#"text: "a|b""#);
        assert_eq!(seen(&json!({ "content": [], "structuredContent": { "a": "x", "b": "y" } })), None);
        assert_eq!(
            seen(&json!({ "content": [{ "type": "image", "data": "", "mimeType": "image/png" }] })),
            None
        );
        assert_eq!(seen(&text(&"x".repeat(300_000))), None);
        let whole = seen(&text("token tops3cret-value end")).unwrap();
        assert!(whole.contains("***") && !whole.contains("tops3cret"), "{whole}");
        let halved = seen(&text(&format!("{}tops3cret-value", "x".repeat(290)))).unwrap();
        assert!(!halved.contains("tops3cret"), "{halved}");
    }
}
