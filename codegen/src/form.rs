//! Forms: the description of types that normalisation produces and all code is generated from.
//!
//! Forms use the names in JSON. Rust names are assigned when code is written.

use serde_json::{Value, json};

/// The type of one place in a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// Anything.
    Any,
    /// Anything, because the type could not be determined, with the index of the reason. Resolved when the
    /// document has been read.
    Lost(usize),
    /// Null, and nothing else.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A 64-bit integer.
    Integer,
    /// A 64-bit integer that the schema declares unsigned.
    Unsigned,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A text, a number or a boolean: two or three of [`Kind`], sorted.
    Scalar(Vec<Kind>),
    /// An array of one type.
    List(Box<Form>),
    /// An array with a type for each item.
    Tuple(Vec<Form>),
    /// An object whose fields are data.
    Map(Box<Form>),
    /// The type, or null.
    Nullable(Box<Form>),
    /// A [`Definition`], by its index.
    Named(usize),
    /// The target of a reference that is still being read, by its index. Resolved when the document has been
    /// read.
    Pending(usize),
}

/// A type that needs a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// The last part of its name: from the property, or the variant.
    pub(crate) leaf: String,
    /// The schema's own names, from `$defs` and `title`: several if several schemas have this structure.
    pub(crate) own: Vec<String>,
    /// The own name of the nearest schema around it; empty if none has one.
    pub(crate) within: String,
    /// The schema's description of the type itself, not of the places that use it.
    pub(crate) description: Option<String>,
    /// The structure.
    pub(crate) body: Body,
}

/// The structure of a [`Definition`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// An object with known fields.
    Struct(Struct),
    /// One of a list of texts. If `loose`, the schema allows other texts as well.
    Texts { values: Vec<String>, loose: bool },
    /// Objects, distinguished by the text in the field `tag`.
    Tagged { tag: String, variants: Vec<(String, Form)> },
    /// Values, distinguished by their JSON type. At most one of each [`Kind`].
    Kinds(Vec<(Kind, Form)>),
    /// Any value, because the whole schema could not be read.
    Whole,
}

/// An object with known fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Struct {
    /// The fields: required ones, then the others, each in the order of `properties`.
    pub(crate) fields: Vec<Field>,
    /// Required fields whose value the schema fixes: always sent, never read.
    pub(crate) constants: Vec<(String, Value)>,
    /// The type of additional fields, if the schema describes them.
    pub(crate) extra: Option<Form>,
    /// Whether the schema allows no other fields.
    pub(crate) closed: bool,
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// The name in JSON.
    pub(crate) key: String,
    /// The type, without the `Option` of an optional field.
    pub(crate) form: Form,
    /// Whether the schema requires it.
    pub(crate) required: bool,
    /// Whether it is optional, and may be null as well.
    pub(crate) nullable: bool,
    /// Its documentation.
    pub(crate) note: Note,
}

/// The documentation of a place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Note {
    /// The description, as the server wrote it.
    pub(crate) description: Option<String>,
    /// Other statements about the values.
    pub(crate) facts: Vec<Fact>,
}

/// A statement of a schema about values besides their type: a default, a bound, a format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fact {
    /// The keyword.
    pub(crate) keyword: &'static str,
    /// The phrase for it, which precedes the value.
    pub(crate) words: &'static str,
    /// The value: JSON, or a text from the server.
    pub(crate) value: String,
    /// Whether it is worth including in a short form.
    pub(crate) brief: bool,
}

/// The types that JSON distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Text,
    Number,
    Boolean,
    List,
    Object,
}

impl Kind {
    /// JSON Schema's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::List => "array",
            Kind::Object => "object",
        }
    }

    /// The names of several kinds, joined with "or".
    pub(crate) fn any_of<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> String {
        let names: Vec<&str> = kinds.into_iter().map(|kind| kind.name()).collect();
        names.join(" or ")
    }
}

impl Form {
    /// The form, or null. A form that includes null stays as it is.
    pub(crate) fn nullable(self) -> Form {
        match self {
            Form::Any | Form::Lost(_) | Form::Null | Form::Nullable(_) => self,
            other => Form::Nullable(Box::new(other)),
        }
    }

    /// The kinds, if the form or its innermost items or values are a scalar.
    pub(crate) fn scalar(&self) -> Option<&[Kind]> {
        match self {
            Form::Scalar(kinds) => Some(kinds),
            Form::List(inner) | Form::Map(inner) | Form::Nullable(inner) => inner.scalar(),
            _ => None,
        }
    }

    /// The number of forms in it, including itself.
    pub(crate) fn size(&self) -> usize {
        1 + match self {
            Form::List(inner) | Form::Map(inner) | Form::Nullable(inner) => inner.size(),
            Form::Tuple(items) => items.iter().map(Form::size).sum(),
            _ => 0,
        }
    }

