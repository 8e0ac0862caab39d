//! Generates answers, always the same for the same arguments.

use serde_json::{Map, Value, json};

use crate::tools::{Answer, Domain, Entry, Field};

/// Default number of items in a list.
const DEFAULT_ITEMS: u64 = 10;
/// Maximum number of items in a list.
const MAX_ITEMS: u64 = 100;
/// Words for generated text.
const WORDS: [&str; 8] = ["amber", "birch", "cobalt", "delta", "ember", "fjord", "granite", "harbor"];

/// The result of a call.
pub(crate) fn answer(entry: &Entry, arguments: &Map<String, Value>) -> Value {
    let name = entry.tool["name"].as_str().unwrap_or_default();
    let seed = seed(&[name, &Value::Object(arguments.clone()).to_string()]);
    let domain = &entry.domain;
    match entry.answer {
        Answer::Thing => structured(&item(domain, &id(domain, arguments, seed), arguments)),
        Answer::Count => structured(&json!({ "count": seed % 5000 })),
        Answer::Things => {
            let count =
                arguments.get("limit").and_then(Value::as_u64).unwrap_or(DEFAULT_ITEMS).min(MAX_ITEMS);
            let items = (0..count)
                .map(|place| item(domain, &generated_id(domain, seed.wrapping_add(place)), &Map::new()));
            let items: Vec<_> = items.collect();
            text(&json!({ domain.many.as_str(): items }))
        }
        Answer::Done => {
            text(&json!({ "ok": true, "tool": name, "arguments": arguments, "reference": seed % 1_000_000 }))
        }
    }
}

fn text(value: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": value.to_string() }] })
}

fn structured(value: &Value) -> Value {
    let mut result = text(value);
    result["structuredContent"] = value.clone();
    result
}

/// The caller's id, or a generated one.
fn id(domain: &Domain, arguments: &Map<String, Value>, seed: u64) -> String {
    let named = arguments.get(&format!("{}_id", domain.one)).and_then(Value::as_str);
    named.map_or_else(|| generated_id(domain, seed), str::to_owned)
}

fn generated_id(domain: &Domain, seed: u64) -> String {
    format!("{}-{}", domain.one, seed % 100_000)
}

/// An item with the caller's fields, and generated ones for the rest.
fn item(domain: &Domain, id: &str, given: &Map<String, Value>) -> Value {
    let field = |field: &Field| {
        let value = given
            .get(&field.0)
            .cloned()
            .unwrap_or_else(|| generated(field, seed(&[&domain.name, id, &field.0])));
        (field.0.clone(), value)
    };
    let mut item: Map<_, _> = domain.fields.iter().map(field).collect();
    item.insert("id".to_owned(), json!(id));
    Value::Object(item)
}

fn generated(Field(name, kind, _): &Field, seed: u64) -> Value {
    let word = |skip: u64| {
        let place = usize::try_from((seed >> skip) % 8).unwrap_or_default();
        WORDS.get(place).copied().unwrap_or_default()
    };
    let (month, day) = (seed % 12 + 1, seed % 28 + 1);
    match kind.as_str() {
        "integer" => json!(seed % 500),
        "number" => json!(f64::from(u32::try_from(seed % 100_000).unwrap_or_default()) / 100.0),
        "boolean" => json!(seed.is_multiple_of(2)),
        "date" => json!(format!("2026-{month:02}-{day:02}")),
        "date-time" => json!(format!("2026-{month:02}-{day:02}T{:02}:00:00Z", seed % 24)),
        "email" => json!(format!("{}@example.com", word(3))),
        "strings" => json!([word(3), word(9)]),
        words if words.contains(',') => {
            let words: Vec<_> = words.split(',').collect();
            let place = usize::try_from(seed).unwrap_or_default() % words.len();
            json!(words.get(place))
        }
        _ => json!(format!("{} {} {}", word(3), word(9), name.replace('_', " "))),
    }
}

/// Hashes texts to a number (FNV-1a); it need not be hard to guess.
fn seed(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    // Sixty bits: JSON readers may not preserve larger numbers.
    bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        >> 4
}
