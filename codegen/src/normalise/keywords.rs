//! The meaning of single keywords of a schema.

use serde_json::{Map, Value};

/// The keywords of a schema.
pub(super) type Schema = Map<String, Value>;

/// Keywords that do not affect the type: descriptions, names, and containers of other schemas.
const ANNOTATIONS: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "default",
    "definitions",
    "deprecated",
    "description",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "id",
    "nullable",
    "readOnly",
    "title",
    "writeOnly",
    "xml",
];

/// Whether the schema names no type and restricts nothing, so it intentionally allows anything.
pub(super) fn allows_anything(schema: &Schema) -> bool {
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        // In drafts 3 and 4, `required` marks a property.
        "required" => value.is_boolean(),
        "type" => names_any(value),
        keyword => ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-"),
    })
}

/// Draft 3's name for all types.
fn names_any(name: &Value) -> bool {
    name == "any"
}

/// Whether null is allowed, in OpenAPI's spelling.
pub(super) fn is_nullable(schema: &Schema) -> bool {
    ["nullable", "x-nullable"].iter().any(|keyword| schema.get(*keyword) == Some(&Value::Bool(true)))
}

/// The values of `enum` or `const`.
pub(super) fn allowed_values(schema: &Schema) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// The only value that a schema allows, if it has one and it is a scalar.
pub(super) fn fixed_value(schema: &Value) -> Option<Value> {
    let mut values = allowed_values(schema.as_object()?)?;
    let only = values.pop().filter(|_| values.is_empty())?;
    (only.is_string() || only.is_boolean() || only.is_number()).then_some(only)
}

/// The types that a schema names, or implies by its keywords.
pub(super) fn types(schema: &Schema) -> Vec<String> {
    let named = match schema.get("type") {
        Some(name) if names_any(name) => return Vec::new(),
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            let mut unique: Vec<String> = Vec::new();
            for name in names.iter().filter_map(Value::as_str) {
                if !unique.iter().any(|known| known == name) {
                    unique.push(name.to_owned());
                }
            }
            unique
        }
        _ => Vec::new(),
    };
    if !named.is_empty() {
        return named;
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    let requires = schema.get("required").is_some_and(|required| !required.is_boolean());
    if requires || has(&["properties", "patternProperties", "additionalProperties"]) {
        vec!["object".to_owned()]
    } else if has(&["items", "prefixItems"]) {
        vec!["array".to_owned()]
    } else {
        Vec::new()
    }
}

/// Whether all values are objects, or null.
pub(super) fn is_object(schema: &Schema) -> bool {
    !schema.contains_key("anyOf")
        && !schema.contains_key("oneOf")
        && types(schema).iter().all(|name| name == "object" || name == "null")
        && allowed_values(schema).is_none()
}

/// Whether the schema includes integers above the range of `i64`.
pub(super) fn is_unsigned(schema: &Schema) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    let maximum = schema.get("maximum").and_then(Value::as_u64);
    matches!(format, Some("uint64" | "uint" | "usize"))
        || maximum.is_some_and(|maximum| i64::try_from(maximum).is_err())
}

/// The title of a schema, if it is a name and not a sentence.
pub(super) fn name_in_title(schema: &Schema) -> Option<&str> {
    /// A name has at most this many words and bytes.
    const WORDS: usize = 3;
    const LONGEST: usize = 60;
    let title = schema.get("title")?.as_str()?;
    let is_name = title.len() <= LONGEST
        && title.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && title.split_whitespace().count() <= WORDS;
    is_name.then_some(title)
}

/// The description of a schema, or its title.
pub(super) fn description(schema: &Value) -> Option<String> {
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("description").or_else(|| text("title")).map(ToOwned::to_owned)
}
