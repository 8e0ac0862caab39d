//! Fuzz target `arguments`: for any JSON, the arguments shown, checked and sent are the same. Panics if they are not.
//!
//! Ordinary tests run it as well: `crates/strict-json/tests/arguments.rs`, and, with the permission question that the
//! user sees, `crates/gateway/src/permission/question/arbitrary.rs`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Tokens that parsers may read differently.
const NUMBERS: [&str; 14] = [
    "0",
    "-0",
    "-0.0",
    "1",
    "1.0",
    "1e2",
    "1E+2",
    "9007199254740993",
    "9007199254740993.0",
    "18446744073709551616",
    "1e-400",
    "1.7976931348623157e308",
    "1e400",
    "-1E309",
];
const TEXTS: [&str; 16] = [
    "path",
    "p\\u0061th",
    "path ",
    "",
    "\u{e9}",
    "e\u{301}",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\u{1f600}",
    "\\ud800",
    "\\udc00\\ud800",
    "\\\"\\\\u0061\\/",
    "\\u0000\\u001b\\n\\u2028",
    "\u{202e}\u{200b}\u{ad}\u{7f}",
    "\\\\u{ad}",
    "__proto__",
];
const BLANKS: [&str; 4] = ["", " ", "\n\t", "\r\n  "];

/// Checks any bytes: as text, and as choices that build a JSON object. `shown` returns the arguments as the user sees
/// them, or `None` if they are cut.
pub fn arguments(data: &[u8], shown: impl Fn(&RawValue) -> Option<String>) {
    if let Ok(text) = std::str::from_utf8(data) {
        one_form(text, &shown);
    }
    one_form(&built(data), &shown);
}

/// Shows arguments on lines, without escaping invisible characters; `None` if they are cut.
pub fn as_lines(arguments: &RawValue) -> Option<String> {
    let lines = strict_json::lines(arguments, 1 << 20);
    (!lines.is_cut).then_some(lines.text)
}

fn one_form(text: &str, shown: &impl Fn(&RawValue) -> Option<String>) {
    let _ = strict_json::check_names(text);
    let Ok(sent) = RawValue::from_string(text.to_owned()) else { return };
    let ambiguity = ambiguity(&sent);
    let form = match strict_json::canonical_object(&sent) {
        Ok(form) => form,
        Err(error) => {
            let is_object = sent.get().starts_with('{');
            assert!(ambiguity.is_some() || !is_object, "{text} was rejected without a reason: {error}");
            assert!(strict_json::check_object(&sent).is_err(), "{text}");
            return;
        }
    };
    assert_eq!(ambiguity, None, "{text} was accepted");
    assert_eq!(strict_json::check_names(text), Ok(()), "{text}");
    assert!(strict_json::check_object(&sent).is_ok(), "{text}");
    // Nothing changes: names, order, strings, and the text of each number.
    assert_eq!(Tree::of(&sent), Tree::of(&form), "{text}");
    assert!(form.get().len() <= sent.get().len(), "{text}");
    let again = strict_json::canonical_object(&form).expect("the canonical form is valid");
    assert_eq!(again.get(), form.get(), "{text}");
    // Checked: both texts parse to the same value.
    let (before, after) =
        (serde_json::from_str::<Value>(sent.get()), serde_json::from_str::<Value>(form.get()));
    assert_eq!(before.expect("valid JSON"), after.expect("valid JSON"), "{text}");
    // Shown: the canonical form, on lines.
    if let Some(shown) = shown(&form) {
        let read = RawValue::from_string(shown.clone()).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let read = strict_json::canonical_object(&read).expect("what is shown is valid");
        assert_eq!(read.get(), form.get(), "{shown}");
    }
}

