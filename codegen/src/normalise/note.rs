//! What a schema says for readers: description, default, bounds and format.

use serde_json::Value;

use crate::form::Note;

/// Keywords that are told in the notes, with the words for them.
const FACTS: &[(&str, &str)] = &[
    ("default", "default "),
    ("minimum", "at least "),
    ("exclusiveMinimum", "above "),
    ("maximum", "at most "),
    ("exclusiveMaximum", "below "),
    ("multipleOf", "a multiple of "),
    ("minLength", "length at least "),
    ("maxLength", "length at most "),
    ("minItems", "items at least "),
    ("maxItems", "items at most "),
    ("pattern", "pattern "),
    ("format", "format "),
];

/// Values longer than this, as JSON, are not told.
const LONGEST_FACT: usize = 60;

/// The note of a schema.
pub(crate) fn note(schema: &Value) -> Note {
    let description = schema.get("description").or_else(|| schema.get("title"));
    let description = description.and_then(Value::as_str).map(ToOwned::to_owned);
    let fact = |(keyword, words): &(&str, &str)| {
        let value = schema
            .get(keyword)
            .filter(|value| !value.is_null() && !value.is_boolean() || *keyword == "default")?;
        let text = match value {
            Value::String(text) if *keyword == "pattern" || *keyword == "format" => text.clone(),
            Value::Null => return None,
            other => other.to_string(),
        };
        // Bounds that a generator put in to say "any 64-bit integer" tell nothing.
        (text.len() <= LONGEST_FACT && !is_extreme(value)).then(|| format!("{words}{text}"))
    };
    let mut facts: Vec<String> = FACTS.iter().filter_map(fact).collect();
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.is_empty()
        && values.iter().all(Value::is_number)
    {
        let values: Vec<String> = values.iter().take(12).map(Value::to_string).collect();
        facts.push(format!("one of {}", values.join(", ")));
    }
    Note { description, facts }
}

fn is_extreme(value: &Value) -> bool {
    /// The largest integer that JavaScript holds exactly, which its generators write as a bound.
    const SAFE: f64 = 9_007_199_254_740_991.0;
    value.as_f64().is_some_and(|number| number.abs() >= SAFE)
}
