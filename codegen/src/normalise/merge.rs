//! Merges `allOf`, and keywords next to a reference, into one schema.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keywords::{Schema, is_nullable};
use super::legacy;
use super::place::Place;
use super::pointers::dangling;
use super::reader::Reader;

/// Keywords that decide a type. Other keywords next to a reference do not affect the type.
const STRUCTURAL: &[&str] = &[
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "items",
    "prefixItems",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "extends",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

/// The internal keyword that collects conditional schemas from several parts of one schema.
const CONDITIONAL: &str = " conditional";

const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// The reference that a schema consists of, if no other keyword matters, and whether null is allowed as well.
pub(super) fn plain_reference(schema: &Schema) -> Option<(String, bool)> {
    let nullable = is_nullable(schema);
    let structural: Vec<&str> =
        STRUCTURAL.iter().copied().filter(|keyword| decides(schema, keyword)).collect();
    if let Some(reference) = reference_of(schema) {
        return structural.is_empty().then(|| (reference.to_owned(), nullable));
    }
    if structural != ["allOf"] {
        return None;
    }
    let parts = schema.get("allOf")?.as_array()?;
    let mut parts = parts.iter().filter(|part| !is_annotation(part));
    let (only, more) = (parts.next()?, parts.next());
    let (reference, inner) = plain_reference(only.as_object().filter(|_| more.is_none())?)?;
    Some((reference, nullable || inner))
}

/// Whether the keyword is present and affects the type. `additionalProperties: false` does not.
fn decides(schema: &Schema, keyword: &str) -> bool {
    match schema.get(keyword) {
        None => false,
        Some(Value::Bool(allowed)) => {
            keyword != "required" && (keyword != "additionalProperties" || *allowed)
        }
        Some(_) => true,
    }
}

fn reference_of(schema: &Schema) -> Option<&str> {
    REFERENCES.iter().find_map(|keyword| schema.get(*keyword)?.as_str())
}

/// Whether the schema is composed of others, so that it could contain itself without a plain reference.
pub(super) fn is_composed(schema: &Schema) -> bool {
    ["allOf", "anyOf", "oneOf", "extends"].iter().any(|keyword| schema.contains_key(*keyword))
        || !conditional(schema).is_empty()
        || reference_of(schema).is_some()
}

/// Whether a part of `allOf` does not affect the type.
fn is_annotation(part: &Value) -> bool {
    let Value::Object(part) = part else { return *part == Value::Bool(true) };
    !part.contains_key("type")
        && !STRUCTURAL.iter().chain(REFERENCES).any(|keyword| part.contains_key(*keyword))
}

/// The schemas that apply to a value under a condition.
pub(super) fn conditional(schema: &Schema) -> Vec<Value> {
    let single = ["then", "else"].iter().filter_map(|keyword| schema.get(*keyword));
    let by_property = ["dependentSchemas", "dependencies"].iter().filter_map(|keyword| {
        let entries: BTreeMap<&String, &Value> = schema.get(*keyword)?.as_object()?.iter().collect();
        Some(entries.into_values())
    });
    let gathered = schema.get(CONDITIONAL).and_then(Value::as_array).into_iter().flatten();
    single.chain(by_property.flatten()).chain(gathered).filter(|schema| schema.is_object()).cloned().collect()
}

/// Whether a keyword affects the type.
pub(super) fn matters(keyword: &str) -> bool {
    keyword == "type" || STRUCTURAL.contains(&keyword)
}

impl Reader<'_> {
    /// The schema with references and `allOf` at its top level merged into it. `None` if it allows anything.
    ///
    /// `anyOf` and `oneOf` stay.
    pub(super) fn flatten(&mut self, schema: &Value, place: &Place) -> Option<Schema> {
        let mut merged = Schema::new();
        self.collect(schema, place, 0, &mut merged);
        (!merged.is_empty()).then_some(merged)
    }

    fn collect(&mut self, schema: &Value, place: &Place, depth: usize, merged: &mut Schema) {
        let Value::Object(keywords) = schema else { return };
        if depth > self.shared.deepest || !self.spend(1 + keywords.len()) {
            self.warn(place, "too many keywords to merge; the rest is ignored");
            return;
        }
        let mut own = legacy::types_of_schemas(keywords).unwrap_or_else(|| keywords.clone());
        let conditions = conditional(&own);
        own.retain(|keyword, _| !matches!(keyword.as_str(), "if" | "then" | "else" | CONDITIONAL));
        own.remove("dependentSchemas");
        own.remove("dependencies");
        if !conditions.is_empty() {
            own.insert(CONDITIONAL.to_owned(), Value::Array(conditions));
        }
        let parts = [own.remove("allOf"), own.remove("extends")];
        let references: Vec<Value> = REFERENCES.iter().filter_map(|key| own.remove(*key)).collect();
        merge(merged, own);
        for part in parts.iter().flatten() {
            match part {
                Value::Array(parts) => {
                    parts.iter().for_each(|part| self.collect(part, place, depth + 1, merged));
                }
                part => self.collect(part, place, depth + 1, merged),
            }
        }
        for reference in references.iter().filter_map(Value::as_str) {
            match self.resolve(reference) {
                Some(target) => self.collect(&target, place, depth + 1, merged),
                None => self.warn(place, dangling(reference)),
            }
        }
    }
}

