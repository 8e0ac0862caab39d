//! Translates the schemas of a document into JSON Schema 2020-12, each part once.
//!
//! A translated reference is `{"$ref": NUMBER}`, the number of its part in the pool. `render` replaces it by the name
//! of a definition, or by a schema for any value where a tool has no room for the part.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::document::{Document, Version, is_local};
use crate::error::Error;

/// Maximum depth of a schema without its references; deeper parts accept any value.
const MAX_DEPTH: usize = 64;

/// Limit on the parts of a document that are referred to.
const MAX_PARTS: usize = 20_000;

/// Maximum length of an example, in bytes; longer ones help no reader.
const MAX_EXAMPLE: usize = 200;

/// Maximum length of a description within a schema, in bytes.
const MAX_DESCRIPTION: usize = 600;

/// All parts to which schemas refer.
pub(crate) struct Pool<'a> {
    document: &'a Document,
    pub(crate) parts: Vec<Part>,
    by_reference: HashMap<String, usize>,
    /// How many schemas of components end with the same word.
    endings: HashMap<&'a str, usize>,
}

/// A part of the document that schemas refer to.
pub(crate) struct Part {
    /// Its name among the definitions of a tool.
    pub(crate) name: String,
    pub(crate) schema: Value,
    /// The parts that it refers to.
    pub(crate) references: Vec<usize>,
    pub(crate) size: Size,
}

/// The length of a schema as JSON, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    /// With descriptions.
    pub(crate) described: usize,
    /// Without.
    pub(crate) bare: usize,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        let mut endings = HashMap::new();
        let names = document.root["components"]["schemas"].as_object().into_iter().flat_map(Map::keys);
        names.for_each(|name| *endings.entry(last_word(name)).or_default() += 1);
        Pool { document, parts: Vec::new(), by_reference: HashMap::new(), endings }
    }

    /// Translates a schema, and all parts that it refers to.
    pub(crate) fn translate(&mut self, schema: &Value) -> Result<Value, Error> {
        let first = self.parts.len();
        let translated = self.schema(schema, 0)?;
        let mut next = first;
        while next < self.parts.len() {
            let reference = self.by_number(next);
            let schema = self.document.at(&reference).cloned();
            let schema = schema.ok_or_else(|| Error::Dangling(crate::document::bounded(&reference)))?;
            let schema = self.schema(&schema, 0)?;
            let part = &mut self.parts[next];
            (part.references, part.size) = (references(&schema), size(&schema));
            part.schema = schema;
            next += 1;
        }
        Ok(translated)
    }

    /// The schema that a translated one refers to, if it is only a reference.
    pub(crate) fn target<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        // A part that refers to itself has no end.
        for _ in 0..MAX_DEPTH {
            match schema["$ref"].as_u64().and_then(|number| self.parts.get(usize::try_from(number).ok()?)) {
                Some(part) => schema = &part.schema,
                None => break,
            }
        }
        schema
    }

    fn by_number(&self, number: usize) -> String {
        self.parts[number].schema.as_str().unwrap_or_default().to_owned()
    }

    /// The number of the part that a reference names.
    fn part(&mut self, reference: &str) -> Result<usize, Error> {
        is_local(reference)?;
        if let Some(number) = self.by_reference.get(reference) {
            return Ok(*number);
        }
        if self.parts.len() >= MAX_PARTS {
            return Err(Error::TooManyParts(MAX_PARTS));
        }
        let number = self.parts.len();
        let name = self.name(reference);
        // Until the part is translated, its place has the reference.
        let part = Part { name, schema: reference.into(), references: Vec::new(), size: Size::default() };
        self.parts.push(part);
        self.by_reference.insert(reference.to_owned(), number);
        Ok(number)
    }

    /// A name for a part: that of the component, without a prefix of words where that is unique
    /// (`io.k8s.api.core.v1.Pod`).
    fn name(&self, reference: &str) -> String {
        let full = reference.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let is_component = reference.starts_with("#/components/schemas/");
        let short = last_word(&full);
        let name = if is_component && self.endings.get(short) == Some(&1) { short } else { &full };
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .collect();
        let is_taken = |name: &str| self.parts.iter().any(|part| part.name == name);
        let mut unique = name.clone();
        let mut number = 2;
        while is_taken(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value, Error> {
        let Value::Object(given) = schema else {
            // `true` and `false` are schemas of 3.1; anything else restricts nothing.
            return Ok(if schema.is_boolean() { schema.clone() } else { json!({}) });
        };
        if depth > MAX_DEPTH {
            return Ok(json!({}));
        }
        let mut out = Map::new();
        let is_old = self.document.version == Version::V3_0;
        if let Some(reference) = given.get("$ref").and_then(Value::as_str) {
            out.insert("$ref".to_owned(), self.part(reference)?.into());
            if is_old {
                return Ok(Value::Object(out));
            }
        }
        for (key, value) in given {
            if let Some((key, value)) = self.keyword(key, value, given, depth)? {
                out.insert(key.to_owned(), value);
            }
        }
        if is_old && given.get("nullable") == Some(&Value::Bool(true)) {
            return Ok(nullable(out));
        }
        Ok(Value::Object(out))
    }

    /// A translated keyword; `None` for those that have no meaning here.
    fn keyword<'k>(
        &mut self,
        key: &'k str,
        value: &Value,
        given: &Map<String, Value>,
        depth: usize,
    ) -> Result<Option<(&'k str, Value)>, Error> {
        let translated = match key {
            "properties" | "patternProperties" | "dependentSchemas" => {
                let mut members = Map::new();
                for (name, member) in value.as_object().into_iter().flatten() {
                    members.insert(name.clone(), self.schema(member, depth + 1)?);
                }
                Value::Object(members)
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let Some(list) = value.as_array() else { return Ok(None) };
                let list = list.iter().map(|member| self.schema(member, depth + 1));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            "items"
            | "additionalProperties"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems" => self.schema(value, depth + 1)?,
            "required" if !value.is_array() => return Ok(None),
            "description" | "title" => match value.as_str() {
                Some(text) => shortened(text, MAX_DESCRIPTION).into(),
                None => return Ok(None),
            },
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                // 3.0 has the bound in `minimum`, and whether it is exclusive here.
                let bound = given.get(if key == "exclusiveMinimum" { "minimum" } else { "maximum" });
                match (bound, value) {
                    (Some(bound), Value::Bool(true)) => bound.clone(),
                    _ => return Ok(None),
                }
            }
            "minimum" if given.get("exclusiveMinimum") == Some(&Value::Bool(true)) => return Ok(None),
            "maximum" if given.get("exclusiveMaximum") == Some(&Value::Bool(true)) => return Ok(None),
            "example" => match value {
                Value::Object(_) | Value::Array(_) => return Ok(None),
                value if value.to_string().len() > MAX_EXAMPLE => return Ok(None),
                value => return Ok(Some(("examples", json!([value])))),
            },
            "$ref" | "nullable" | "xml" | "discriminator" | "externalDocs" | "examples" | "$id"
            | "$schema" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$comment" | "$defs"
            | "definitions" => {
                return Ok(None);
            }
            key if key.starts_with("x-") => return Ok(None),
            _ => value.clone(),
        };
        Ok(Some((key, translated)))
    }
}

