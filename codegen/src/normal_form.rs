//! The normal form of a tool's schemas: the parts that were understood, as JSON Schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Tool;
use crate::form::{Body, Definition, Form, Kind, Struct};
use crate::names::{Namespace, camel, singular};
use crate::normalise::{DEEPEST, normalise};
use crate::share::alike;

/// The schemas of a tool as they were understood.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalForm {
    /// The schema of the arguments.
    pub input: Value,
    /// The schema of the structured content, if there is one.
    pub output: Option<Value>,
}

/// The understood parts of a tool's schemas, as unambiguous JSON Schema (2020-12).
///
/// It contains types and the names in JSON, and no descriptions. Types that have a name in Rust are under
/// `$defs`, except variants of a union. The normal form allows everything that the schemas allow, with one
/// exception: it omits null for optional properties, where null equals absence. Normalising a normal form
/// returns the same form, unless the schemas exceed the size limits.
#[must_use]
pub fn normal_form(tool: &Tool) -> NormalForm {
    let normalised = normalise(tool, DEEPEST);
    let alike = alike(&normalised.definitions);
    let write = |root: &Form| Writer::new(&normalised.definitions, &alike, root).document(root);
    NormalForm { input: write(&Form::Named(normalised.input)), output: normalised.output.as_ref().map(write) }
}

struct Writer<'a> {
    definitions: &'a [Definition],
    /// For each definition, the first one with the same structure.
    alike: &'a [usize],
    /// The definition that is the document's root.
    root: Option<usize>,
    names: BTreeMap<usize, String>,
    namespace: Namespace,
    written: Map<String, Value>,
}

impl<'a> Writer<'a> {
    fn new(definitions: &'a [Definition], alike: &'a [usize], root: &Form) -> Self {
        let (names, namespace) = (BTreeMap::new(), Namespace::default());
        let mut writer = Writer { definitions, alike, root: None, names, namespace, written: Map::new() };
        if let Form::Named(index) = root {
            writer.root = Some(writer.first(*index));
        }
        writer
    }

    fn first(&self, index: usize) -> usize {
        self.alike.get(index).copied().unwrap_or(index)
    }

    fn document(mut self, root: &Form) -> Value {
        let mut document = match self.root {
            Some(index) => self.body(index, "Root"),
            None => self.schema(root, "Root"),
        };
        if let Some(document) = document.as_object_mut() {
            document.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
            if !self.written.is_empty() {
                document.insert("$defs".to_owned(), Value::Object(self.written));
            }
        }
        document
    }

    /// The schema of a place. `hint` is the name for a type there.
    fn schema(&mut self, form: &Form, hint: &str) -> Value {
        match form {
            Form::Any | Form::Lost(_) | Form::Pending(_) => json!(true),
            Form::Null => json!({ "type": "null" }),
            Form::Boolean => json!({ "type": "boolean" }),
            Form::Integer => json!({ "type": "integer" }),
            Form::Unsigned => json!({ "type": "integer", "format": "uint64" }),
            Form::Number => json!({ "type": "number" }),
            Form::Text => json!({ "type": "string" }),
            Form::Scalar(kinds) => {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                json!({ "type": names })
            }
            Form::List(item) if **item == Form::Any => json!({ "type": "array" }),
            Form::List(item) => {
                json!({ "type": "array", "items": self.schema(item, singular(hint).as_str()) })
            }
            Form::Tuple(items) => {
                let places: Vec<Value> = items.iter().map(|item| self.schema(item, hint)).collect();
                json!({ "type": "array", "prefixItems": places, "minItems": items.len(), "items": false })
            }
            // `true` would make it an object without known fields.
            Form::Map(value) if **value == Form::Any => {
                json!({ "type": "object", "additionalProperties": { "$comment": "any value" } })
            }
            Form::Map(value) => {
                json!({ "type": "object", "additionalProperties": self.schema(value, singular(hint).as_str()) })
            }
            Form::Nullable(inner) => json!({ "anyOf": [self.schema(inner, hint), { "type": "null" }] }),
            Form::Named(index) => match self.first(*index) {
                index if Some(index) == self.root => json!({ "$ref": "#" }),
                index => json!({ "$ref": format!("#/$defs/{}", self.name(index, hint)) }),
            },
        }
    }

    /// The name of a definition. The first use writes the definition.
    fn name(&mut self, index: usize, hint: &str) -> String {
        if let Some(name) = self.names.get(&index) {
            return name.clone();
        }
        let name = self.namespace.take(&camel(hint));
        self.names.insert(index, name.clone());
        let body = self.body(index, hint);
        self.written.insert(name.clone(), body);
        name
    }

    fn body(&mut self, index: usize, hint: &str) -> Value {
        let definitions = self.definitions;
        match definitions.get(index).map(|definition| &definition.body) {
            Some(Body::Struct(body)) => Value::Object(self.object(body, None)),
            Some(Body::Texts { values, loose: false }) => json!({ "type": "string", "enum": values }),
            Some(Body::Texts { values, loose: true }) => {
                json!({ "anyOf": [{ "type": "string", "enum": values }, { "type": "string" }] })
            }
            Some(Body::Tagged { tag, variants }) => {
                let variants: Vec<Value> =
                    variants.iter().map(|(value, form)| self.variant(tag, value, form)).collect();
                json!({ "oneOf": variants, "discriminator": { "propertyName": tag } })
            }
            Some(Body::Kinds(variants)) => {
                let variants: Vec<Value> =
                    variants.iter().map(|(kind, form)| self.member(*kind, form, hint)).collect();
                json!({ "anyOf": variants })
            }
            // Any value, written so that it is not read as an object.
            Some(Body::Whole) | None => {
                json!({ "type": ["array", "boolean", "null", "number", "object", "string"] })
            }
        }
    }

    fn object(&mut self, body: &Struct, tag: Option<(&str, &str)>) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if let Some((tag, value)) = tag {
            properties.insert(tag.to_owned(), json!({ "const": value }));
            required.push(tag.to_owned());
        }
        for field in &body.fields {
            properties.insert(field.key.clone(), self.schema(&field.form, &field.key));
            required.extend(field.required.then(|| field.key.clone()));
        }
        for (key, value) in &body.constants {
            properties.insert(key.clone(), json!({ "const": value }));
            required.push(key.clone());
        }
        let mut object = Map::from_iter([("type".to_owned(), json!("object"))]);
        // Without `properties`, an input schema describes nothing and allows any argument.
        if !properties.is_empty() || body.extra.is_none() {
            object.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            object.insert("required".to_owned(), json!(required));
        }
        if let Some(extra) = &body.extra {
            object.insert("additionalProperties".to_owned(), self.schema(extra, "Extra"));
        }
        object
    }

    /// A variant of a union of objects, with its tag.
    fn variant(&mut self, tag: &str, value: &str, form: &Form) -> Value {
        let definitions = self.definitions;
        let body = match form {
            Form::Named(index) => definitions.get(*index).map(|definition| &definition.body),
            _ => None,
        };
        let none = Struct::default();
        let body = match body {
            Some(Body::Struct(body)) => body,
            _ => &none,
        };
        Value::Object(self.object(body, Some((tag, value))))
    }

    /// A variant of a union of JSON's types.
    fn member(&mut self, kind: Kind, form: &Form, hint: &str) -> Value {
        match (form, kind) {
            (Form::Named(index), _) => self.body(*index, &format!("{hint}{kind:?}")),
            (Form::Any | Form::Lost(_), kind) => json!({ "type": kind.name() }),
            (form, _) => self.schema(form, hint),
        }
    }
}
