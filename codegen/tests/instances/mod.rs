//! Generates values that a schema allows, from the schema itself and not from the types under test.

#![allow(clippy::unwrap_used, reason = "part of tests: an unexpected fixture is a failure")]

use serde_json::{Map, Value, json};

/// A value that the schema allows, of a size that shrinks with depth. The same seed returns the same value.
///
/// Optional fields are included at random, numbers are those that both sides format alike, and additional
/// fields only appear if the schema describes them.
pub(crate) fn instance(schema: &Value, seed: u64) -> Value {
    let mut maker = Maker { root: schema, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d };
    maker.value(schema, 0)
}

struct Maker<'a> {
    root: &'a Value,
    state: u64,
}

impl Maker<'_> {
    /// A number below `limit` (a 64-bit xorshift).
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap() % limit
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let is_composed = ["allOf", "extends"].iter().any(|keyword| schema.get(*keyword).is_some());
        let reference = reference(schema).filter(|_| schema.get("properties").is_none() && !is_composed);
        if let Some(reference) = reference {
            let target = self.resolve(reference);
            return self.value(&target, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        for union in ["anyOf", "oneOf"] {
            let variants = schema.get(union).and_then(Value::as_array);
            if let Some(variants) = variants.filter(|variants| variants.len() > 1 && !restricts(variants)) {
                let index = if depth > 6 { 0 } else { self.below(variants.len()) };
                return self.value(&variants[index].clone(), depth + 1);
            }
        }
        let fits = |value: &&Value| match (&schema["type"], value) {
            (Value::String(name), value) => value.is_string() == (name == "string"),
            (Value::Array(names), value) => {
                value.is_string() == names.contains(&json!("string")) || value.is_null()
            }
            _ => true,
        };
        let values: Vec<&Value> =
            schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter(fits).collect();
        if !values.is_empty() {
            return values[self.below(values.len())].clone();
        }
        if let Some([only]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
            && schema.get("properties").is_none()
        {
            return self.value(only, depth);
        }
        if let Some(unions) = schema.get("allOf").filter(|parts| holds_unions(parts)) {
            let mut value = json!({});
            for part in unions.as_array().into_iter().flatten() {
                let part = self.value(part, depth + 1);
                value.as_object_mut().unwrap().extend(part.as_object().cloned().unwrap_or_default());
            }
            return value;
        }
        if is_composed || schema.get("$ref").is_some() {
            let mut merged = json!({ "type": "object", "properties": {}, "required": [] });
            self.gather(schema, &mut merged);
            return self.object(&merged, depth);
        }
        let name = match &schema["type"] {
            Value::String(name) => name.clone(),
            Value::Array(names) if !names.is_empty() => {
                let chosen = names[self.below(names.len())].clone();
                // Draft 3 allows schemas among the types.
                match chosen {
                    Value::String(name) => name,
                    schema => return self.value(&schema, depth + 1),
                }
            }
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ if schema.get("items").is_some() => "array".to_owned(),
            _ => "anything".to_owned(),
        };
        self.typed(&name, schema, depth)
    }

    fn typed(&mut self, name: &str, schema: &Value, depth: usize) -> Value {
        match name {
            "string" => json!(format!("text {}", self.below(1000))),
            "integer" => json!(self.below(1000)),
            "number" => json!([0.5, 1.25, -3.0, 7.0][self.below(4)]).pipe(integral),
            "boolean" => json!(self.below(2) == 0),
            "null" => Value::Null,
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => json!("anything"),
        }
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let prefix = schema.get("prefixItems").or_else(|| schema.get("items")).and_then(Value::as_array);
        if let Some(prefix) = prefix.cloned() {
            return prefix.iter().map(|schema| self.value(schema, depth + 1)).collect();
        }
        let item = schema.get("items").cloned().unwrap_or(Value::Bool(true));
        let count = if depth > 4 || item == Value::Bool(false) { 0 } else { self.below(4) };
        (0..count).map(|_| self.value(&item, depth + 1)).collect()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let mut required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let own = properties.iter().filter(|(_, property)| property.get("required") == Some(&json!(true)));
        required.extend(own.map(|(key, _)| key.as_str()));
        let mut object = Map::new();
        for (key, property) in properties {
            let is_required = required.contains(&key.as_str());
            if is_required || depth < 5 && *property != Value::Bool(false) && self.below(2) == 0 {
                let value = self.value(property, depth + 1);
                // For an optional field, null equals absence.
                if is_required || !value.is_null() {
                    object.insert(key.clone(), value);
                }
            }
        }
        for key in required {
            object.entry(key).or_insert_with(|| json!("required"));
        }
        let more = schema["patternProperties"].as_object().and_then(|patterns| patterns.values().next());
        let more = more.or_else(|| schema.get("additionalProperties"));
        let more = more.or_else(|| schema.get("unevaluatedProperties"));
        let more = more.filter(|more| **more != Value::Bool(false));
        if let Some(more) = more.cloned() {
            object.insert(format!("x-{}", self.below(100)), self.value(&more, depth + 1));
        }
        Value::Object(object)
    }

    /// Adds the fields of a schema, of its parts and of the schemas that it refers to.
    fn gather(&self, schema: &Value, merged: &mut Value) {
        if let Some(reference) = reference(schema) {
            self.gather(&self.resolve(reference), merged);
        }
        for part in ["allOf", "extends"].iter().filter_map(|keyword| schema.get(*keyword)) {
            match part {
                Value::Array(parts) => parts.iter().for_each(|part| self.gather(part, merged)),
                part => self.gather(part, merged),
            }
        }
        let Some(schema) = schema.as_object() else { return };
        for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            merged["properties"][key] = property.clone();
        }
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        merged["required"].as_array_mut().unwrap().extend(required);
    }

    fn resolve(&self, reference: &str) -> Value {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = fragment.replace("%20", " ").replace("%24", "$");
        let is =
            |schema: &Value, key: &str, value: &str| schema.get(key).and_then(Value::as_str) == Some(value);
        let found = match fragment.as_str() {
            "" if document.is_empty() => Some(self.root),
            "" => find(self.root, &|schema| is(schema, "$id", document)),
            pointer if pointer.starts_with('/') => self.root.pointer(pointer),
            name => find(self.root, &|schema| {
                is(schema, "$anchor", name)
                    || is(schema, "$dynamicAnchor", name)
                    || is(schema, "id", &format!("#{name}"))
            }),
        };
        found.cloned().unwrap_or(Value::Bool(true))
    }
}

