//! What is wrong with a value that does not fit its type, and where.

use std::fmt;

use serde_json::Value;

/// The longest found value that a message quotes whole, in bytes of JSON.
const LONGEST_QUOTE: usize = 80;

/// A value that does not fit a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The place in the value, such as `.result[1].parent.id`; empty for the value itself.
    pub path: String,
    /// What the type wants.
    pub expected: &'static str,
    /// What is there, as JSON, shortened; `nothing` for a missing field.
    pub found: String,
}

impl Mismatch {
    /// A mismatch of the value itself.
    #[must_use]
    pub fn new(expected: &'static str, found: &Value) -> Self {
        Mismatch { path: String::new(), expected, found: quote(found) }
    }

    /// The same mismatch, seen from the object that holds the value under `key`.
    #[must_use]
    pub fn in_field(mut self, key: &str) -> Self {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let step =
            if !key.is_empty() && key.bytes().all(plain) { format!(".{key}") } else { format!("[{key:?}]") };
        self.path.insert_str(0, &step);
        self
    }

    /// The same mismatch, seen from the array that holds the value at `index`.
    #[must_use]
    pub fn in_item(mut self, index: usize) -> Self {
        self.path.insert_str(0, &format!("[{index}]"));
        self
    }

    /// The same mismatch of a field that is not there at all.
    #[must_use]
    pub(super) fn missing(mut self) -> Self {
        if self.path.is_empty() {
            "nothing".clone_into(&mut self.found);
        }
        self
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

/// The value as JSON; a long one is cut, and containers are only named with their size.
fn quote(value: &Value) -> String {
    let text = match value {
        Value::Array(items) if items.len() > 4 => return format!("an array of {}", items.len()),
        Value::Object(fields) if fields.len() > 4 => {
            return format!("an object of {} fields", fields.len());
        }
        other => other.to_string(),
    };
    if text.len() <= LONGEST_QUOTE {
        return text;
    }
    let end = (0..=LONGEST_QUOTE).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}… ({} bytes)", &text[..end], text.len())
}
