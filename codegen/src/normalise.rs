//! From the JSON Schemas of a tool, as servers write them, to forms and definitions.
//!
//! Reads drafts 4 to 2020-12 and the spellings of OpenAPI 3.0. References are resolved within the
//! document, nothing is fetched. What cannot be read becomes `Any` with a warning; nothing fails.
//! Defaults, bounds, patterns and formats do not take part in types; the notes keep them.

mod array;
mod merge;
mod note;
mod object;
mod reference;
mod union;

use serde_json::{Map, Value};

use crate::Tool;
use crate::form::{Body, Definition, Form, Struct};
use crate::identity::canonical;
use reference::Pointers;

pub(crate) use note::note;

/// How deep schemas may lie within each other before what is deeper becomes `Any`.
pub(crate) const DEEPEST: usize = 32;
/// How many schemas of one tool are looked at before the rest becomes `Any`.
const MOST_STEPS: usize = 8_000;
/// How many definitions one tool may have before further ones become `Any`.
const MOST_DEFINITIONS: usize = 400;

/// The keywords of a schema.
type Schema = Map<String, Value>;

/// All types of one tool.
#[derive(Debug)]
pub(crate) struct Normalised {
    /// The types that need a name.
    pub(crate) definitions: Vec<Definition>,
    /// The definition that is the input; a struct, or whole.
    pub(crate) input: usize,
    /// The form of the output, if the tool says so.
    pub(crate) output: Option<Form>,
    /// What could not be read: the place and the reason.
    pub(crate) warnings: Vec<(String, String)>,
}

/// Normalises the schemas of one tool; what lies deeper than `deepest` becomes `Any`.
pub(crate) fn normalise(tool: &Tool, deepest: usize) -> Normalised {
    let mut shared = Shared { deepest, steps: MOST_STEPS, ..Shared::default() };
    let input = read(&tool.input_schema, Side::Input, &mut shared);
    let input = match input {
        Form::Named(index) if matches!(shared.body(index), Some(Body::Struct(_))) => index,
        _ => shared.whole(),
    };
    let output = tool.output_schema.as_ref();
    let output = output.map(|schema| read(schema, Side::Output, &mut shared));
    Normalised { definitions: shared.definitions, input, output, warnings: shared.warnings }
}

/// What the readers of input and output share.
#[derive(Debug, Default)]
struct Shared {
    definitions: Vec<Definition>,
    warnings: Vec<(String, String)>,
    deepest: usize,
    steps: usize,
}

impl Shared {
    fn body(&self, index: usize) -> Option<&Body> {
        self.definitions.get(index).map(|definition| &definition.body)
    }

    fn whole(&mut self) -> usize {
        self.definitions.push(Definition { leaf: "Input".to_owned(), body: Body::Whole });
        self.definitions.len() - 1
    }
}

/// Which of the two schemas of a tool.
#[derive(Debug, Clone, Copy)]
enum Side {
    Input,
    Output,
}

/// Reads one document and settles its references.
fn read(root: &Value, side: Side, shared: &mut Shared) -> Form {
    let first = shared.definitions.len();
    let mut reader = Reader { root, shared, pointers: Pointers::default() };
    let (path, leaf) = match side {
        Side::Input => ("input", "Input"),
        Side::Output => ("output", "Output"),
    };
    let place = Place { path: path.to_owned(), leaf: leaf.to_owned(), depth: 0 };
    let mut form = match side {
        Side::Input => reader.input(&place),
        Side::Output => reader.form(root, &place),
    };
    let Reader { mut pointers, shared, .. } = reader;
    pointers.finish_root(&form);
    let mut settle = |form: &mut Form| {
        if let Form::Pending(pointer) = form {
            *form = pointers.settle(*pointer).unwrap_or_else(|name| {
                let reason = format!("{name} refers to itself without an object between");
                shared.warnings.push((path.to_owned(), reason));
                Form::Any
            });
        }
    };
    form.visit(&mut settle);
    for definition in shared.definitions.iter_mut().skip(first) {
        definition.visit(&mut settle);
    }
    form
}

