//! Objects: structs, maps, and free-form ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::keywords::{Schema, description, fixed_value};
use super::merge::conditional;
use super::place::Place;
use super::reader::Reader;
use crate::form::{Body, Fact, Field, Form, Kind, Struct};
use crate::names::snake;

/// Maximum number of fields of a struct. Further ones are only reachable as extra fields.
const MAX_FIELDS: usize = 500;
/// Maximum number of conditional schemas whose fields are read.
const MAX_CONDITIONS: usize = 64;

impl Reader<'_> {
    /// An object: with known fields a struct, otherwise a map, otherwise anything.
    pub(super) fn object(&mut self, schema: &Schema, place: &Place) -> Form {
        if self.has_fields(schema, place) {
            return self.merged_struct(std::slice::from_ref(schema), place);
        }
        match extra_schema(schema) {
            Some(value) if value != Value::Bool(true) && value != json!({}) => {
                let place = place.item(".*");
                let form = self.place(&value, &place);
                self.describe(&form, &value);
                Form::Map(Box::new(form))
            }
            Some(_) if schema.contains_key("patternProperties") => Form::Map(Box::new(Form::Any)),
            _ => self.lose("an object without known fields"),
        }
    }

    /// Whether the object has any known field.
    pub(super) fn has_fields(&mut self, schema: &Schema, place: &Place) -> bool {
        let own = schema.get("properties").and_then(Value::as_object);
        let is_own = |key: &str| own.is_some_and(|own| own.contains_key(key));
        let allows = |(_, schema): (&String, &Value)| *schema != Value::Bool(false);
        if !required(schema).is_empty() || own.is_some_and(|own| own.iter().any(allows)) {
            return true;
        }
        // A condition allows nothing that the object itself forbids.
        self.conditions(schema, place).iter().any(|condition| {
            let mut properties = condition.get("properties").and_then(Value::as_object).into_iter().flatten();
            properties.any(|property| !is_own(property.0) && allows(property))
        })
    }

    /// The struct that fits all of the objects: it has the fields of all, and requires those that all
    /// require.
    pub(super) fn merged_struct(&mut self, variants: &[Schema], place: &Place) -> Form {
        self.define_with(place, |reader| Body::Struct(reader.struct_body(variants, place)))
    }

    fn struct_body(&mut self, variants: &[Schema], place: &Place) -> Struct {
        let mut body = Struct::default();
        let schemas = self.property_schemas(variants, place);
        for (index, (key, required)) in order(variants, &schemas).into_iter().enumerate() {
            let schema = schemas.get(key.as_str()).cloned().unwrap_or(Value::Bool(true));
            if index >= MAX_FIELDS {
                if index == MAX_FIELDS {
                    self.warn(place, format!("the object has more than {MAX_FIELDS} fields"));
                    body.extra = Some(Form::Any);
                }
                let form = self.lose(format!("the object has more than {MAX_FIELDS} fields"));
                self.count(&place.field(&key), &form);
                continue;
            }
            match fixed_value(&schema).filter(|_| required) {
                Some(value) => {
                    self.count(&place.field(&key), &Form::Text);
                    body.constants.push((key, value));
                }
                None => body.fields.push(self.field(key, &schema, required, place)),
            }
        }
        if body.extra.is_none()
            && let Some(schema) = variants.iter().find_map(extra_schema)
        {
            body.extra = Some(self.place(&schema, &place.step(".*", "Extra")));
        }
        body.closed = body.extra.is_none() && variants.iter().all(is_closed);
        body
    }

    fn field(&mut self, key: String, schema: &Value, required: bool, place: &Place) -> Field {
        let form = self.place(schema, &place.field(&key));
        let mut field = Field { key, form, required, nullable: false, note: self.note(schema) };
        field.settle();
        let Field { key, form, note, .. } = &mut field;
        // A named type keeps its own description.
        if matches!(form, Form::Named(_)) {
            note.description = description(schema);
        }
        if let Some(kinds) = form.scalar() {
            let value = Kind::any_of(kinds);
            note.facts.insert(0, Fact { keyword: "type", words: "", value, brief: true });
        }
        // Generators repeat each name as its title.
        note.description.take_if(|text| snake(text) == snake(key));
        if matches!(form, Form::Tuple(_)) {
            note.facts.retain(|fact| !matches!(fact.keyword, "minItems" | "maxItems"));
        }
        field
    }

    /// The conditional schemas of an object, flattened.
    fn conditions(&mut self, schema: &Schema, place: &Place) -> Vec<Schema> {
        let mut found = Vec::new();
        let mut seen: Vec<Value> = Vec::new();
        let mut open = conditional(schema);
        while let Some(next) = open.pop().filter(|_| seen.len() < MAX_CONDITIONS) {
            if !seen.contains(&next) {
                let flat = self.flatten(&next, place).unwrap_or_default();
                open.extend(conditional(&flat));
                found.push(flat);
                seen.push(next);
            }
        }
        found
    }

    /// The schema of each property of the objects, in their order, as a union if several objects define it.
    /// Includes properties that exist only under a condition.
    fn property_schemas(&mut self, variants: &[Schema], place: &Place) -> Schema {
        let mut found = Properties::new();
        for variant in variants {
            add_properties(variant, &mut found);
        }
        let mut further = Properties::new();
        for variant in variants {
            for condition in self.conditions(variant, place) {
                add_properties(&condition, &mut further);
            }
        }
        for (key, (_, schemas)) in in_order(further) {
            let next = found.len();
            found.entry(key).or_insert((next, schemas));
        }
        in_order(found)
            .into_iter()
            .filter_map(|(key, (_, mut schemas))| match schemas.len() {
                0 => None,
                1 => Some((key, schemas.swap_remove(0))),
                _ => Some((key, json!({ "anyOf": schemas }))),
            })
            .collect()
    }
}