fn reference(schema: &Value) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|keyword| schema.get(*keyword)?.as_str())
}

/// The first value in a document that matches.
fn find<'a>(value: &'a Value, matches: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    match value {
        _ if matches(value) => Some(value),
        Value::Array(items) => items.iter().find_map(|item| find(item, matches)),
        Value::Object(fields) => fields.values().find_map(|field| find(field, matches)),
        _ => None,
    }
}

/// Whether all parts are unions that each add fields.
fn holds_unions(parts: &Value) -> bool {
    parts.as_array().is_some_and(|parts| parts.iter().all(|part| part.get("oneOf").is_some()))
}

/// Whether the variants only name required fields or narrow a text.
fn restricts(variants: &[Value]) -> bool {
    variants.iter().all(|variant| {
        variant.get("properties").is_none()
            && variant.get("type").is_none()
            && variant.get("$ref").is_none()
            && variant.get("enum").is_none()
            && variant.get("const").is_none()
    })
}

/// An integral number formatted as the generated types do: without a fraction.
fn integral(number: Value) -> Value {
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "one of four small numbers")]
        Some(value) if value.fract() == 0.0 => json!(value as i64),
        _ => number,
    }
}

trait Pipe: Sized {
    fn pipe<T>(self, next: impl FnOnce(Self) -> T) -> T {
        next(self)
    }
}

impl Pipe for Value {}
