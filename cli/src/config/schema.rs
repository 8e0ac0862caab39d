//! The JSON Schema of configurations, from the very forms that are decoded.

use serde_json::{Value, json};

use super::form::File;

/// Other names of keys, which the forms take and their derived schema does not name: the form, the key, its other name.
const ALIASES: [(&str, &str, &str); 7] = [
    ("ServerEntry", "type", "transport"),
    ("OAuthEntry", "client_id", "clientId"),
    ("OAuthEntry", "client_secret", "clientSecret"),
    ("OAuthEntry", "authorization_url", "authorizationUrl"),
    ("OAuthEntry", "token_url", "tokenUrl"),
    ("OAuthEntry", "registration_url", "registrationUrl"),
    ("OAuthEntry", "client_metadata_url", "clientMetadataUrl"),
];

/// The schema, in draft 2020-12, with keys in their order of names.
pub(crate) fn schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<File>()
        .to_value();
    for (form, key, alias) in ALIASES {
        let properties =
            schema.pointer_mut(&format!("/$defs/{form}/properties")).and_then(Value::as_object_mut);
        if let Some(properties) = properties
            && let Some(of) = properties.get(key).cloned()
        {
            properties.insert(alias.to_owned(), of);
        }
    }
    aliases(&mut schema);
    rules(&mut schema);
    plain(&mut schema);
    schema.sort_all_objects();
    schema
}

/// Gives each key with a second name that one as well.
fn aliases(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let mut named = Vec::new();
        for property in properties.values_mut() {
            let alias = property.as_object_mut().and_then(|property| property.remove("x-alias"));
            named.extend(
                alias.as_ref().and_then(Value::as_str).map(|name| (name.to_owned(), property.clone())),
            );
        }
        properties.extend(named);
    }
    match schema {
        Value::Object(object) => object.values_mut().for_each(aliases),
        Value::Array(items) => items.iter_mut().for_each(aliases),
        _ => {}
    }
}

/// Rules between values that a schema can say.
fn rules(schema: &mut Value) {
    let mut set = |pointer: &str, key: &str, value: Value| {
        if let Some(place) = schema.pointer_mut(pointer).and_then(Value::as_object_mut) {
            place.insert(key.to_owned(), value);
        }
    };
    let texts = |names: &[&str]| json!({ "type": ["string", "null"], "enum": names.iter().map(|name| json!(name)).chain([Value::Null]).collect::<Vec<_>>() });
    for key in ["type", "transport"] {
        set("/$defs/ServerEntry/properties", key, texts(&["stdio", "http", "sse"]));
    }
    set("/properties/version", "pattern", json!("^1\\.0$"));
    let both = |one: &str, other: &str| json!({ "not": { "required": [one, other] } });
    let all = json!([both("enabledTools", "disabledTools"), both("type", "transport")]);
    set("/$defs/ServerEntry", "allOf", all);
}

/// What the decoder takes for a text besides texts: plain numbers and truth values of YAML. Formats of numbers, and
/// defaults that are only what is left out, say nothing to people.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("type") || object.contains_key("$ref") || object.contains_key("anyOf") {
                object.remove("format");
                if object.get("default").is_some_and(Value::is_null) {
                    object.remove("default");
                }
            }
            let widened = match object.get("type") {
                Some(Value::String(kind)) if kind == "string" && !object.contains_key("enum") => {
                    Some(json!(["string", "number", "boolean"]))
                }
                Some(Value::Array(kinds))
                    if kinds.contains(&json!("string")) && !object.contains_key("enum") =>
                {
                    Some(json!(["string", "number", "boolean", "null"]))
                }
                _ => None,
            };
            if let Some(widened) = widened {
                object.insert("type".to_owned(), widened);
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}
