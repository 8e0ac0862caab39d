//! JSON that every reader interprets the same way, and its canonical form.
//!
//! RFC 8259 leaves open what a repeated name means (section 4), which numbers fit (section 6) and how to treat an
//! unpaired surrogate (section 8.2). A value checked by one reader and used by another must not depend on that.
//!
//! The rules of the canonical form:
//! - Names in an object are unique; they are compared by character, after unescaping. Unicode is not normalized: `é` as
//!   one character and `é` as two are different names, as in every JSON reader.
//! - Members keep the sender's order. The order has no meaning, but makes it easier for people to compare two forms.
//! - Numbers keep their text, so none changes: `1.0`, `-0`, `9007199254740993.0` and thirty digits arrive as they were
//!   sent. A number beyond the range of a double, like `1e400`, is refused: readers turn it into infinity, zero or an
//!   error.
//! - Strings and names are escaped only where JSON requires it. Unpaired surrogates are refused.
//! - Values nest at most [`DEPTH_LIMIT`] levels deep, and there is no whitespace between tokens.
//!
//! One pass produces the form. Besides the result, it needs memory for at most [`OPEN_NAMES_LIMIT`] entries of 16 bytes
//! and one unescaped string.

#![forbid(unsafe_code)]

mod error;
mod halves;
mod kept;
mod layout;
mod mark;
mod names;
mod rules;
mod scan;

use serde::de::{Deserialize, DeserializeOwned};
use serde_json::value::RawValue;

pub use error::Error;
pub use halves::whole_characters;
pub use kept::{Pieces, value_with_numbers, with_numbers};
pub use names::OPEN_NAMES_LIMIT;
pub use rules::{DEPTH_LIMIT, MESSAGE_DEPTH_LIMIT};

use layout::Layout;
use rules::Rules;
use scan::Scan;

/// The canonical form of a value.
///
/// # Errors
/// Returns the place that two readers could interpret differently.
pub fn canonical(value: &RawValue) -> Result<Box<RawValue>, Error> {
    let text = Scan::new(value.get(), Rules::VALUE, Layout::compact()).run()?;
    RawValue::from_string(text).map_err(|error| Error::of_reader(&error))
}

/// The canonical form of an object.
///
/// # Errors
/// As for [`canonical`], and if the value is not an object.
pub fn canonical_object(value: &RawValue) -> Result<Box<RawValue>, Error> {
    require_object(value)?;
    canonical(value)
}

/// Checks that an object has a canonical form, without building it.
///
/// # Errors
/// As for [`canonical_object`].
pub fn check_object(value: &RawValue) -> Result<(), Error> {
    require_object(value)?;
    Scan::new(value.get(), Rules::VALUE, Layout::none()).run().map(drop)
}

/// Whether a `serde_json::Value` keeps the value's numbers: `1e5` becomes `100000.0`, and a number of thirty digits
/// loses half of them.
#[must_use]
pub fn keeps_numbers(value: &RawValue) -> bool {
    Scan::new(value.get(), Rules { keeps_numbers: true, ..Rules::VALUE }, Layout::none()).run().is_ok()
}

/// Formats a value over several lines for people, with names, order and numbers as in its text. Output stops soon after
/// `limit` bytes.
#[must_use]
pub fn lines(value: &RawValue, limit: usize) -> Lines {
    match Scan::new(value.get(), Rules::MESSAGE, Layout::lines(limit)).run_up_to_limit() {
        Ok((text, is_cut)) => Lines { text, is_cut },
        // A text that can't be formatted is shown unchanged.
        Err(_) => Lines { text: value.get().to_owned(), is_cut: false },
    }
}

/// The result of [`lines`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The value, indented by two spaces for each level.
    pub text: String,
    /// Whether the text is cut off.
    pub is_cut: bool,
}

/// The text without byte order marks at its start. JSON has none, but some editors and programs write one, and readers may
/// ignore it (RFC 8259, section 8.1).
#[must_use]
pub fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Checks that no object in a JSON text has a repeated name. Strings and numbers are not checked. Text that is not JSON
/// is left for its reader to refuse.
///
/// # Errors
/// The repeated name, and where.
pub fn check_names(text: &str) -> Result<(), Error> {
    Scan::new(text, Rules::MESSAGE, Layout::none()).run().map(drop)
}

/// Deserializes a value from a text in which no name is repeated, and which may start with a byte order mark.
///
/// # Errors
/// Returns the error in the text, with its position.
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    let text = without_mark(text);
    let value = serde_json::from_str(text).map_err(|error| Error::of_reader(&error))?;
    check_names(text)?;
    Ok(value)
}

/// Deserializes a value from bytes in which no name is repeated.
///
/// # Errors
/// Returns the error in the text, with its position.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    match str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        Err(error) => Err(Error::at("it is not UTF-8", &String::from_utf8_lossy(bytes), error.valid_up_to())),
    }
}

fn require_object(value: &RawValue) -> Result<(), Error> {
    if value.get().starts_with('{') {
        return Ok(());
    }
    Err(Error::at("it is not an object", value.get(), 0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
