//! From the JSON Schemas of a tool, as servers write them, to forms and definitions.
//!
//! Reads drafts 4 to 2020-12 and the spellings of OpenAPI 3.0. References are resolved within the document;
//! nothing is fetched. A schema that cannot be read becomes `Any` with a warning; nothing fails. Defaults,
//! bounds, patterns and formats do not affect types; the notes keep them.

mod array;
mod count;
mod enumeration;
mod keywords;
mod legacy;
mod merge;
mod note;
mod object;
mod place;
mod pointers;
mod reader;
mod reference;
mod union;

use serde_json::Value;

use crate::Tool;
use crate::form::{Body, Definition, Field, Form};
use crate::identity::canonical;
use keywords::{Schema, allowed_values, allows_anything, is_nullable, is_object, is_unsigned, types};
use place::Place;
pub(crate) use place::{DEEPEST, MAX_KEY};
use pointers::Pointers;
use reader::{Reader, Shared};

/// Maximum number of schemas of one tool that are read. The rest becomes `Any`.
const MAX_STEPS: usize = 8_000;

/// All types of one tool.
#[derive(Debug)]
pub(crate) struct Normalised {
    /// The types that need a name.
    pub(crate) definitions: Vec<Definition>,
    /// The definition of the input: a struct, or the whole value.
    pub(crate) input: usize,
    /// The form of the output, if the tool declares one.
    pub(crate) output: Option<Form>,
    /// The parts that could not be read: place and reason.
    pub(crate) warnings: Vec<(String, String)>,
    /// Number of places in the schemas that need a type.
    pub(crate) places: usize,
    /// The places that became `Any` although the schema describes more: place and reason.
    pub(crate) lost: Vec<(String, String)>,
}

/// Normalises the schemas of one tool. Schemas nested deeper than `deepest` become `Any`.
pub(crate) fn normalise(tool: &Tool, deepest: usize) -> Normalised {
    let mut shared = Shared { deepest, steps: MAX_STEPS, ..Shared::default() };
    let input = read(&tool.input_schema, Side::Input, &mut shared);
    let input = match input {
        Form::Named(index) if matches!(shared.body(index), Some(Body::Struct(_))) => index,
        _ => shared.whole(),
    };
    let output = tool.output_schema.as_ref();
    let output = output.map(|schema| read(schema, Side::Output, &mut shared));
    let Shared { definitions, warnings, counts, .. } = shared;
    Normalised { definitions, input, output, warnings, places: counts.places, lost: counts.lost }
}

/// One of the two schemas of a tool.
#[derive(Debug, Clone, Copy)]
enum Side {
    Input,
    Output,
}

/// Reads one document and resolves its references.
fn read(root: &Value, side: Side, shared: &mut Shared) -> Form {
    let first = shared.definitions.len();
    let pointers = Pointers::new(root);
    let mut reader = Reader { root, shared, pointers };
    let place = match side {
        Side::Input => Place::root("input", "Input"),
        Side::Output => Place::root("output", "Output"),
    };
    let mut form = match side {
        Side::Input => reader.input(&place),
        Side::Output => reader.output(&place),
    };
    let Reader { mut pointers, shared, .. } = reader;
    pointers.finish_root(&form);
    shared.counts.settle(&pointers, &mut shared.warnings);
    let mut settle = |form: &mut Form| pointers.replace(form);
    form.visit(&mut settle);
    for definition in shared.definitions.iter_mut().skip(first) {
        definition.visit(&mut settle);
        if let Body::Struct(body) = &mut definition.body {
            body.fields.iter_mut().for_each(Field::settle);
        }
    }
    form
}

