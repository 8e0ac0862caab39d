//! Spellings of draft 3 that later drafts dropped.

use serde_json::{Value, json};

use super::keywords::Schema;

/// The schema with its types as a union, if they include schemas: `"type": ["string", { … }]`.
pub(super) fn types_of_schemas(schema: &Schema) -> Option<Schema> {
    let names = schema.get("type")?.as_array()?;
    if !names.iter().any(Value::is_object) {
        return None;
    }
    let union: Vec<Value> = names
        .iter()
        .map(|name| match name {
            Value::String(name) => json!({ "type": name }),
            other => other.clone(),
        })
        .collect();
    let mut modern = schema.clone();
    modern.remove("type");
    match modern.contains_key("anyOf") {
        true => modern.insert("oneOf".to_owned(), Value::Array(union)),
        false => modern.insert("anyOf".to_owned(), Value::Array(union)),
    };
    Some(modern)
}
