//! JSON that every reader understands in the same way, and its canonical form.
//!
//! RFC 8259 leaves open what a repeated name means (section 4), which numbers fit (section 6) and what half of a
//! surrogate pair is (section 8.2). A value that is checked by one reader and used by another must not depend on that.
//!
//! The canonical form of a value, in one place:
//! - A name stands once in its object; names are compared by their characters, after unescaping. Unicode forms are not
//!   mixed up: `é` in one character and `é` in two are different names, here as in every JSON reader.
//! - Members keep the sender's order. It means nothing, and a person compares more easily what stands where it stood.
//! - Numbers keep their text, so that none changes: `1.0`, `-0`, `9007199254740993.0` and thirty digits arrive as they
//!   were sent. One that no double can hold, such as `1e400`, is refused: readers make infinity, zero or an error of it.
//! - Texts and names are escaped where JSON demands it and nowhere else. Half of a surrogate pair is refused.
//! - Values nest at most [`DEPTH_LIMIT`] levels, and no white space stands between tokens.
//!
//! The form is made in one pass whose memory beside the result is at most [`OPEN_NAMES_LIMIT`] entries of 16 bytes and
//! one unescaped text.

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
/// What two readers could understand differently, and where.
pub fn canonical(value: &RawValue) -> Result<Box<RawValue>, Error> {
    let text = Scan::new(value.get(), Rules::VALUE, Layout::compact()).run()?;
    RawValue::from_string(text).map_err(|error| Error::of_reader(&error))
}

/// The canonical form of an object.
///
/// # Errors
/// As [`canonical`], and where the value is no object.
pub fn canonical_object(value: &RawValue) -> Result<Box<RawValue>, Error> {
    require_object(value)?;
    canonical(value)
}

/// Checks that an object has a canonical form, without making it.
///
/// # Errors
/// As [`canonical_object`].
pub fn check_object(value: &RawValue) -> Result<(), Error> {
    require_object(value)?;
    Scan::new(value.get(), Rules::VALUE, Layout::none()).run().map(drop)
}

/// Whether a `serde_json::Value` of the value would be written with the same numbers: `1e5` becomes `100000.0`, and of
/// thirty digits half are lost.
#[must_use]
pub fn keeps_numbers(value: &RawValue) -> bool {
    Scan::new(value.get(), Rules { keeps_numbers: true, ..Rules::VALUE }, Layout::none()).run().is_ok()
}

/// A value on lines, for people: names, order and numbers as in its text. Ends soon after `most` bytes; then the result
/// is only the beginning.
#[must_use]
pub fn lines(value: &RawValue, most: usize) -> Lines {
    // What can't be laid out is shown as it came.
    let whole = || Lines { text: value.get().to_owned(), is_cut: false };
    let layout = Layout::lines(most);
    Scan::new(value.get(), Rules::MESSAGE, layout)
        .run_up_to_limit()
        .map_or_else(|_| whole(), |(text, is_cut)| Lines { text, is_cut })
}

/// What [`lines`] gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The value, indented by two spaces for each level.
    pub text: String,
    /// Whether there is more of it.
    pub is_cut: bool,
}

/// Checks that no object of a JSON text has a name twice. Texts and numbers are not looked into. What is no JSON is left
/// to its reader.
///
/// # Errors
/// The name that is repeated, and where.
pub fn check_names(text: &str) -> Result<(), Error> {
    Scan::new(text, Rules::MESSAGE, Layout::none()).run().map(drop)
}

/// Reads a value of a type from a text in which no name is repeated.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    let value = serde_json::from_str(text).map_err(|error| Error::of_reader(&error))?;
    check_names(text)?;
    Ok(value)
}

/// Reads a value of a type from bytes in which no name is repeated.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    match str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        Err(error) => Err(Error::at("it is no UTF-8", &String::from_utf8_lossy(bytes), error.valid_up_to())),
    }
}

fn require_object(value: &RawValue) -> Result<(), Error> {
    if value.get().starts_with('{') {
        return Ok(());
    }
    Err(Error::at("it is no object", value.get(), 0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
