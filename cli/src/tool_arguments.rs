//! The arguments of a call as they are written on a command line.

use serde_json::value::RawValue;

use gateway::failure::Failure;

/// Most characters of wrong arguments that are quoted.
const SHOWN: usize = 60;

/// Arguments in the canonical form of the JSON object that they must be.
pub(crate) fn object(text: &str) -> Result<Box<RawValue>, Failure> {
    // They may be long, and the whole of them is in the command line.
    let (shown, more) = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), "…"),
        None => (text, ""),
    };
    let wrong =
        |error: String| Failure::configuration(format!("--args {shown:?}{more} is no JSON object: {error}"));
    let value: Box<RawValue> = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if !value.get().starts_with('{') {
        return Err(wrong("write `{ \"name\": value }`".to_owned()));
    }
    strict_json::canonical(&value).map_err(|error| wrong(error.to_string()))
}
