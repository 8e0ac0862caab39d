//! The error for a value that does not match its type, with the position.

use std::fmt;

use serde_json::Value;

/// Maximum length of a value quoted in full, in bytes of JSON.
const MAX_QUOTE: usize = 80;

/// Maximum number of strings to list.
const TEXTS_NAMED: usize = 40;

/// The limit of signed 64-bit integers (2 to the power of 63).
const RANGE: f64 = 9_223_372_036_854_775_808.0;

/// A value that does not match a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The position in the value, such as `.result[1].parent.id`; empty for the value itself.
    pub path: String,
    /// The form that the type expects.
    pub expected: String,
    /// The value found, as shortened JSON; `nothing` for a missing field.
    pub found: String,
}

/// A step from a value into its contents.
#[derive(Debug)]
pub(super) enum Step {
    /// No step: the value itself.
    Stay,
    Field(&'static str),
    Entry(String),
    Item(usize),
}

impl Mismatch {
    /// A mismatch at the end of `steps`.
    pub(super) fn new<'a>(steps: impl Iterator<Item = &'a Step>, expected: &str, found: String) -> Self {
        Mismatch { path: steps.map(Step::to_string).collect(), expected: expected.to_owned(), found }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let key = match self {
            Step::Stay => return Ok(()),
            Step::Item(index) => return write!(formatter, "[{index}]"),
            Step::Field(key) => key,
            Step::Entry(key) => key.as_str(),
        };
        if !key.is_empty() && key.bytes().all(plain) {
            write!(formatter, ".{key}")
        } else {
            write!(formatter, "[{key:?}]")
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "at {}: ", self.path)?;
        }
        write!(formatter, "expected {}, got {}", self.expected, self.found)
    }
}

impl std::error::Error for Mismatch {}

/// The value as JSON; long ones are truncated, and containers are described by their size.
pub(super) fn quote(value: &Value) -> String {
    let text = match value {
        Value::Array(items) if items.len() > 4 => return format!("an array of {}", items.len()),
        Value::Object(fields) if fields.len() > 4 => {
            return format!("an object of {} fields", fields.len());
        }
        // An integral double is written as an integer, unless that is longer than a quoted text may be.
        Value::Number(number)
            if number.as_f64().is_some_and(|double| (RANGE..1e25).contains(&double.abs())) =>
        {
            number.as_f64().map_or_else(String::new, |double| format!("{double:.0}"))
        }
        other => other.to_string(),
    };
    shortened(text, MAX_QUOTE)
}

/// The text, truncated to `longest` bytes.
pub(super) fn shortened(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    format!("{}… ({} bytes)", &text[..text.floor_char_boundary(longest)], text.len())
}

/// Quoted strings; only the first ones if there are many.
pub(super) struct Texts<'a>(pub(super) &'a [&'a str]);

impl fmt::Display for Texts<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, text) in self.0.iter().take(TEXTS_NAMED).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(formatter, "{comma}{text:?}")?;
        }
        if self.0.len() > TEXTS_NAMED { formatter.write_str(", …") } else { Ok(()) }
    }
}
