//! Parses the arguments of a tool call from the command line.

use serde_json::value::RawValue;

use gateway::failure::Failure;

/// Maximum length of invalid arguments in an error, in characters.
const SHOWN: usize = 60;

/// Parses arguments, which must be a JSON object, and returns its canonical form.
pub(crate) fn object(text: &str) -> Result<Box<RawValue>, Failure> {
    let text = strict_json::without_mark(text);
    // Arguments may be long, and the user can see them on the command line.
    let (shown, more) = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), "…"),
        None => (text, ""),
    };
    let wrong = |error: String| {
        Failure::command_line(format!("--args {shown:?}{more} is not a JSON object: {error}"))
            .hint("write `{ \"name\": value }` in single quotes, or name=TEXT for each argument")
    };
    let value: Box<RawValue> = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if !value.get().starts_with('{') {
        return Err(wrong("it does not begin with `{`".to_owned()));
    }
    strict_json::canonical(&value).map_err(|error| wrong(error.to_string()))
}
