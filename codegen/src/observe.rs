//! Infers a JSON Schema from the results of a tool, for tools that declare none or another one.
//!
//! Only the shape is kept: types and the names of properties, no values. Properties that all samples have are
//! required. An object whose names are data (identifiers, dates, addresses, or very many of them) is a map.
//!
//! Except for `null`, the types of a place are distinguished by JSON type. So a schema here is `true`
//! (nothing is known), a schema with `type` (a name, or a name and `null`), or `anyOf` of such schemas,
//! sorted by type.

mod corrected;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

pub use corrected::corrected;

/// Maximum nesting. Deeper places may be anything.
const DEEPEST: usize = 16;
/// Maximum number of properties. A larger object is a map.
const MAX_PROPERTIES: usize = 64;

/// The observed JSON types of a place.
#[derive(Debug, Clone, PartialEq, Default)]
struct Shape {
    /// Whether it may be anything. Then the other fields are ignored.
    any: bool,
    null: bool,
    boolean: bool,
    /// Numbers, and whether all of them were integers.
    number: Option<bool>,
    text: bool,
    /// Arrays, with the shape of their items.
    array: Option<Box<Shape>>,
    object: Option<Object>,
}

/// The observed shape of an object.
#[derive(Debug, Clone, PartialEq)]
enum Object {
    /// Properties by name, and whether all samples had them.
    Struct(BTreeMap<String, (bool, Shape)>),
    /// Any names, with the shape of the values.
    Map(Box<Shape>),
}

/// The schema of one result.
#[must_use]
pub fn infer(value: &Value) -> Value {
    Shape::of(value, 0).schema()
}

/// The schema that allows what either schema allows. Both must come from this module.
///
/// The order of samples does not matter. A repeated sample changes nothing.
#[must_use]
pub fn merge(known: &Value, sample: &Value) -> Value {
    Shape::read(known, 0).merge(Shape::read(sample, 0)).schema()
}

impl Shape {
    fn anything() -> Self {
        Shape { any: true, ..Shape::default() }
    }

    fn of(value: &Value, depth: usize) -> Self {
        if depth > DEEPEST {
            return Shape::anything();
        }
        let mut shape = Shape::default();
        match value {
            Value::Null => shape.null = true,
            Value::Bool(_) => shape.boolean = true,
            Value::Number(number) => shape.number = Some(number.is_i64() || number.is_u64()),
            Value::String(_) => shape.text = true,
            Value::Array(items) => {
                let items = items.iter().map(|item| Shape::of(item, depth + 1));
                shape.array = Some(Box::new(items.fold(Shape::default(), Shape::merge)));
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, value)| (key.clone(), (true, Shape::of(value, depth + 1))));
                shape.object = Some(Object::Struct(fields.collect()).settled());
            }
        }
        shape
    }

    fn merge(self, other: Self) -> Self {
        if self.any || other.any {
            return Shape::anything();
        }
        Shape {
            any: false,
            null: self.null || other.null,
            boolean: self.boolean || other.boolean,
            number: both(self.number, other.number, |one, other| one && other),
            text: self.text || other.text,
            array: both(self.array, other.array, |one, other| Box::new(one.merge(*other))),
            object: both(self.object, other.object, Object::merge),
        }
    }

    fn schema(&self) -> Value {
        let mut schemas = Vec::new();
        if let Some(items) = &self.array {
            schemas.push(match items.schema() {
                Value::Bool(true) => json!({ "type": "array" }),
                items => json!({ "type": "array", "items": items }),
            });
        }
        if self.boolean {
            schemas.push(json!({ "type": "boolean" }));
        }
        if let Some(integer) = self.number {
            schemas.push(json!({ "type": if integer { "integer" } else { "number" } }));
        }
        schemas.extend(self.object.as_ref().map(Object::schema));
        if self.text {
            schemas.push(json!({ "type": "string" }));
        }
        match (schemas.len(), self.null) {
            _ if self.any => Value::Bool(true),
            (0, true) => json!({ "type": "null" }),
            (0, false) => Value::Bool(true),
            (1, null) => {
                let mut only = schemas.swap_remove(0);
                if null {
                    only["type"] = json!([only["type"].take(), "null"]);
                }
                only
            }
            (_, null) => {
                schemas.extend(null.then(|| json!({ "type": "null" })));
                json!({ "anyOf": schemas })
            }
        }
    }

    /// Reads a schema that this module wrote back into its shape.
    ///
    /// `true` is read as "nothing known", so that an array that was empty once learns from the next sample. A
    /// place that really may be anything is deeper than samples are read, and stays so.
    fn read(schema: &Value, depth: usize) -> Self {
        if depth > DEEPEST {
            return Shape::anything();
        }
        if let Some(variants) = schema.get("anyOf").and_then(Value::as_array) {
            return variants
                .iter()
                .fold(Shape::default(), |shape, variant| shape.merge(Shape::read_one(variant, depth)));
        }
        Shape::read_one(schema, depth)
    }

    fn read_one(schema: &Value, depth: usize) -> Self {
        let mut shape = Shape::default();
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for name in types {
            match name {
                "null" => shape.null = true,
                "boolean" => shape.boolean = true,
                "integer" => shape.number = Some(true),
                "number" => shape.number = Some(false),
                "string" => shape.text = true,
                "array" => {
                    let items = schema.get("items").unwrap_or(&Value::Bool(true));
                    shape.array = Some(Box::new(Shape::read(items, depth + 1)));
                }
                "object" => shape.object = Some(Object::read(schema, depth)),
                _ => return Shape::anything(),
            }
        }
        shape
    }
}

