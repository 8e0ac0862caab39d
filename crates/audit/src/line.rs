//! Formats a record as one line of bounded length, without secrets.

use std::io;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Map, Value, json};
use system::calendar::timestamp;
use terminal::Masker;

/// Maximum length of a line including its end, in bytes (64 KiB).
pub(crate) const LINE: usize = 64 * 1024;

/// Limits of texts and lists in a line; the next entry applies if the line is too long. With the last, a record of four
/// lists and twenty texts is far below [`LINE`], whatever it contains.
const BOUNDS: [Bounds; 3] = [
    Bounds { text: 4096, items: 1000, arguments: true },
    Bounds { text: 256, items: 150, arguments: true },
    Bounds { text: 128, items: 16, arguments: false },
];

#[derive(Clone, Copy)]
struct Bounds {
    text: usize,
    items: usize,
    /// Whether arguments have more than their hash and size.
    arguments: bool,
}

/// The line, with its end.
pub(crate) fn of(record: &impl Serialize, time: SystemTime, masker: &Masker) -> io::Result<Vec<u8>> {
    let Value::Object(record) = serde_json::to_value(record)? else {
        return Err(io::Error::other("the record is not an object"));
    };
    for bounds in BOUNDS {
        let line = bounded(&record, time, masker, bounds);
        if line.len() <= LINE {
            return Ok(line);
        }
    }
    Err(io::Error::other(format!("the record has more than {LINE} bytes")))
}

fn bounded(record: &Map<String, Value>, time: SystemTime, masker: &Masker, bounds: Bounds) -> Vec<u8> {
    let mut members = Map::new();
    for (name, value) in record {
        let mut value = value.clone();
        match &mut value {
            // Already masked and bounded.
            Value::Object(arguments) if name == "arguments" => {
                if !bounds.arguments {
                    arguments.remove("value");
                    arguments.remove("cut");
                }
            }
            value => bound(value, masker, bounds),
        }
        members.insert(name.clone(), value);
    }
    // Time and event come first, for human readers.
    let mut line = format!("{{\"time\":\"{}\"", timestamp(time));
    let event = members.remove("event").unwrap_or_default();
    line.push_str(&format!(",\"event\":{event}"));
    for (name, value) in members {
        line.push_str(&format!(",{}:{value}", json!(name)));
    }
    line.push_str("}\n");
    line.into_bytes()
}

fn bound(value: &mut Value, masker: &Masker, bounds: Bounds) {
    match value {
        Value::String(text) => *text = cut(&masker.mask(text), bounds.text),
        Value::Array(items) => {
            let left_out = items.len().saturating_sub(bounds.items);
            items.truncate(bounds.items);
            items.iter_mut().for_each(|item| bound(item, masker, bounds));
            if left_out > 0 {
                items.push(Value::from(format!("… {left_out} more")));
            }
        }
        Value::Object(members) => members.values_mut().for_each(|member| bound(member, masker, bounds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts a text to `limit` bytes as JSON, with a mark at the cut.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let mut bytes = 0;
    for (place, character) in text.char_indices() {
        bytes += match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            character if character.is_control() => 6,
            character => character.len_utf8(),
        };
        if bytes > limit {
            return format!("{}…", text.get(..place).unwrap_or_default());
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_texts_are_marked_and_escapes_are_counted() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc…");
        assert_eq!(cut("\u{1}\u{1}", 6), "\u{1}…");
        assert_eq!(cut("ää", 3), "ä…");
    }
}
