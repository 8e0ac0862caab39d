//! Objects: structs, maps, and free-form ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Place, Reader, Schema, allowed_values, note};
use crate::form::{Body, Field, Form, Struct};

/// Further fields of a struct are only reachable as extra ones.
const MOST_FIELDS: usize = 500;

impl Reader<'_> {
    /// An object: with known fields a struct, otherwise a map, otherwise anything.
    pub(super) fn object(&mut self, schema: &Schema, place: &Place) -> Form {
        if has_fields(schema) {
            return self.merged_struct(std::slice::from_ref(schema), place);
        }
        match extra_schema(schema) {
            Some(value) if value != Value::Bool(true) && value != json!({}) => {
                Form::Map(Box::new(self.form(&value, &place.item(".*"))))
            }
            _ => Form::Any,
        }
    }

    /// The struct that all of the objects fit: with the fields of all, those required that all require.
    pub(super) fn merged_struct(&mut self, variants: &[Schema], place: &Place) -> Form {
        self.define_with(place, |reader| Body::Struct(reader.struct_body(variants, place)))
    }

    fn struct_body(&mut self, variants: &[Schema], place: &Place) -> Struct {
        let mut body = Struct::default();
        let schemas = property_schemas(variants);
        for (key, required) in order(variants, &schemas) {
            if body.fields.len() + body.constants.len() >= MOST_FIELDS {
                self.warn(place, format!("the object has more than {MOST_FIELDS} fields"));
                body.extra = Some(Form::Any);
                break;
            }
            let any = Value::Bool(true);
            let schema = schemas.get(key).unwrap_or(&any);
            match fixed_value(schema).filter(|_| required) {
                Some(value) => body.constants.push((key.to_owned(), value)),
                None => body.fields.push(self.field(key, schema, required, place)),
            }
        }
        if let Some(schema) = variants.iter().find_map(extra_schema) {
            body.extra = Some(self.form(&schema, &place.step(".*", "Extra")));
        }
        body
    }

    fn field(&mut self, key: &str, schema: &Value, required: bool, place: &Place) -> Field {
        let form = self.form(schema, &place.field(key));
        let form = match form {
            Form::Nullable(inner) if !required => *inner,
            other => other,
        };
        Field { key: key.to_owned(), form, required, note: note(schema) }
    }
}

/// Whether the schema names any field.
fn has_fields(schema: &Schema) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|properties| !properties.is_empty()) || !required(schema).is_empty()
}

/// The names in `required`, each once.
pub(super) fn required(schema: &Schema) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let mut unique = Vec::new();
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

/// The schema of each property of the objects; where several have one, any of theirs.
fn property_schemas(variants: &[Schema]) -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for variant in variants {
        for (key, schema) in variant.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // Draft 3 and careless writers mark a property that must be absent this way.
            if *schema == Value::Bool(false) {
                continue;
            }
            let schemas = found.entry(key.clone()).or_default();
            if !schemas.contains(schema) {
                schemas.push(schema.clone());
            }
        }
    }
    let join = |(key, mut schemas): (String, Vec<Value>)| match schemas.len() {
        1 => (key, schemas.swap_remove(0)),
        _ => (key, json!({ "anyOf": schemas })),
    };
    found.into_iter().map(join).collect()
}

/// The names of the fields: required ones in the schema's order, then the others by name.
fn order<'a>(variants: &'a [Schema], schemas: &'a BTreeMap<String, Value>) -> Vec<(&'a str, bool)> {
    let by_all = |name: &&str| variants.iter().all(|variant| required(variant).contains(name));
    let mut names: Vec<(&str, bool)> = Vec::new();
    if let Some(first) = variants.first() {
        names.extend(required(first).into_iter().filter(by_all).map(|name| (name, true)));
    }
    let mut others: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    others.extend(variants.iter().flat_map(required));
    for (name, _) in &names {
        others.remove(name);
    }
    names.extend(others.into_iter().map(|name| (name, false)));
    names
}

/// The only value that a schema allows, where it is plainly written.
pub(super) fn fixed_value(schema: &Value) -> Option<Value> {
    let mut values = allowed_values(schema.as_object()?)?;
    let only = values.pop().filter(|_| values.is_empty())?;
    (only.is_string() || only.is_boolean() || only.is_number()).then_some(only)
}

/// The schema of further fields, where the schema asks for them in so many words.
fn extra_schema(schema: &Schema) -> Option<Value> {
    let mut schemas: Vec<Value> = Vec::new();
    if let Some(patterns) = schema.get("patternProperties").and_then(Value::as_object) {
        let mut patterns: Vec<_> = patterns.iter().collect();
        patterns.sort_unstable_by_key(|(pattern, _)| *pattern);
        schemas.extend(patterns.into_iter().map(|(_, schema)| schema.clone()));
    }
    match schema.get("additionalProperties") {
        None | Some(Value::Bool(false)) => {}
        Some(additional) => schemas.push(additional.clone()),
    }
    match schemas.len() {
        0 => None,
        1 => schemas.pop(),
        _ => Some(json!({ "anyOf": schemas })),
    }
}
