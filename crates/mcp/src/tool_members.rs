//! The arguments that a tool takes, as its input schema describes them: members of `properties`, also below references,
//! alternatives and conditions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::InputCheck;

/// Maximum number of schemas that are read: far more than any tool has, and read in a moment.
const MAX_SCHEMAS: usize = 10_000;

/// Maximum depth of references and alternatives.
const MAX_DEPTH: usize = 32;

/// Keywords whose schemas the same object may have to match.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];
const CONDITIONS: [&str; 3] = ["if", "then", "else"];

/// The members of an object that a schema describes.
#[derive(Debug, Default)]
pub struct Members<'a> {
    /// Their schemas by name, in the schema's order.
    pub named: Vec<(&'a str, &'a Value)>,
    /// The members that every object has.
    pub required: BTreeSet<&'a str>,
    places: BTreeMap<&'a str, usize>,
    patterns: Vec<&'a str>,
    /// Whether it allows other members.
    is_open: bool,
}

/// Reads a schema.
struct Reader<'a> {
    root: &'a Value,
    members: Members<'a>,
    /// The schemas that were read, by address, and whether every object has to match them.
    seen: BTreeSet<(usize, bool)>,
}

impl<'a> Members<'a> {
    /// The members that a schema describes.
    #[must_use]
    pub fn of(root: &'a Value) -> Self {
        let mut reader = Reader { root, members: Members::default(), seen: BTreeSet::new() };
        reader.read(root, true, 0);
        let mut members = reader.members;
        if root["additionalProperties"] == false || root["unevaluatedProperties"] == false {
            members.is_open = false;
        }
        members
    }

    /// The names, in the schema's order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.named.iter().map(|(name, _)| *name)
    }

    /// Whether an object may have a member of this name. A schema that describes no names leaves them open.
    pub fn allows(&self, name: &str) -> bool {
        let is_described = self.named.is_empty() && self.patterns.is_empty();
        self.is_open || is_described || self.places.contains_key(name) || self.fits_pattern(name)
    }

    fn fits_pattern(&self, name: &str) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let patterns: Map<String, Value> =
            self.patterns.iter().map(|pattern| ((*pattern).to_owned(), json!(true))).collect();
        let schema =
            json!({ "type": "object", "patternProperties": patterns, "additionalProperties": false });
        let object = Map::from_iter([(name.to_owned(), Value::Null)]);
        let (Ok(check), Ok(object)) = (InputCheck::new(&schema), to_raw_value(&object)) else { return true };
        check.check(&object).is_ok()
    }

    fn add(&mut self, name: &'a str, schema: &'a Value) {
        match self.places.get(name).and_then(|place| self.named.get_mut(*place)) {
            // Elsewhere it may say more than that there is such a member.
            Some((_, known)) if kind_of(known).is_none() => *known = schema,
            Some(_) => {}
            None => {
                self.places.insert(name, self.named.len());
                self.named.push((name, schema));
            }
        }
    }
}

/// The schema of a member about which nothing is known.
const ANY: &Value = &Value::Bool(true);

impl<'a> Reader<'a> {
    /// Reads a schema of the object; `is_certain` if every object has to match it.
    fn read(&mut self, schema: &'a Value, is_certain: bool, depth: usize) {
        if !self.seen.insert((std::ptr::from_ref(schema).addr(), is_certain)) {
            return;
        }
        let Value::Object(schema) = schema else { return };
        if depth > MAX_DEPTH || self.seen.len() > MAX_SCHEMAS {
            self.members.is_open = true;
            return;
        }
        for (name, member) in members_of(schema, "properties") {
            self.members.add(name, resolved(self.root, member));
        }
        self.members
            .patterns
            .extend(members_of(schema, "patternProperties").map(|(pattern, _)| pattern.as_str()));
        self.read_names(schema, is_certain);
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            self.members.is_open |= schema.get(keyword).is_some_and(|others| *others != Value::Bool(false));
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            match target(self.root, reference) {
                Some(target) => self.read(target, is_certain, depth + 1),
                None => self.members.is_open = true,
            }
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.read(part, is_certain, depth + 1);
        }
        for keyword in ALTERNATIVES {
            for part in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.read(part, false, depth + 1);
            }
        }
        for keyword in CONDITIONS {
            if let Some(part) = schema.get(keyword) {
                self.read(part, false, depth + 1);
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (_, part) in members_of(schema, keyword) {
                self.read(part, false, depth + 1);
            }
        }
    }

    /// Reads the names that a schema requires, which may be described nowhere else.
    fn read_names(&mut self, schema: &'a Map<String, Value>, is_certain: bool) {
        let texts = |value: Option<&'a Value>| {
            value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        };
        for name in texts(schema.get("required")) {
            self.members.add(name, ANY);
            if is_certain {
                self.members.required.insert(name);
            }
        }
        for keyword in ["dependentRequired", "dependencies"] {
            for (_, names) in members_of(schema, keyword) {
                texts(Some(names)).for_each(|name| self.members.add(name, ANY));
            }
        }
    }
}

fn members_of<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(keyword).and_then(Value::as_object).into_iter().flatten()
}

/// The schema in the same document that a reference names.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    let encoded = fragment.replace('+', "%2B").replace('&', "%26");
    let decoded = url::form_urlencoded::parse(format!("p={encoded}").as_bytes()).next()?.1.into_owned();
    root.pointer(&decoded)
}

