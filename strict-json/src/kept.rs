//! Numbers that keep their text on the way through a `serde_json::Value`.
//!
//! A `Value` writes some numbers in another way than it read them, and some as other numbers. Those stand in it as marked
//! texts, which become numbers again in the text that is written of it. Nobody else knows the mark.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::layout::Layout;
use crate::scan::Scan;
use crate::{MESSAGE, Rules};

/// What marked texts begin with.
pub(crate) fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = || RandomState::new().hash_one(0);
        format!("number {:016x}{:016x} ", random(), random())
    })
}

/// A value whose numbers keep their text until [`with_numbers`] writes them.
///
/// # Errors
/// Where serde_json does not read it.
pub fn value_with_numbers(raw: &RawValue) -> serde_json::Result<Value> {
    let rules = Rules { marks_numbers: true, ..MESSAGE };
    match Scan::new(raw.get(), rules, Layout::compact()).run() {
        Ok(marked) => serde_json::from_str(&marked),
        // Repeated names: the last one counts, as always.
        Err(_) => serde_json::from_str(raw.get()),
    }
}

/// The text of what was written of a value by [`value_with_numbers`], with the numbers themselves.
#[must_use]
pub fn with_numbers(written: &str) -> Cow<'_, str> {
    let mut rest = written;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(mark()) {
        let end = after.find(|c: char| !is_of_number(c)).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        // Within a text, the marks of a text are escaped.
        let quotes = before.len() - before.trim_end_matches('"').trim_end_matches('\\').len();
        out.push_str(&before[..before.len() - quotes]);
        out.push_str(number);
        rest = after.get(quotes..).unwrap_or_default();
    }
    if out.is_empty() && rest.len() == written.len() {
        return Cow::Borrowed(written);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_of_number(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E' | '+' | '-')
}
