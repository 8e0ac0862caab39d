//! The JSON Schema of configurations, generated from the decoded forms.

use serde_json::{Map, Value, json};

use super::top_level::File;

/// The schema, in draft 2020-12, with keys sorted by name.
pub fn schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<File>()
        .to_value();
    aliases(&mut schema);
    rules(&mut schema);
    plain(&mut schema);
    schema.sort_all_objects();
    schema
}

/// Adds the alias of each key as a property, and excludes using both.
fn aliases(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(aliases);
            let named = object.get_mut("properties").and_then(Value::as_object_mut).map(second_names);
            for (key, name) in named.into_iter().flatten() {
                not_both(object, &key, &name);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(aliases),
        _ => {}
    }
}

/// Adds the aliases to the properties; returns the pairs of key and alias.
fn second_names(properties: &mut Map<String, Value>) -> Vec<(String, String)> {
    let mut named = Vec::new();
    for (key, of) in properties.iter_mut() {
        if let Some(Value::String(name)) = of.as_object_mut().and_then(|of| of.remove("x-alias")) {
            named.push((key.clone(), name, of.clone()));
        }
    }
    let add = |(key, name, of): (String, String, Value)| {
        properties.insert(name.clone(), of);
        (key, name)
    };
    named.into_iter().map(add).collect()
}

fn not_both(object: &mut Map<String, Value>, one: &str, other: &str) {
    let rule = json!({ "not": { "required": [one, other] } });
    if let Some(rules) = object.entry("allOf").or_insert_with(|| json!([])).as_array_mut() {
        rules.push(rule);
    }
}

/// Rules between values that a schema can express.
fn rules(schema: &mut Value) {
    if let Some(version) = schema.pointer_mut("/properties/version").and_then(Value::as_object_mut) {
        version.insert("pattern".to_owned(), json!("^1\\.0$"));
    }
    if let Some(server) = schema.pointer_mut("/$defs/ServerForm").and_then(Value::as_object_mut) {
        not_both(server, "enabledTools", "disabledTools");
        for list in ["enabledTools", "disabledTools"] {
            if let Some(list) = server
                .get_mut("properties")
                .and_then(|keys| keys.get_mut(list))
                .and_then(Value::as_object_mut)
            {
                list.insert("minItems".to_owned(), json!(1));
            }
        }
    }
}

/// Widens strings to the plain numbers and booleans of YAML, which the decoder accepts as texts. Removes number
/// formats and `null` defaults, which are noise for readers.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("type") || object.contains_key("$ref") || object.contains_key("anyOf") {
                object.remove("format");
                if object.get("default").is_some_and(Value::is_null) {
                    object.remove("default");
                }
            }
            let is_text = !object.contains_key("enum") && !object.contains_key("const");
            let widened = match object.get("type") {
                Some(Value::String(kind)) if kind == "string" && is_text => {
                    Some(json!(["string", "number", "boolean"]))
                }
                Some(Value::Array(kinds)) if kinds.contains(&json!("string")) && is_text => {
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
