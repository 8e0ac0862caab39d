//! Numbers that keep their text through a `serde_json::Value`.
//!
//! A `Value` changes the notation of some numbers and the value of others. Those are stored in it as marked strings,
//! which become numbers again when the serialized value is rewritten. Only this crate knows the mark.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::layout::Layout;
use crate::mark::mark;
use crate::rules::Rules;
use crate::scan::Scan;

/// Reads a value whose numbers keep their text until [`with_numbers`] restores them.
///
/// # Errors
/// Fails if serde_json cannot read the value.
pub fn value_with_numbers(raw: &RawValue) -> serde_json::Result<Value> {
    let rules = Rules { marks_numbers: true, ..Rules::MESSAGE };
    match Scan::new(raw.get(), rules, Layout::compact()).run() {
        Ok(marked) => serde_json::from_str(&marked),
        // With repeated names, the last one wins, as usual in serde_json.
        Err(_) => serde_json::from_str(raw.get()),
    }
}

/// Restores the numbers in serialized text that contains a value from [`value_with_numbers`].
#[must_use]
pub fn with_numbers(written: &str) -> Cow<'_, str> {
    let mut rest = written;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(mark()) {
        let end = after.find(|c: char| !is_of_number(c)).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        let quotes = quotes_behind(before);
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

/// Applies [`with_numbers`] to text that arrives in pieces, cut anywhere.
///
/// A possible start of a marked string is held back until its end: less than 100 bytes plus the number itself, or the
/// rest of a character.
#[derive(Debug, Default)]
pub struct Pieces {
    held: Vec<u8>,
}

impl Pieces {
    /// The text up to the end of this piece, with numbers restored, except for what is held back. Text that is not
    /// UTF-8 is passed through unchanged.
    pub fn push<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.held.is_empty() {
            let (whole, rest) = piece.split_at(whole_until(piece));
            self.held.extend_from_slice(rest);
            return restored(whole);
        }
        self.held.extend_from_slice(piece);
        let rest = self.held.split_off(whole_until(&self.held));
        let whole = std::mem::replace(&mut self.held, rest);
        Cow::Owned(restored(&whole).into_owned())
    }

    /// Returns the part that was held back, at the end of the text.
    #[must_use]
    pub fn end(&mut self) -> Vec<u8> {
        restored(&std::mem::take(&mut self.held)).into_owned()
    }
}

fn restored(text: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(text).map(with_numbers) {
        Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => Cow::Borrowed(text),
    }
}

/// The length of the prefix that does not end inside a character or a marked string.
fn whole_until(text: &[u8]) -> usize {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()
        }
        // Not UTF-8: passed through unchanged.
        Err(_) => return text.len(),
    };
    // From the end: quotes, a number, the mark or its prefix, quotes.
    let before = text.trim_end_matches(is_of_quotes);
    let before = before.trim_end_matches(is_of_number);
    if let Some(before) = before.strip_suffix(mark()) {
        let closing = text.len() - text.trim_end_matches(is_of_quotes).len();
        let is_whole = closing > 0 && closing >= quotes_behind(before);
        return if is_whole { text.len() } else { before.trim_end_matches(is_of_quotes).len() };
    }
    let partial = (1..mark().len()).rev().find(|length| text.ends_with(&mark()[..*length])).unwrap_or(0);
    text[..text.len() - partial].trim_end_matches(is_of_quotes).len()
}

/// The number of bytes in the quote at the end of the text. In a string inside a string, quotes are escaped.
fn quotes_behind(text: &str) -> usize {
    text.len() - text.trim_end_matches('"').trim_end_matches('\\').len()
}

fn is_of_quotes(character: char) -> bool {
    matches!(character, '"' | '\\')
}

fn is_of_number(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E' | '+' | '-')
}
