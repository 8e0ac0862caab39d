//! JSON of the most common types: `json!`, `serde_json`'s functions, and derived implementations.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::encode;

/// The fields that types in snippets have most often. What is derived is compiled with each type, the code of its
/// fields is shared.
#[derive(Serialize, Deserialize)]
struct Fields {
    flag: bool,
    integer: i64,
    unsigned: u64,
    count: u32,
    size: usize,
    number: f64,
    text: String,
    value: Value,
    names: Vec<String>,
    maybe_text: Option<String>,
    maybe_number: Option<f64>,
}

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of its parts.
pub fn json(text: &str) -> serde_json::Result<Value> {
    let fields: Fields = serde_json::from_value(serde_json::from_str(text)?)?;
    let list: Vec<Fields> = serde_json::from_str(text)?;
    serde_json::to_string(&fields)?;
    serde_json::to_string_pretty(&json!({ "fields": fields, "list": list }))?;
    drop(encode(anyhow::Result::Ok(list)));
    let Fields { flag, integer, unsigned, count, size, number, text, value, names, maybe_text, .. } = &fields;
    let (word, words): (&str, Vec<&str>) = (text, text.split(' ').collect());
    let counts: BTreeMap<String, usize> = BTreeMap::new();
    let pairs: Vec<(String, usize)> = counts.clone().into_iter().collect();
    let groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let totals: HashMap<String, f64> = HashMap::new();
    let values = vec![value.clone()];
    // Each value as it is, and by reference.
    let own = json!([
        1_i32, true, integer, unsigned, count, size, number, word, words, text, names, value, values, counts,
        pairs, groups, totals
    ]);
    let (flag, integer, number, size, text, value) =
        (*flag, *integer, *number, *size, text.clone(), value.clone());
    let first = (pairs.first(), words.first(), names.first());
    Ok(json!({
        "own": own, "flag": flag, "integer": integer, "number": number, "size": size, "text": text, "value": value,
        "names": names.clone(), "maybe": maybe_text.clone(), "first": [first.0, first.1, first.2],
    }))
}

/// Reads a value as snippets do; never called either.
pub fn read(value: &Value) -> Option<f64> {
    let items = value["items"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
    let count = value["count"].as_i64().unwrap_or(0) + value["count"].as_u64().map_or(0, |_| 1);
    (count > 0 && names.contains(&name)).then(|| value[0].as_f64()).flatten()
}
