//! Reads the strings of a JSON text with their paths. The text may be cut, and need not be JSON.

use std::fmt::Write as _;

use strict_json::{MESSAGE_DEPTH_LIMIT, whole_characters};

/// The shortest run that counts, in characters. Shorter ones are often words that any two texts share.
pub const RUN: usize = 24;

/// Limit on the steps of a shown path.
const STEPS: usize = 16;

/// The longest escape of a JSON string, in bytes.
const ESCAPE: usize = r"\uffff".len();

/// A string of a JSON text: a value, or the name of a member.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The place of the value, such as `items[2].text`; empty for the text itself.
    pub(super) path: String,
    /// Unescaped.
    pub(super) text: String,
    /// Whether it is in the string before it that is JSON itself.
    pub(super) is_inner: bool,
}

/// The strings of a text, and those of each string that is a JSON text itself.
pub(super) fn strings(text: &str) -> impl Iterator<Item = Text> {
    of_one(text).flat_map(|outer| {
        let is_json = outer.text.trim_start().starts_with(['{', '[', '"']);
        let inner: Vec<Text> = if is_json { of_one(&outer.text).collect() } else { Vec::new() };
        let base = outer.path.clone();
        let inner = inner.into_iter().map(move |Text { path, text, .. }| Text {
            path: joined(&base, &path),
            text,
            is_inner: true,
        });
        std::iter::once(outer).chain(inner)
    })
}

fn joined(outer: &str, inner: &str) -> String {
    let is_step = outer.is_empty() || inner.is_empty() || inner.starts_with('[');
    format!("{outer}{}{inner}", if is_step { "" } else { "." })
}

/// The beginning of a JSON text, of at most `limit` bytes. No escape is cut.
pub(super) fn beginning(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let cut = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    match cut.rfind('\\') {
        Some(at) if cut.len() - at < ESCAPE => cut.get(..at).unwrap_or_default().trim_end_matches('\\'),
        _ => cut,
    }
}

fn of_one(text: &str) -> Strings<'_> {
    Strings { rest: text, path: Vec::new() }
}

struct Strings<'a> {
    rest: &'a str,
    path: Vec<Step>,
}

enum Step {
    Name(String),
    Item(usize),
}

impl Iterator for Strings<'_> {
    type Item = Text;

    fn next(&mut self) -> Option<Text> {
        loop {
            let at = self.rest.find(['"', '{', '[', '}', ']', ','])?;
            let (token, rest) = (self.rest.as_bytes().get(at)?, self.rest.get(at + 1..)?);
            self.rest = rest;
            match token {
                b'"' => return Some(self.string()),
                b'{' => self.path.push(Step::Name(String::new())),
                b'[' => self.path.push(Step::Item(0)),
                b',' => {
                    if let Some(Step::Item(number)) = self.path.last_mut() {
                        *number += 1;
                    }
                }
                _ => drop(self.path.pop()),
            }
            if self.path.len() > MESSAGE_DEPTH_LIMIT {
                return None;
            }
        }
    }
}

impl Strings<'_> {
    /// Reads a string after its quotation mark.
    fn string(&mut self) -> Text {
        let end = end_of_string(self.rest);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        let text = unescaped(text);
        let is_name = self.rest.trim_start().starts_with(':');
        if is_name && let Some(Step::Name(name)) = self.path.last_mut() {
            *name = shown(&text);
        }
        Text { path: path(&self.path), text, is_inner: false }
    }
}

/// The position of the quotation mark that ends a string, or the end of the text.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// Unescapes the inside of a string. A text that is no JSON string stays as it is.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let quoted = format!("\"{}\"", whole_characters(text));
    serde_json::from_str(&quoted).unwrap_or_else(|_| text.to_owned())
}

/// The name of a member in a path. A long one may be a carried text itself, which no record has.
fn shown(name: &str) -> String {
    if name.chars().nth(RUN - 1).is_some() { "…".to_owned() } else { printable::name(name) }
}

fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for (place, step) in steps.iter().take(STEPS).enumerate() {
        // Writing to a string does not fail.
        let _ = match step {
            Step::Name(name) if place == 0 => write!(path, "{name}"),
            Step::Name(name) => write!(path, ".{name}"),
            Step::Item(number) => write!(path, "[{number}]"),
        };
    }
    if steps.len() > STEPS {
        path.push('…');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String)> {
        strings(text).map(|Text { path, text, .. }| (path, text)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn strings_have_paths_and_are_unescaped() {
        let text = r#"{"to":"a@b","items":[{"text":"x"},{"text":"y\n\"z\" \ud83d\ude00"}],"n":1,"last":"e"}"#;
        let expected = [
            ("to", "to"),
            ("to", "a@b"),
            ("items", "items"),
            ("items[0].text", "text"),
            ("items[0].text", "x"),
            ("items[1].text", "text"),
            ("items[1].text", "y\n\"z\" 😀"),
            ("n", "n"),
            ("last", "last"),
            ("last", "e"),
        ];
        assert_eq!(of(text), pairs(&expected));
        assert_eq!(of(r#"["a", ["b"]]"#), pairs(&[("[0]", "a"), ("[1][0]", "b")]));
    }

    #[test]
    fn strings_that_are_json_are_read_too() {
        let text = r#"{"body":" {\"a\":[\"one\\ntwo\"]}"}"#;
        let expected = [
            ("body", "body"),
            ("body", r#" {"a":["one\ntwo"]}"#),
            ("body.a", "a"),
            ("body.a[0]", "one\ntwo"),
        ];
        assert_eq!(of(text), pairs(&expected));
    }

    #[test]
    fn long_and_misleading_names_are_not_shown() {
        let text = format!(r#"{{"{}":{{"a b":"x"}}}}"#, "n".repeat(RUN));
        assert_eq!(of(&text).pop(), pairs(&[("….a\\u{20}b", "x")]).pop());
        let deep = format!("{}\"x\"", r#"{"a":"#.repeat(STEPS + 1));
        assert_eq!(of(&deep).pop(), pairs(&[(&format!("a{}…", ".a".repeat(STEPS - 1)), "x")]).pop());
    }

    #[test]
    fn a_text_is_cut_between_characters_and_escapes() {
        for (text, limit, expected) in [
            ("abc", 3, "abc"),
            ("aäb", 2, "a"),
            (r"ab\nc", 3, "ab"),
            (r"ab\\\\", 5, "ab"),
            (r"ab\u00e4", 7, "ab"),
            (r"a\nbcdefgh", 8, r"a\nbcdef"),
        ] {
            assert_eq!(beginning(text, limit), expected, "{text}");
        }
        assert_eq!(of("{\"a\":\"beg").pop(), pairs(&[("a", "beg")]).pop());
    }

    #[test]
    fn a_text_that_is_no_json_is_read_as_far_as_possible() {
        assert_eq!(of(r#"}]"\x" , {"a"#), pairs(&[("", r"\x"), ("", "a")]));
        assert_eq!(of("no json"), []);
        assert_eq!(of(&"[".repeat(MESSAGE_DEPTH_LIMIT + 1)), []);
    }
}