/// A schema, or the one that it refers to.
fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_DEPTH {
        let reference = schema.get("$ref").and_then(Value::as_str);
        match reference.and_then(|reference| target(root, reference)) {
            Some(referred) => schema = referred,
            None => break,
        }
    }
    schema
}

/// The one type that a member's schema has besides `null`, if it has one.
#[must_use]
pub fn kind_of(schema: &Value) -> Option<&str> {
    if let Some(kind) = schema["type"].as_str() {
        return Some(kind);
    }
    if let Some(kinds) = schema["type"].as_array() {
        return only(kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null"));
    }
    let values = schema["enum"]
        .as_array()
        .map(Vec::as_slice)
        .or_else(|| schema.get("const").map(std::slice::from_ref));
    if let Some(values) = values {
        return values.iter().all(Value::is_string).then_some("string");
    }
    let alternatives = ALTERNATIVES.iter().find_map(|keyword| schema[*keyword].as_array())?;
    only(alternatives.iter().map(|part| kind_of(part).unwrap_or_default()).filter(|kind| *kind != "null"))
        .filter(|kind| !kind.is_empty())
}

fn only<'a>(mut kinds: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(schema: &Value) -> (Vec<&str>, Vec<&str>) {
        let members = Members::of(schema);
        (members.names().collect(), members.required.iter().copied().collect())
    }

    #[test]
    fn members_are_found_below_every_keyword() {
        let thing = json!({ "properties": { "id": { "type": "string" }, "n": {} }, "required": ["id"] });
        let root = |keyword: &str, value: Value| {
            let mut root =
                json!({ "type": "object", "properties": { "a": {} }, "$defs": { "T/a b": thing } });
            root[keyword] = value;
            root
        };
        let reference = json!({ "$ref": "#/$defs/T~1a%20b" });
        for (schema, is_certain) in [
            (root("$ref", json!("#/$defs/T~1a%20b")), true),
            (root("allOf", json!([reference])), true),
            (root("allOf", json!([{ "allOf": [thing] }])), true),
            (root("anyOf", json!([thing, {}])), false),
            (root("oneOf", json!([{ "allOf": [reference] }])), false),
            (root("then", thing.clone()), false),
            (root("else", thing.clone()), false),
            (root("if", thing.clone()), false),
            (root("dependentSchemas", json!({ "a": thing })), false),
            (root("dependencies", json!({ "a": thing })), false),
        ] {
            let required = if is_certain { vec!["id"] } else { Vec::new() };
            assert_eq!(described(&schema), (vec!["a", "id", "n"], required), "{schema}");
            let members = Members::of(&schema);
            assert!(members.allows("n") && !members.allows("m"), "{schema}");
        }
        let names =
            json!({ "properties": { "a": {} }, "dependentRequired": { "a": ["b"] }, "required": ["c"] });
        assert_eq!(described(&names), (vec!["a", "c", "b"], vec!["c"]));
    }

    #[test]
    fn other_names_are_allowed_where_the_schema_is_open() {
        let allows = |schema: Value| Members::of(&schema).allows("x-b");
        for open in [
            json!({}),
            json!(true),
            json!({ "properties": {} }),
            json!({ "properties": { "a": {} }, "additionalProperties": true }),
            json!({ "properties": { "a": {} }, "additionalProperties": { "type": "string" } }),
            json!({ "properties": { "a": {} }, "anyOf": [{ "additionalProperties": true }] }),
            json!({ "properties": { "a": {} }, "patternProperties": { "^x-": {} } }),
            json!({ "properties": { "a": {} }, "patternProperties": { "(((": {} } }),
            json!({ "properties": { "a": {} }, "allOf": [{ "patternProperties": { "^x-": {} } }] }),
            json!({ "properties": { "a": {} }, "$ref": "other.json" }),
        ] {
            assert!(allows(open.clone()), "{open}");
        }
        for closed in [
            json!({ "properties": { "a": {} } }),
            json!({ "properties": { "a": {} }, "additionalProperties": false, "anyOf": [{ "additionalProperties": true }] }),
            json!({ "properties": { "a": {} }, "patternProperties": { "^y-": {} } }),
            json!({ "patternProperties": { "^y-": {} } }),
            json!({ "properties": { "a": {} }, "oneOf": [{ "required": ["b"] }] }),
        ] {
            assert!(!allows(closed.clone()), "{closed}");
        }
    }

    #[test]
    fn recursive_and_large_schemas_end() {
        for circle in [
            json!({ "properties": { "a": {} }, "$ref": "#" }),
            json!({ "allOf": [{ "$ref": "#" }, { "anyOf": [{ "$ref": "#" }] }], "properties": { "a": {} } }),
        ] {
            let members = Members::of(&circle);
            assert!(members.names().eq(["a"]) && !members.allows("b"), "{circle}");
        }
    }

    #[test]
    fn a_member_has_a_type_if_only_one_is_possible() {
        for (schema, expected) in [
            (json!({ "type": "integer" }), Some("integer")),
            (json!({ "type": ["null", "string"] }), Some("string")),
            (json!({ "type": ["integer", "string"] }), None),
            (json!({ "enum": ["a", "b"] }), Some("string")),
            (json!({ "enum": ["a", 1] }), None),
            (json!({ "const": "a" }), Some("string")),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), Some("string")),
            (json!({ "oneOf": [{ "const": "a" }, { "const": "b" }] }), Some("string")),
            (json!({ "anyOf": [{ "type": "string" }, {}] }), None),
            (json!({}), None),
            (json!(true), None),
        ] {
            assert_eq!(kind_of(&schema), expected, "{schema}");
        }
    }
}
