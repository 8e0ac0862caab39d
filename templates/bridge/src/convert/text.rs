//! String enums, looked up by their string in answers and arguments.

use std::fmt;
use std::panic::Location;

use serde_json::Value;

use super::mismatch::Texts;
use super::{Argument, FromJson, Reader, unfit};
use crate::warning::warn;

/// A generated string enum, whose variants can also be given as strings.
#[diagnostic::on_unimplemented(
    message = "the argument must be a `{Self}`, but this is a `&str`",
    label = "expected `{Self}`"
)]
pub trait GeneratedText: Sized {
    /// The strings in the schema.
    const TEXTS: &'static [&'static str];

    /// The variant of a string.
    ///
    /// # Errors
    /// If the schema does not allow the string: a placeholder variant, and the allowed strings.
    fn find(text: &str) -> Result<Self, (Self, &'static [&'static str])>;
}

/// Reads a string enum.
pub fn read_text<T: GeneratedText>(value: Value, reader: &mut Reader) -> T {
    let text = String::from_json(value, reader);
    match T::find(&text) {
        Ok(found) => found,
        Err((instead, texts)) => {
            reader.unknown_text(texts, text);
            instead
        }
    }
}

/// Whether a variant's string equals another one. A string that no variant has causes a warning: it is probably
/// misspelled, and never equal.
#[track_caller]
pub fn is_text<T: GeneratedText>(own: &str, text: &str) -> bool {
    if own == text {
        return true;
    }
    if !T::TEXTS.contains(&text) {
        warn_of_text(std::any::type_name::<T>(), T::TEXTS, text, Location::caller());
    }
    false
}

fn warn_of_text(name: &str, texts: &[&str], text: &str, place: &Location<'_>) {
    let name = name.rsplit("::").next().unwrap_or(name);
    let nearest = texts.iter().find(|known| known.eq_ignore_ascii_case(text));
    let meant = nearest.map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
    let message = format!(
        "a `{name}` is compared with {text:?}, which is not one of its values ({}){meant}",
        Texts(texts)
    );
    warn(message, Some(place));
}

/// Looks up a string.
///
/// # Errors
/// If the schema does not allow it, with the allowed strings.
pub fn parse_text<T: GeneratedText>(text: &str) -> Result<T, UnknownText> {
    match T::find(text) {
        Ok(found) => Ok(found),
        Err((_, texts)) => Err(UnknownText(not_one_of(text, texts))),
    }
}

/// A string that is not in an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownText(String);

impl fmt::Display for UnknownText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UnknownText {}

macro_rules! text {
    ($($source:ty),+) => {
        $(impl<T: GeneratedText> Argument<T> for $source {
            fn into_argument(self) -> T {
                match T::find(&self) {
                    Ok(found) => found,
                    Err((instead, texts)) => {
                        unfit(unlisted(&self, texts));
                        instead
                    }
                }
            }
        })+
    };
}

text!(&str, String, &String);

fn unlisted(text: &str, texts: &[&str]) -> String {
    format!("{text:?}, which is not one of {}", Texts(texts))
}

fn not_one_of(text: &str, texts: &[&str]) -> String {
    format!("{text:?} is not one of {}", Texts(texts))
}