impl Object {
    fn merge(self, other: Self) -> Self {
        let merged = match (self, other) {
            (Object::Struct(one), Object::Struct(other)) => Object::Struct(merge_fields(one, other)),
            (one, other) => Object::Map(Box::new(one.values().merge(other.values()))),
        };
        merged.settled()
    }

    /// The shape of all values, whatever their names.
    fn values(self) -> Shape {
        match self {
            Object::Struct(fields) => {
                fields.into_values().fold(Shape::default(), |shape, (_, field)| shape.merge(field))
            }
            Object::Map(values) => *values,
        }
    }

    /// Turns it into a map, if its names are data.
    fn settled(self) -> Self {
        match &self {
            Object::Struct(fields)
                if fields.len() > MAX_PROPERTIES || fields.keys().any(|key| is_data(key)) =>
            {
                Object::Map(Box::new(self.values()))
            }
            _ => self,
        }
    }

    fn schema(&self) -> Value {
        match self {
            Object::Struct(fields) => {
                let properties: Map<String, Value> =
                    fields.iter().map(|(key, (_, field))| (key.clone(), field.schema())).collect();
                let required: Vec<&String> =
                    fields.iter().filter(|(_, (required, _))| *required).map(|(key, _)| key).collect();
                json!({ "type": "object", "properties": properties, "required": required })
            }
            Object::Map(values) => json!({ "type": "object", "additionalProperties": values.schema() }),
        }
    }

    fn read(schema: &Value, depth: usize) -> Self {
        if let Some(values) = schema.get("additionalProperties") {
            return Object::Map(Box::new(Shape::read(values, depth + 1)));
        }
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let field = |(key, field): (&String, &Value)| {
            (key.clone(), (required.contains(key.as_str()), Shape::read(field, depth + 1)))
        };
        Object::Struct(properties.map(field).collect())
    }
}

/// The fields of both. A field is required if both require it.
fn merge_fields(
    one: BTreeMap<String, (bool, Shape)>,
    mut other: BTreeMap<String, (bool, Shape)>,
) -> BTreeMap<String, (bool, Shape)> {
    let mut merged = BTreeMap::new();
    for (key, (required, shape)) in one {
        let field = match other.remove(&key) {
            Some((also, more)) => (required && also, shape.merge(more)),
            None => (false, shape),
        };
        merged.insert(key, field);
    }
    merged.extend(other.into_iter().map(|(key, (_, shape))| (key, (false, shape))));
    merged
}

/// Either value, or the merge of both.
fn both<T>(one: Option<T>, other: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(merge(one, other)),
        (one, other) => one.or(other),
    }
}

/// Whether a property's name is clearly data: empty, a number, an identifier like a UUID or a hash, a date, a
/// path, an address, a text with spaces.
fn is_data(key: &str) -> bool {
    let digits = key.chars().filter(char::is_ascii_digit).count();
    let hexadecimal = key.len() >= 16 && key.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    key.is_empty()
        || key.len() > 64
        || key.chars().any(|c| matches!(c, ' ' | '/' | '\\' | '@' | ':'))
        || digits > 0 && key.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | 'T' | 'Z'))
        || hexadecimal && digits > 0
}