/// Where a schema lies.
#[derive(Debug, Clone)]
struct Place {
    /// For warnings, such as `input.edits[].old_text`.
    path: String,
    /// What a type made here would be called.
    leaf: String,
    depth: usize,
}

impl Place {
    fn step(&self, path: &str, leaf: impl Into<String>) -> Place {
        Place { path: format!("{}{path}", self.path), leaf: leaf.into(), depth: self.depth + 1 }
    }

    fn field(&self, key: &str) -> Place {
        self.step(&format!(".{key}"), key)
    }

    /// The place of each item of an array or each value of a map.
    fn item(&self, path: &str) -> Place {
        self.step(path, crate::names::singular(&self.leaf))
    }
}

/// Reads one document.
struct Reader<'a> {
    root: &'a Value,
    shared: &'a mut Shared,
    pointers: Pointers,
}

impl Reader<'_> {
    fn warn(&mut self, place: &Place, reason: impl Into<String>) {
        self.shared.warnings.push((place.path.clone(), reason.into()));
    }

    /// `Any`, with a warning.
    fn give_up(&mut self, place: &Place, reason: impl Into<String>) -> Form {
        self.warn(place, reason);
        Form::Any
    }

    /// Counts work done; false when there was too much of it.
    fn spend(&mut self, steps: usize) -> bool {
        self.shared.steps = self.shared.steps.saturating_sub(steps);
        self.shared.steps > 0
    }

    fn input(&mut self, place: &Place) -> Form {
        match self.flatten(self.root, place) {
            Some(schema) if is_object(&schema) => self.merged_struct(&[schema], place),
            Some(schema) => match self.object_variants(&schema, place) {
                Some(variants) => self.merged_struct(&variants, place),
                None => self.give_up(place, "the input is not an object"),
            },
            // Anything goes, and MCP wants an object: nothing is known to be wanted in it.
            None if matches!(self.root, Value::Object(_) | Value::Bool(true)) => {
                self.merged_struct(&[Schema::new()], place)
            }
            None => self.give_up(place, "the input schema is not a schema"),
        }
    }

    /// The form of a schema.
    fn form(&mut self, schema: &Value, place: &Place) -> Form {
        if place.depth > self.shared.deepest {
            return self.give_up(place, "the schema is nested too deeply");
        }
        if !self.spend(1) {
            return self.give_up(place, "the schema is too large");
        }
        match schema {
            Value::Bool(true) => Form::Any,
            Value::Bool(false) => self.give_up(place, "the schema allows nothing"),
            Value::Object(keywords) => {
                if let Some(form) = self.reference(keywords, place) {
                    return form;
                }
                if merge::is_composed(keywords) {
                    return self.once(schema, place);
                }
                self.flat(keywords, place)
            }
            _ => self.give_up(place, "a schema is an object or a boolean"),
        }
    }

    /// The form of a schema that is made of others: where it lies within itself, it is the same type.
    fn once(&mut self, schema: &Value, place: &Place) -> Form {
        let text = canonical(schema);
        if !self.spend(text.len() / 64) {
            return self.give_up(place, "the schema is too large");
        }
        let (index, new) = self.pointers.enter(&format!(" {text}"));
        if !new {
            return self.known(index, place);
        }
        let flat = self.flatten(schema, place);
        let form = flat.map_or(Form::Any, |schema| self.flat(&schema, place));
        self.pointers.finish(index, &form);
        form
    }

    /// The form of a schema without references and `allOf` at its top.
    fn flat(&mut self, schema: &Schema, place: &Place) -> Form {
        let form = if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
            self.union(schema, place)
        } else {
            self.simple(schema, place)
        };
        if schema.get("nullable") == Some(&Value::Bool(true)) { form.nullable() } else { form }
    }

    /// The form of a schema without a union.
    fn simple(&mut self, schema: &Schema, place: &Place) -> Form {
        if let Some(values) = allowed_values(schema) {
            return self.values(&values, place);
        }
        match types(schema).as_slice() {
            [] => Form::Any,
            [only] => self.single(only, schema, place),
            several => {
                let with = |name: &String| {
                    let mut variant = schema.clone();
                    variant.insert("type".to_owned(), Value::from(name.as_str()));
                    variant
                };
                let variants = several.iter().map(with).collect();
                self.variants(variants, place)
            }
        }
    }

    fn single(&mut self, name: &str, schema: &Schema, place: &Place) -> Form {
        match name {
            "string" => Form::Text,
            "boolean" => Form::Boolean,
            "number" => Form::Number,
            "integer" if is_unsigned(schema) => Form::Unsigned,
            "integer" => Form::Integer,
            "array" => self.array(schema, place),
            "object" => self.object(schema, place),
            "null" => Form::Any,
            other => {
                let reason = format!("JSON has no type {other:?}");
                self.give_up(place, reason)
            }
        }
    }

    /// The form of an enumeration.
    fn values(&mut self, values: &[Value], place: &Place) -> Form {
        let some: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let form = if some.is_empty() {
            self.give_up(place, "the enumeration is empty")
        } else if some.iter().all(|value| value.is_string()) {
            self.texts(some.iter().filter_map(|value| value.as_str()), false, place)
        } else if some.iter().all(|value| value.is_boolean()) {
            Form::Boolean
        } else if some.iter().all(|value| value.is_i64()) {
            Form::Integer
        } else if some.iter().all(|value| value.is_number()) {
            Form::Number
        } else {
            self.give_up(place, "the enumeration mixes types")
        };
        if some.len() < values.len() { form.nullable() } else { form }
    }

    /// An enum of texts.
    fn texts<'t>(&mut self, values: impl Iterator<Item = &'t str>, loose: bool, place: &Place) -> Form {
        /// An enum with more values than this is a text.
        const MOST_VALUES: usize = 256;
        let mut unique: Vec<String> = Vec::new();
        for value in values {
            if !unique.iter().any(|known| known == value) {
                unique.push(value.to_owned());
            }
        }
        if unique.len() > MOST_VALUES {
            self.warn(place, format!("the enumeration has {} values", unique.len()));
            return Form::Text;
        }
        self.define(place, Body::Texts { values: unique, loose })
    }

    /// A definition with a body that is known already.
    fn define(&mut self, place: &Place, body: Body) -> Form {
        self.define_with(place, |_| body)
    }

    /// A definition that stands in the list before those that it is made of.
    fn define_with(&mut self, place: &Place, body: impl FnOnce(&mut Self) -> Body) -> Form {
        let index = self.shared.definitions.len();
        if index >= MOST_DEFINITIONS {
            return self.give_up(place, "the tool has too many types");
        }
        let body_later = Body::Struct(Struct::default());
        self.shared.definitions.push(Definition { leaf: place.leaf.clone(), body: body_later });
        let body = body(self);
        if let Some(definition) = self.shared.definitions.get_mut(index) {
            definition.body = body;
        }
        Form::Named(index)
    }
}

/// The values of `enum` or `const`.
fn allowed_values(schema: &Schema) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// The types that a schema names, or shows by its keywords.
fn types(schema: &Schema) -> Vec<String> {
    let named = match schema.get("type") {
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
    if has(&["properties", "patternProperties", "additionalProperties", "required"]) {
        vec!["object".to_owned()]
    } else if has(&["items", "prefixItems"]) {
        vec!["array".to_owned()]
    } else {
        Vec::new()
    }
}

fn is_object(schema: &Schema) -> bool {
    !schema.contains_key("anyOf")
        && !schema.contains_key("oneOf")
        && types(schema).iter().all(|name| name == "object" || name == "null")
        && allowed_values(schema).is_none()
}

/// Whether integers above the range of `i64` are meant.
fn is_unsigned(schema: &Schema) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    let maximum = schema.get("maximum").and_then(Value::as_u64);
    matches!(format, Some("uint64" | "uint" | "usize"))
        || maximum.is_some_and(|maximum| i64::try_from(maximum).is_err())
}