/// Adds null to the values of a schema (3.0, "nullable").
fn nullable(mut schema: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get("type") {
        Some(Value::String(kind)) => {
            let kinds = json!([kind, "null"]);
            schema.insert("type".to_owned(), kinds);
            Value::Object(schema)
        }
        _ if ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| schema.contains_key(*key)) => {
            let description = schema.shift_remove("description");
            let mut either = Map::new();
            if let Some(text) = description {
                either.insert("description".to_owned(), text);
            }
            either.insert("anyOf".to_owned(), json!([schema, { "type": "null" }]));
            Value::Object(either)
        }
        // Without a type, null is among the values already.
        _ => Value::Object(schema),
    }
}

/// The last word of a component's name.
fn last_word(name: &str) -> &str {
    name.rsplit('.').find(|word| !word.is_empty()).unwrap_or(name)
}

/// A text of bounded length, cut at a character.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let text = text.trim();
    let short = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    if short.len() < text.len() { format!("{}…", short.trim_end()) } else { short.to_owned() }
}

/// The parts that a translated schema refers to, each once, in its order.
pub(crate) fn references(schema: &Value) -> Vec<usize> {
    fn collect(schema: &Value, found: &mut Vec<usize>) {
        match schema {
            Value::Object(members) => {
                let number =
                    members.get("$ref").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
                if let Some(number) = number.filter(|number| !found.contains(number)) {
                    found.push(number);
                }
                members.values().for_each(|member| collect(member, found));
            }
            Value::Array(members) => members.iter().for_each(|member| collect(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(schema, &mut found);
    found
}

/// The size of a translated schema.
pub(crate) fn size(schema: &Value) -> Size {
    let described = schema.to_string().len();
    let mut bare = schema.clone();
    undescribed(&mut bare);
    Size { described, bare: bare.to_string().len() }
}

/// Removes what explains a schema and restricts no value.
pub(crate) fn undescribed(schema: &mut Value) {
    each_schema(schema, &mut |members| {
        for key in ["description", "title", "examples"] {
            members.shift_remove(key);
        }
    });
}

/// Calls `change` with each object of a schema that is one itself, not a map of names.
pub(crate) fn each_schema(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(members) => {
            change(members);
            for (key, member) in members.iter_mut() {
                match (key.as_str(), member) {
                    (
                        "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                        Value::Object(members),
                    ) => {
                        members.values_mut().for_each(|member| each_schema(member, change));
                    }
                    ("enum" | "const" | "default" | "examples" | "required" | "type", _) => {}
                    (_, member) => each_schema(member, change),
                }
            }
        }
        Value::Array(members) => members.iter_mut().for_each(|member| each_schema(member, change)),
        _ => {}
    }
}