impl Reader<'_> {
    fn input(&mut self, place: &Place) -> Form {
        let form = match self.flatten(self.root, place) {
            Some(schema) if is_object(&schema) => {
                let schema = self.open_if_undescribed(schema, place);
                return self.merged_struct(&[schema], place);
            }
            Some(schema) => match self.object_variants(&schema, place) {
                Some(variants) => return self.merged_struct(&variants, place),
                None => self.give_up(place, "the input is not an object"),
            },
            // The schema allows anything and MCP requires an object, so this is an object without known
            // fields.
            None if matches!(self.root, Value::Object(_) | Value::Bool(true)) => {
                let schema = self.open_if_undescribed(Schema::new(), place);
                return self.merged_struct(&[schema], place);
            }
            None => self.give_up(place, "the input schema is not a schema"),
        };
        self.count(place, &form);
        form
    }

    /// Allows additional fields explicitly if an input schema describes no field and forbids none, such as `{}` or
    /// `{"type": "object"}`: a tool with such a schema may need arguments that the schema fails to describe.
    /// `"properties": {}` describes a tool without arguments.
    fn open_if_undescribed(&mut self, mut schema: Schema, place: &Place) -> Schema {
        let described = ["additionalProperties", "patternProperties", "unevaluatedProperties"];
        if !schema.get("properties").is_some_and(Value::is_object)
            && !described.iter().any(|keyword| schema.contains_key(*keyword))
            && !self.has_fields(&schema, place)
        {
            schema.insert("additionalProperties".to_owned(), Value::Bool(true));
        }
        schema
    }

    fn output(&mut self, place: &Place) -> Form {
        let form = self.form(self.root, place);
        let body = match form {
            Form::Named(index) => self.shared.body(index),
            _ => None,
        };
        // The places of an object are its properties. Any other output is a place itself.
        if !matches!(body, Some(Body::Struct(_) | Body::Tagged { .. })) {
            self.count(place, &form);
        }
        form
    }

    /// The form of a schema at a place that counts.
    fn place(&mut self, schema: &Value, place: &Place) -> Form {
        let form = self.form(schema, place);
        self.count(place, &form);
        form
    }

    /// The form of a schema.
    fn form(&mut self, schema: &Value, place: &Place) -> Form {
        match schema {
            Value::Bool(true) => return Form::Any,
            Value::Object(keywords) if allows_anything(keywords) => return Form::Any,
            _ if place.is_too_deep(self.shared.deepest) => {
                return self.give_up(place, "the schema is nested too deeply");
            }
            _ if !self.spend(1) => return self.give_up(place, "the schema is too large"),
            _ => {}
        }
        match schema {
            Value::Bool(_) => self.give_up(place, "the schema allows nothing"),
            Value::Object(keywords) => {
                if let Some(modern) = legacy::types_of_schemas(keywords) {
                    return self.form(&Value::Object(modern), &place.hop());
                }
                if let Some(form) = self.reference(keywords, place) {
                    return form;
                }
                // The union does not become a type, so that a schema inside it can be the same union.
                if let Some(only) = union::only_besides_null(keywords) {
                    return self.form(only, &place.hop()).nullable();
                }
                if merge::is_composed(keywords) {
                    return self.once(schema, place);
                }
                self.flat(keywords, place)
            }
            _ => self.give_up(place, "a schema is an object or a boolean"),
        }
    }

    /// The form of a composed schema. Inside itself, it is the same type.
    fn once(&mut self, schema: &Value, place: &Place) -> Form {
        let text = canonical(schema);
        if !self.spend(text.len() / 64) {
            return self.give_up(place, "the schema is too large");
        }
        let (index, new) = self.pointers.enter(&format!(" {text}"));
        if !new {
            return self.known(index, place);
        }
        let before = self.shared.warnings.len();
        let flat = self.flatten(schema, place);
        let form = match flat {
            Some(schema) => self.flat(&schema, place),
            None => match self.shared.warnings.get(before).map(|(_, reason)| reason.clone()) {
                Some(reason) => self.lose(reason),
                None => Form::Any,
            },
        };
        self.pointers.finish(index, &form);
        form
    }

    /// The form of a schema without references and `allOf` at its top level.
    fn flat(&mut self, schema: &Schema, place: &Place) -> Form {
        let place = place.titled(schema);
        let form = if schema.contains_key("anyOf") || schema.contains_key("oneOf") {
            self.union(schema, &place)
        } else {
            self.simple(schema, &place)
        };
        if is_nullable(schema) { form.nullable() } else { form }
    }

    /// The form of a schema without a union.
    fn simple(&mut self, schema: &Schema, place: &Place) -> Form {
        if let Some(values) = allowed_values(schema) {
            return self.enumeration(schema, &values, place);
        }
        match types(schema).as_slice() {
            [] if allows_anything(schema) => Form::Any,
            [] => self.lose("the schema names no type"),
            [only] => self.single(only, schema, place),
            several => {
                let variants = several
                    .iter()
                    .map(|name| {
                        let mut variant = schema.clone();
                        variant.insert("type".to_owned(), Value::from(name.as_str()));
                        variant
                    })
                    .collect();
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
            "null" => Form::Null,
            other => {
                let shown: String = other.chars().take(40).collect();
                self.give_up(place, format!("JSON has no type {shown:?}"))
            }
        }
    }
}
