//! Corrects a declared output schema by results that do not fit it.

use serde_json::{Map, Value, json};

use super::DEEPEST;

/// Maximum number of references to follow from one place.
const MAX_HOPS: usize = 8;

/// Keywords with definitions, which references name from the root.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The declared schema, with what observed results need besides: further properties, other types, and properties that
/// are not required because a result lacked them. `observed` must come from [`super::infer`] or [`super::merge`].
///
/// Keeps what fits as it is declared, with its descriptions and names.
#[must_use]
pub fn corrected(declared: &Value, observed: &Value) -> Value {
    let mut corrected = Corrector { root: declared }.place(declared, observed, 0);
    // A wrapped root needs its definitions outside.
    if let (Some(declared), Some(corrected)) = (declared.as_object(), corrected.as_object_mut()) {
        for keyword in DEFINITIONS {
            if let Some(definitions) = declared.get(keyword) {
                corrected.entry(keyword).or_insert_with(|| definitions.clone());
            }
        }
    }
    corrected
}

struct Corrector<'a> {
    root: &'a Value,
}

impl Corrector<'_> {
    fn place(&self, declared: &Value, observed: &Value, depth: usize) -> Value {
        let Some(base) = self.resolved(declared).as_object() else { return declared.clone() };
        if depth > DEEPEST {
            return declared.clone();
        }
        let mut corrected = base.clone();
        let mut misfits = Vec::new();
        for variant in variants(observed) {
            let kind = variant["type"].as_str().unwrap_or_default();
            if !self.allows(&Value::Object(base.clone()), kind, 0) {
                misfits.push(variant);
            } else if kind == "object" {
                self.object(&mut corrected, &variant, depth);
            } else if let (Some(items), Some(seen)) = (base.get("items"), variant.get("items")) {
                corrected.insert("items".to_owned(), self.place(items, seen, depth + 1));
            }
        }
        if misfits.is_empty() {
            // A reference keeps the name of its target.
            return if corrected == *base { declared.clone() } else { Value::Object(corrected) };
        }
        let mut place = Map::new();
        if let Some(description) = corrected.get("description") {
            place.insert("description".to_owned(), description.clone());
        }
        let base = std::iter::once(Value::Object(corrected));
        place.insert("anyOf".to_owned(), base.chain(misfits).collect());
        Value::Object(place)
    }

    fn object(&self, corrected: &mut Map<String, Value>, seen: &Value, depth: usize) {
        let Some(fields) = seen["properties"].as_object() else { return };
        if corrected.keys().any(|keyword| matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf")) {
            return;
        }
        let always: Vec<&Value> = seen["required"].as_array().into_iter().flatten().collect();
        if let Some(Value::Array(required)) = corrected.get_mut("required") {
            required.retain(|name| always.contains(&name));
        }
        let properties = corrected.entry("properties").or_insert_with(|| json!({}));
        for (name, seen) in fields {
            let known = properties.get(name).map(|known| self.place(known, seen, depth + 1));
            if let Some(properties) = properties.as_object_mut() {
                properties.insert(name.clone(), known.unwrap_or_else(|| seen.clone()));
            }
        }
    }

    /// The target of a local reference, or the schema itself.
    fn resolved<'b>(&'b self, mut schema: &'b Value) -> &'b Value {
        for _ in 0..MAX_HOPS {
            let pointer =
                schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
            match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Whether a schema allows values of a type. Where it is not clear, it does.
    fn allows(&self, schema: &Value, kind: &str, depth: usize) -> bool {
        let Some(schema) = self.resolved(schema).as_object().filter(|_| depth <= DEEPEST) else {
            return true;
        };
        let fits = |name: &Value| name == kind || name == "number" && kind == "integer";
        let by_type = match schema.get("type") {
            Some(Value::Array(names)) => names.iter().any(fits),
            Some(name) => fits(name),
            None if schema.contains_key("properties") => kind == "object",
            None => true,
        };
        let union = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let by_union =
            union.is_none_or(|union| union.iter().any(|variant| self.allows(variant, kind, depth + 1)));
        let nullable = kind == "null" && schema.get("nullable") == Some(&Value::Bool(true));
        nullable || by_type && by_union
    }
}

/// The schemas of an observed place, each with one type.
fn variants(observed: &Value) -> Vec<Value> {
    let all = match observed.get("anyOf").and_then(Value::as_array) {
        Some(variants) => variants.as_slice(),
        None => std::slice::from_ref(observed),
    };
    let single = |variant: &Value| match &variant["type"] {
        Value::Array(names) => names
            .iter()
            .map(|name| {
                let mut one = variant.clone();
                one["type"] = name.clone();
                if name == "null" { json!({ "type": "null" }) } else { one }
            })
            .collect(),
        Value::String(_) => vec![variant.clone()],
        _ => Vec::new(),
    };
    all.iter().flat_map(single).collect()
}

#[cfg(test)]
mod tests {
    use super::super::infer;
    use super::*;

    fn object(properties: &Value, required: &[&str]) -> Value {
        json!({ "type": "object", "properties": properties, "required": required })
    }

    #[test]
    fn what_fits_stays_as_it_is_declared() {
        let item = json!({ "$ref": "#/$defs/Item" });
        let declared = json!({
            "type": "object", "required": ["items"], "properties": { "items": { "type": "array", "items": item } },
            "$defs": { "Item": object(&json!({ "id": { "type": "number", "description": "Its number." } }), &["id"]) }
        });
        assert_eq!(corrected(&declared, &infer(&json!({ "items": [{ "id": 1 }] }))), declared);
    }

    #[test]
    fn a_place_gets_the_types_of_results() {
        let id = json!({ "type": "integer", "description": "Its number." });
        let declared = object(&json!({ "message_id": id }), &["message_id"]);
        let found = corrected(&declared, &infer(&json!({ "message_id": { "new_id": 7 } })));
        let other = object(&json!({ "new_id": { "type": "integer" } }), &["new_id"]);
        let both = json!({ "description": "Its number.", "anyOf": [id, other] });
        assert_eq!(found, object(&json!({ "message_id": both }), &["message_id"]));
        let found = corrected(&declared, &infer(&json!(null)));
        assert_eq!(found, json!({ "anyOf": [declared, { "type": "null" }] }));
    }

    #[test]
    fn further_and_missing_properties_are_learned() {
        let declared = object(&json!({ "file_content": { "type": "string" } }), &["file_content"]);
        let found = corrected(&declared, &infer(&json!({ "error": "No such file" })));
        let text = json!({ "type": "string" });
        assert_eq!(found, object(&json!({ "file_content": text, "error": text }), &[]));
    }
}
