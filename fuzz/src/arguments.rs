//! What must hold of a call's arguments for any JSON: what is shown is what is checked is what is sent. The bodies of
//! the fuzz target `arguments`. They panic where it does not hold.
//!
//! The ordinary tests run them as well: `strict-json/tests/arguments.rs`, and with the question that a person sees,
//! `gateway/src/permission/question/arbitrary.rs`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Tokens that parsers read in different ways.
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

/// Any bytes: as a text, and as choices that make a JSON object. `shown` is what a person sees of arguments, or `None`
/// where that is cut.
pub fn arguments(data: &[u8], shown: impl Fn(&RawValue) -> Option<String>) {
    if let Ok(text) = std::str::from_utf8(data) {
        one_form(text, &shown);
    }
    one_form(&made(data), &shown);
}

/// What a person sees of arguments where nothing is cut or spelled out.
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
            assert!(ambiguity.is_some() || !is_object, "{text} was refused for nothing: {error}");
            assert!(strict_json::check_object(&sent).is_err(), "{text}");
            return;
        }
    };
    assert_eq!(ambiguity, None, "{text} was taken");
    assert_eq!(strict_json::check_names(text), Ok(()), "{text}");
    assert!(strict_json::check_object(&sent).is_ok(), "{text}");
    // Nothing has changed: names, order, texts, and each number by its characters.
    assert_eq!(Tree::of(&sent), Tree::of(&form), "{text}");
    assert!(form.get().len() <= sent.get().len(), "{text}");
    let again = strict_json::canonical_object(&form).expect("it is a form");
    assert_eq!(again.get(), form.get(), "{text}");
    // What is checked: the values of what is sent, whichever of them a parser takes.
    let (before, after) =
        (serde_json::from_str::<Value>(sent.get()), serde_json::from_str::<Value>(form.get()));
    assert_eq!(before.expect("every reader takes it"), after.expect("every reader takes it"), "{text}");
    // What is shown: the form, on lines.
    if let Some(shown) = shown(&form) {
        let read = RawValue::from_string(shown.clone()).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let read = strict_json::canonical_object(&read).expect("it is a form");
        assert_eq!(read.get(), form.get(), "{shown}");
    }
}

/// JSON as it is written, repeated names and the text of numbers included: another reader than the one that is tried.
#[derive(Debug, PartialEq)]
enum Tree {
    Scalar(String),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// `None` where a text is no Unicode.
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

/// What two readers could understand differently, by the other reader.
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

/// The members of an object, each as often as it is there.
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

/// A JSON object that the bytes choose.
fn made(data: &[u8]) -> String {
    let mut maker = Maker { choices: data.iter(), text: String::new() };
    // Some nest about as deep as may be.
    let wraps = match maker.choose(64) {
        0 => strict_json::DEPTH_LIMIT - 4 + maker.choose(6),
        _ => 0,
    };
    maker.text.extend(std::iter::repeat_n("{\"a\":", wraps));
    maker.object(3);
    maker.text.extend(std::iter::repeat_n("}", wraps));
    maker.text
}

struct Maker<'a> {
    choices: std::slice::Iter<'a, u8>,
    text: String,
}

impl Maker<'_> {
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