/// JSON as written, including repeated names and the text of numbers: an independent reader.
#[derive(Debug, PartialEq)]
enum Tree {
    Scalar(String),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// `None` if a string is not valid Unicode.
    fn of(value: &RawValue) -> Option<Self> {
        let text = value.get();
        Some(match text.as_bytes().first()? {
            b'"' => Tree::Text(serde_json::from_str(text).ok()?),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Tree::List(items.into_iter().map(Tree::of).collect::<Option<_>>()?)
            }
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                let member = |(name, value): (String, Box<RawValue>)| Some((name, Tree::of(&value)?));
                Tree::Object(members.into_iter().map(member).collect::<Option<_>>()?)
            }
            _ => Tree::Scalar(text.to_owned()),
        })
    }

    fn depth(&self) -> usize {
        match self {
            Tree::Scalar(_) | Tree::Text(_) => 0,
            Tree::List(items) => 1 + items.iter().map(Tree::depth).max().unwrap_or(0),
            Tree::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
        }
    }

    fn any(&self, holds: &impl Fn(&Tree) -> bool) -> bool {
        holds(self)
            || match self {
                Tree::Scalar(_) | Tree::Text(_) => false,
                Tree::List(items) => items.iter().any(|item| item.any(holds)),
                Tree::Object(members) => members.iter().any(|(_, value)| value.any(holds)),
            }
    }
}

/// Returns the ambiguity of the value, according to the independent reader.
fn ambiguity(value: &RawValue) -> Option<&'static str> {
    let Some(tree) = Tree::of(value) else { return Some("no Unicode") };
    let repeats = |tree: &Tree| match tree {
        Tree::Object(members) => {
            let mut names: Vec<&String> = members.iter().map(|(name, _)| name).collect();
            names.sort();
            names.windows(2).any(|pair| pair[0] == pair[1])
        }
        _ => false,
    };
    let is_infinite =
        |tree: &Tree| matches!(tree, Tree::Scalar(text) if text.parse().is_ok_and(f64::is_infinite));
    if tree.depth() > strict_json::DEPTH_LIMIT {
        Some("deep")
    } else if tree.any(&repeats) {
        Some("repeated")
    } else {
        tree.any(&is_infinite).then_some("infinite")
    }
}

/// All members of an object, including repeated ones.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// Builds a JSON object from the bytes.
fn built(data: &[u8]) -> String {
    let mut builder = Builder { choices: data.iter(), text: String::new() };
    // Some are nested to about the limit.
    let wraps = match builder.choose(64) {
        0 => strict_json::DEPTH_LIMIT - 4 + builder.choose(6),
        _ => 0,
    };
    builder.text.extend(std::iter::repeat_n("{\"a\":", wraps));
    builder.object(3);
    builder.text.extend(std::iter::repeat_n("}", wraps));
    builder.text
}

struct Builder<'a> {
    choices: std::slice::Iter<'a, u8>,
    text: String,
}

impl Builder<'_> {
    fn choose(&mut self, count: usize) -> usize {
        self.choices.next().map_or(0, |byte| usize::from(*byte) % count)
    }

    fn token(&mut self, tokens: &[&str]) {
        let token = tokens[self.choose(tokens.len())];
        self.text.push_str(token);
    }

    fn blank(&mut self) {
        self.token(&BLANKS);
    }

    fn quoted(&mut self) {
        self.text.push('"');
        self.token(&TEXTS);
        self.text.push('"');
    }

    fn object(&mut self, levels: usize) {
        self.text.push('{');
        for member in 0..self.choose(5) {
            if member > 0 {
                self.text.push(',');
            }
            self.blank();
            self.quoted();
            self.blank();
            self.text.push(':');
            self.value(levels);
        }
        self.blank();
        self.text.push('}');
    }

    fn value(&mut self, levels: usize) {
        self.blank();
        match self.choose(8) {
            0 => self.token(&["null", "true", "false"]),
            1 | 2 => self.token(&NUMBERS),
            3 | 4 => self.quoted(),
            _ if levels == 0 => self.text.push_str("[]"),
            5 => {
                self.text.push('[');
                for item in 0..self.choose(4) {
                    if item > 0 {
                        self.text.push(',');
                    }
                    self.value(levels - 1);
                }
                self.text.push(']');
            }
            _ => self.object(levels - 1),
        }
        self.blank();
    }
}