    /// Calls `visit` with each form in it, itself last.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut Form)) {
        match self {
            Form::List(inner) | Form::Map(inner) | Form::Nullable(inner) => inner.visit(visit),
            Form::Tuple(items) => items.iter_mut().for_each(|item| item.visit(visit)),
            _ => {}
        }
        visit(self);
    }

    /// The form as an unambiguous JSON Schema.
    fn schema(&self) -> Value {
        match self {
            Form::Any | Form::Lost(_) | Form::Pending(_) => json!(true),
            Form::Boolean => json!({ "type": "boolean" }),
            Form::Integer => json!({ "type": "integer", "format": "int64" }),
            Form::Unsigned => json!({ "type": "integer", "format": "uint64" }),
            Form::Number => json!({ "type": "number", "format": "double" }),
            Form::Text => json!({ "type": "string" }),
            // Types of typify that no other form maps to.
            Form::Scalar(_) => json!({ "type": "integer", "format": "int8" }),
            Form::Null => json!({ "type": "integer", "format": "int16" }),
            Form::List(item) => json!({ "type": "array", "items": item.schema() }),
            Form::Tuple(items) => {
                let schemas: Vec<Value> = items.iter().map(Form::schema).collect();
                json!({ "type": "array", "items": schemas, "minItems": items.len(), "maxItems": items.len() })
            }
            Form::Map(value) => json!({ "type": "object", "additionalProperties": value.schema() }),
            Form::Nullable(inner) => json!({ "oneOf": [inner.schema(), { "type": "null" }] }),
            Form::Named(index) => json!({ "$ref": format!("#/definitions/{}", definition_name(*index)) }),
        }
    }
}

impl Field {
    /// Notes whether an optional field may be null, in place of the form: for a reader, null and absence are the same.
    pub(crate) fn settle(&mut self) {
        self.nullable |= !self.required && matches!(self.form, Form::Any | Form::Nullable(_));
        if let Form::Nullable(inner) = &mut self.form
            && !self.required
        {
            self.form = std::mem::replace(inner, Form::Any);
        }
    }
}

impl Definition {
    /// A type without a name of its own.
    pub(crate) fn new(leaf: &str, body: Body) -> Self {
        Definition { leaf: leaf.to_owned(), own: Vec::new(), within: String::new(), description: None, body }
    }

    /// Calls `visit` with each form in it.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut Form)) {
        match &mut self.body {
            Body::Struct(body) => {
                body.fields.iter_mut().for_each(|field| field.form.visit(visit));
                if let Some(extra) = &mut body.extra {
                    extra.visit(visit);
                }
            }
            Body::Tagged { variants, .. } => variants.iter_mut().for_each(|(_, form)| form.visit(visit)),
            Body::Kinds(variants) => variants.iter_mut().for_each(|(_, form)| form.visit(visit)),
            Body::Texts { .. } | Body::Whole => {}
        }
    }

    /// The forms of its fields or variants, in order. The form of an optional one is nullable.
    pub(crate) fn members(&self) -> Vec<Form> {
        match &self.body {
            Body::Struct(body) => {
                let held = |field: &Field| match (field.required, &field.form) {
                    (true, form) => form.clone(),
                    (false, Form::Null) => Form::Nullable(Box::new(Form::Null)),
                    (false, form) => form.clone().nullable(),
                };
                let extra = body.extra.iter().map(|extra| Form::Map(Box::new(extra.clone())));
                body.fields.iter().map(held).chain(extra).collect()
            }
            Body::Tagged { variants, .. } => variants.iter().map(|(_, form)| form.clone()).collect(),
            Body::Kinds(variants) => variants.iter().map(|(_, form)| form.clone()).collect(),
            Body::Texts { .. } => Vec::new(),
            Body::Whole => vec![Form::Any],
        }
    }

    /// The definition as a JSON Schema: a struct of its members with neutral names, so that typify decides
    /// only their types.
    fn schema(&self) -> Value {
        let members = self.members().into_iter().enumerate();
        let properties: serde_json::Map<String, Value> =
            members.map(|(index, form)| (member_name(index), form.schema())).collect();
        let required: Vec<&String> = properties.keys().collect();
        json!({
            "type": "object", "required": required, "properties": properties, "additionalProperties": false
        })
    }
}

/// All definitions as one schema document.
pub(crate) fn document(definitions: &[Definition]) -> Value {
    let entries = definitions.iter().enumerate();
    let entries: serde_json::Map<String, Value> =
        entries.map(|(index, definition)| (definition_name(index), definition.schema())).collect();
    json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": entries })
}

/// The name of a definition in the [`document`].
pub(crate) fn definition_name(index: usize) -> String {
    format!("D{index}")
}

/// The name of a member of a definition in the [`document`].
pub(crate) fn member_name(index: usize) -> String {
    format!("p{index}")
}
