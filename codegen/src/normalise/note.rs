//! Documentation in a schema: description, default, bounds and format.

use serde_json::Value;

use super::keywords::{Schema, description, types};
use super::reader::Reader;
use super::{merge, union};
use crate::form::{Fact, Note};

/// Keywords included in notes, the phrase for each, and whether short forms include it.
const FACTS: &[(&str, &str, bool)] = &[
    ("default", "default ", true),
    ("minimum", "at least ", true),
    ("exclusiveMinimum", "above ", true),
    ("maximum", "at most ", true),
    ("exclusiveMaximum", "below ", true),
    ("multipleOf", "a multiple of ", true),
    ("divisibleBy", "a multiple of ", true),
    ("minLength", "length at least ", true),
    ("maxLength", "length at most ", true),
    ("minItems", "items at least ", true),
    ("maxItems", "items at most ", true),
    ("minProperties", "fields at least ", true),
    ("maxProperties", "fields at most ", true),
    ("uniqueItems", "items differ ", false),
    ("pattern", "pattern ", true),
    ("format", "format ", true),
    ("contentEncoding", "encoded as ", true),
    ("contentMediaType", "media type ", true),
    ("enum", "one of ", true),
    ("deprecated", "deprecated ", true),
    ("readOnly", "read only ", false),
    ("writeOnly", "write only ", false),
    ("examples", "for example ", false),
    ("example", "for example ", false),
    ("items", "each item: ", false),
    ("additionalProperties", "each value: ", false),
];

/// Formats that name the width of a number. The Rust type shows it, or does not depend on it.
const WIDTHS: &[&str] = &[
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32", "uint64",
    "uint128", "usize", "isize", "integer", "long", "float", "float32", "float64", "double", "number",
];

/// Longer values, in bytes of JSON, are left out of short forms.
const MAX_BRIEF: usize = 60;
/// Longer values are left out of all forms.
const MAX_FACT: usize = 400;
/// Maximum number of listed values of a numeric enumeration.
const MAX_NUMBERS: usize = 12;
/// Maximum number of schemas behind a property's own that are searched for missing documentation.
const MAX_BEHIND: usize = 3;

impl Reader<'_> {
    /// The note of a property: the documentation in its own schema, completed by the schemas behind it.
    pub(super) fn note(&self, schema: &Value) -> Note {
        let mut note = note(schema);
        let mut behind = self.behind(schema);
        for _ in 0..MAX_BEHIND {
            let Some(schema) = behind else { break };
            let more = self::note(&schema);
            note.description = note.description.or(more.description);
            for fact in more.facts {
                if !note.facts.iter().any(|known| known.keyword == fact.keyword) {
                    note.facts.push(fact);
                }
            }
            behind = self.behind(&schema);
        }
        note.facts.sort_by_key(|fact| FACTS.iter().position(|(keyword, ..)| *keyword == fact.keyword));
        note
    }

    /// The schema that this one is equivalent to: the target of its reference, or its only variant besides
    /// null.
    fn behind(&self, schema: &Value) -> Option<Value> {
        let keywords = schema.as_object()?;
        if let Some((reference, _)) = merge::plain_reference(keywords) {
            return self.resolve(&reference);
        }
        union::only_besides_null(keywords).cloned()
    }
}

/// The note of a schema.
fn note(schema: &Value) -> Note {
    let Value::Object(keywords) = schema else { return Note::default() };
    let fact = |(keyword, words, brief): &(&'static str, &'static str, bool)| {
        let value = fact_value(keyword, keywords.get(*keyword)?, keywords)?;
        let fits = value.len() <= MAX_FACT;
        let brief = *brief && value.len() <= MAX_BRIEF;
        fits.then_some(Fact { keyword, words: words_for(keyword, words, keywords), value, brief })
    };
    Note { description: description(schema), facts: FACTS.iter().filter_map(fact).collect() }
}

/// The value of a fact, if it is worth showing.
fn fact_value(keyword: &str, value: &Value, schema: &Schema) -> Option<String> {
    match (keyword, value) {
        ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", _) => {
            (*value == Value::Bool(true)).then(String::new)
        }
        ("items" | "additionalProperties", _) => {
            let Note { description, facts } = note(value);
            let facts = facts.into_iter().map(|fact| format!("{}{}", fact.words, fact.value));
            let parts: Vec<String> = description.into_iter().chain(facts).collect();
            (value.is_object() && !parts.is_empty()).then(|| parts.join("; "))
        }
        ("enum", Value::Array(values)) => {
            let numbers = !values.is_empty() && values.iter().all(Value::is_number);
            let shown: Vec<String> = values.iter().take(MAX_NUMBERS).map(Value::to_string).collect();
            numbers.then(|| shown.join(", "))
        }
        ("examples", Value::Array(values)) => {
            let shown: Vec<String> = values.iter().take(MAX_BEHIND).map(Value::to_string).collect();
            (!shown.is_empty()).then(|| shown.join(", "))
        }
        ("enum" | "examples", _) | (_, Value::Null) => None,
        ("format", Value::String(format)) if WIDTHS.contains(&format.as_str()) => {
            // For a text, the format describes the content.
            types(schema).iter().any(|name| name == "string").then(|| format.clone())
        }
        ("pattern" | "format" | "contentEncoding" | "contentMediaType", Value::String(text)) => {
            Some(text.clone())
        }
        ("pattern" | "format" | "contentEncoding" | "contentMediaType", _) => None,
        ("default" | "example", value) => Some(value.to_string()),
        // Bounds that generators write to mean "any 64-bit integer" carry no information.
        (_, Value::Number(_)) if !is_extreme(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The phrase for a keyword. In draft 4, a second keyword makes a bound exclusive.
fn words_for(keyword: &str, words: &'static str, schema: &Schema) -> &'static str {
    let is = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(true));
    match keyword {
        "minimum" if is("exclusiveMinimum") => "above ",
        "maximum" if is("exclusiveMaximum") => "below ",
        _ => words,
    }
}

fn is_extreme(value: &Value) -> bool {
    /// The largest integer that JavaScript represents exactly. Its generators write it as a bound.
    const SAFE: f64 = 9_007_199_254_740_991.0;
    value.as_f64().is_some_and(|number| number.abs() >= SAFE)
}