/// Properties by name: their position, and the different schemas of each.
type Properties = BTreeMap<String, (usize, Vec<Value>)>;

fn in_order(properties: Properties) -> Vec<(String, (usize, Vec<Value>))> {
    let mut listed: Vec<_> = properties.into_iter().collect();
    listed.sort_by_key(|(_, (position, _))| *position);
    listed
}

fn add_properties(schema: &Schema, found: &mut Properties) {
    for (key, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let next = found.len();
        let (_, schemas) = found.entry(key.clone()).or_insert_with(|| (next, Vec::new()));
        // `false` means that the property must be absent.
        if *schema != Value::Bool(false) && !schemas.contains(schema) {
            schemas.push(schema.clone());
        }
    }
}

/// The names in `required`, each once, followed by properties with `"required": true`.
pub(super) fn required(schema: &Schema) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let mut unique = Vec::new();
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let own = properties.into_iter().flatten().filter(|(name, property)| {
        property.get("required") == Some(&Value::Bool(true)) && !unique.contains(&name.as_str())
    });
    let own: BTreeSet<&str> = own.map(|(name, _)| name.as_str()).collect();
    unique.extend(own);
    unique
}

/// The names of the fields, and whether all objects require them: required ones first, each group in the order of
/// the properties. Names that are only in `required` follow.
fn order(variants: &[Schema], schemas: &Schema) -> Vec<(String, bool)> {
    let lists: Vec<Vec<&str>> = variants.iter().map(required).collect();
    let sets: Vec<BTreeSet<&str>> = lists.iter().map(|list| list.iter().copied().collect()).collect();
    let mut seen = BTreeSet::new();
    let names = schemas.keys().map(String::as_str).chain(lists.iter().flatten().copied());
    let names = names
        .filter(|name| seen.insert(*name))
        .map(|name| (name.to_owned(), sets.iter().all(|set| set.contains(name))));
    let (required, others): (Vec<_>, Vec<_>) = names.partition(|(_, required)| *required);
    [required, others].concat()
}

/// Whether the schema forbids additional fields.
fn is_closed(schema: &Schema) -> bool {
    let additional = schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"));
    additional == Some(&Value::Bool(false))
}

/// Patterns that match every name.
const ALL_NAMES: [&str; 7] = ["", "^", ".*", "^.*", "^.*$", "^(.*)$", "^[\\s\\S]*$"];

/// The schema of additional fields, if the schema explicitly allows them. If it has patterns for names,
/// fields with other names are anything unless the schema describes them.
fn extra_schema(schema: &Schema) -> Option<Value> {
    let mut schemas: Vec<Value> = Vec::new();
    let mut are_all = true;
    if let Some(patterns) = schema.get("patternProperties").and_then(Value::as_object) {
        let mut patterns: Vec<_> = patterns.iter().collect();
        patterns.sort_unstable_by_key(|(pattern, _)| *pattern);
        are_all =
            patterns.is_empty() || patterns.iter().any(|(pattern, _)| ALL_NAMES.contains(&pattern.as_str()));
        for (_, schema) in patterns {
            if *schema != Value::Bool(false) && !schemas.contains(schema) {
                schemas.push(schema.clone());
            }
        }
    }
    match schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties")) {
        Some(Value::Bool(false)) => {}
        None if are_all => {}
        None => return Some(Value::Bool(true)),
        Some(additional) if schemas.contains(additional) => {}
        Some(additional) => schemas.push(additional.clone()),
    }
    match schemas.len() {
        0 => None,
        1 => schemas.pop(),
        _ => Some(json!({ "anyOf": schemas })),
    }
}