/// Adds the keywords of `from` to `into`, so that both apply.
pub(super) fn merge(into: &mut Schema, from: Schema) {
    for (keyword, value) in from {
        if matches!(keyword.as_str(), "$defs" | "definitions" | "$schema" | "$id" | "id") {
            continue;
        }
        match into.get_mut(&keyword) {
            None => {
                into.insert(keyword, value);
            }
            Some(known) if *known == value => {}
            Some(known) => {
                // Two unions fit under the two keywords `anyOf` and `oneOf`. A third one is dropped.
                if let Some(other) = other_union(&keyword)
                    && !says_less(known)
                    && !says_less(&value)
                {
                    into.entry(other).or_insert(value);
                } else {
                    combine(&keyword, known, value);
                }
            }
        }
    }
}

fn other_union(keyword: &str) -> Option<&'static str> {
    match keyword {
        "anyOf" => Some("oneOf"),
        "oneOf" => Some("anyOf"),
        _ => None,
    }
}

fn combine(keyword: &str, known: &mut Value, value: Value) {
    match (keyword, &mut *known, value) {
        ("properties" | "patternProperties", Value::Object(known), Value::Object(value)) => {
            for (key, schema) in value {
                match known.get_mut(&key) {
                    Some(known) if *known == schema => {}
                    Some(known) => intersect(known, schema),
                    None => {
                        known.insert(key, schema);
                    }
                }
            }
        }
        ("required", Value::Array(known), Value::Array(value)) => {
            for name in value {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        ("enum", Value::Array(known), Value::Array(value)) => {
            let both: Vec<Value> = known.iter().filter(|one| value.contains(one)).cloned().collect();
            if !both.is_empty() {
                *known = both;
            }
        }
        ("type", known, value) => narrow(known, &value),
        ("items" | "additionalProperties", known @ Value::Object(_), value @ Value::Object(_)) => {
            intersect(known, value);
        }
        ("items" | "additionalProperties", known @ Value::Bool(true), value @ Value::Object(_)) => {
            *known = value;
        }
        (CONDITIONAL, Value::Array(known), Value::Array(value)) => known.extend(value),
        ("anyOf" | "oneOf", known @ Value::Array(_), value) if says_less(known) => *known = value,
        _ => {}
    }
}

/// Makes `known` a schema that allows only what both schemas allow.
///
/// An `allOf` becomes longer instead of containing another one: values are copied and dropped by recursion, and a
/// schema can have thousands of parts for the same value.
fn intersect(known: &mut Value, value: Value) {
    let mut parts = into_parts(known.take());
    for part in into_parts(value) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    *known = Value::Object(Schema::from_iter([("allOf".to_owned(), Value::Array(parts))]));
}

/// The parts of an `allOf` without other keywords, otherwise the schema itself.
fn into_parts(mut schema: Value) -> Vec<Value> {
    let only = schema.as_object_mut().filter(|keywords| keywords.len() == 1);
    match only.and_then(|keywords| keywords.get_mut("allOf")) {
        Some(Value::Array(parts)) => std::mem::take(parts),
        _ => vec![schema],
    }
}

/// Keeps only the types in `known` that `value` allows as well.
fn narrow(known: &mut Value, value: &Value) {
    let list = |value: &Value| match value {
        Value::Array(names) => names.clone(),
        other => vec![other.clone()],
    };
    let allowed = list(value);
    let integer = Value::from("integer");
    let number = Value::from("number");
    let mut both = Vec::new();
    for name in list(known) {
        if allowed.contains(&name) || name == integer && allowed.contains(&number) {
            both.push(name);
        } else if name == number && allowed.contains(&integer) {
            both.push(integer.clone());
        }
    }
    match both.len() {
        0 => {}
        1 => *known = both.swap_remove(0),
        _ => *known = Value::Array(both),
    }
}

/// Whether the variants only restrict the other keywords, for example `anyOf: [{required: […]}, …]`.
fn says_less(variants: &Value) -> bool {
    variants.as_array().is_some_and(|variants| {
        variants.iter().all(|variant| {
            variant.as_object().is_some_and(|keywords| {
                keywords.keys().all(|keyword| matches!(keyword.as_str(), "required" | "not" | "description"))
            })
        })
    })
}
