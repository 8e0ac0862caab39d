//! A record as one line of bounded length, without secrets.

use std::io;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::record::Record;
use crate::masker::Masker;

/// Bytes of the longest line, its end included (64 KiB).
pub(crate) const LINE: usize = 64 * 1024;

/// How much of each text and list stands in a line; the next where the whole is too long. With the last a record of
/// four lists and twenty texts is far below [`LINE`], whatever is in it.
const BOUNDS: [Bounds; 3] = [
    Bounds { text: 4096, items: 1000, arguments: true },
    Bounds { text: 256, items: 150, arguments: true },
    Bounds { text: 128, items: 16, arguments: false },
];

#[derive(Clone, Copy)]
struct Bounds {
    text: usize,
    items: usize,
    /// Whether arguments are told beyond hash and size.
    arguments: bool,
}

/// The line, with its end.
pub(super) fn of(record: &Record<'_>, time: SystemTime, masker: &Masker) -> io::Result<Vec<u8>> {
    let Value::Object(record) = serde_json::to_value(record)? else {
        return Err(io::Error::other("a record that is no object"));
    };
    for bounds in BOUNDS {
        let line = bounded(&record, time, masker, bounds);
        if line.len() <= LINE {
            return Ok(line);
        }
    }
    Err(io::Error::other(format!("a record of more than {LINE} bytes")))
}

fn bounded(record: &Map<String, Value>, time: SystemTime, masker: &Masker, bounds: Bounds) -> Vec<u8> {
    let mut members = Map::new();
    for (name, value) in record {
        let mut value = value.clone();
        match &mut value {
            // Masked and bounded when they were taken.
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
    // Time and event come first, for people who read along.
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

/// At most so many bytes of a text as JSON, with a mark where it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut bytes = 0;
    for (place, character) in text.char_indices() {
        bytes += match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            character if character.is_control() => 6,
            character => character.len_utf8(),
        };
        if bytes > most {
            return format!("{}…", text.get(..place).unwrap_or_default());
        }
    }
    text.to_owned()
}

/// RFC 3339 in UTC, with milliseconds.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The date so many days after 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    // 400 years have the same number of days wherever they begin.
    let mut year = 1970 + days / 146_097 * 400;
    days %= 146_097;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_as_rfc_3339_has_them() {
        let at = |seconds: u64| timestamp(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59.007Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(at(32_503_680_000), "3000-01-01T00:00:00.007Z");
    }

    #[test]
    fn what_is_cut_says_so_and_counts_escapes() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc…");
        assert_eq!(cut("\u{1}\u{1}", 6), "\u{1}…");
        assert_eq!(cut("ää", 3), "ä…");
    }
}
