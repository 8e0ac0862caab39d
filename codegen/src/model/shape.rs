//! The Rust shape of a tool's types: fields and variants with their names.

use serde_json::Value;

use crate::form::{Body, Field, Form, Kind, Note, Struct};
use crate::names::{Namespace, assign, camel, snake};
use crate::typing::FieldType;

/// A generated type.
#[derive(Debug)]
pub(crate) struct TypeModel {
    pub(crate) name: String,
    /// The schema's description of the type itself.
    pub(crate) description: Option<String>,
    pub(crate) shape: Shape,
    /// The types that it contains, in the order of its members.
    pub(crate) parts: Vec<usize>,
    /// Whether an input is or contains it.
    pub(crate) sent: bool,
    /// Whether an output is or contains it.
    pub(crate) received: bool,
    /// Whether another type contains it.
    pub(crate) held: bool,
    /// The number of tools that use it.
    pub(crate) tools: usize,
    /// Whether it is the input of a tool.
    pub(crate) is_input: bool,
    /// Whether it is an output that no schema names.
    pub(crate) is_plain_output: bool,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Struct(StructModel),
    /// An enum of texts: variants with their texts. `other` is the variant for all other texts.
    Texts {
        variants: Vec<(String, String)>,
        other: Option<String>,
    },
    /// An enum of objects with a tag: variant, tag and type.
    Tagged {
        tag: String,
        variants: Vec<(String, String, FieldType)>,
        other: Option<String>,
    },
    /// An enum by the JSON type of the value.
    Kinds {
        variants: Vec<(String, Kind, FieldType)>,
        other: Option<String>,
    },
    /// A struct around one value, the whole input.
    Whole,
    /// Another name of a type, by its index.
    Alias(usize),
}

impl TypeModel {
    /// Another name of a type.
    pub(super) fn alias(name: String, of: usize) -> Self {
        TypeModel {
            name,
            description: None,
            shape: Shape::Alias(of),
            parts: vec![of],
            sent: false,
            received: false,
            held: false,
            tools: 0,
            is_input: false,
            is_plain_output: false,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct StructModel {
    pub(crate) fields: Vec<FieldModel>,
    pub(crate) constants: Vec<(String, Value)>,
    /// Name and type of the field for all other properties.
    pub(crate) extra: Option<(String, FieldType)>,
}

impl StructModel {
    /// Whether it has no fields, not even constants.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.constants.is_empty() && self.extra.is_none()
    }
}

#[derive(Debug)]
pub(crate) struct FieldModel {
    /// The name in JSON.
    pub(crate) key: String,
    /// The name in Rust.
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) field_type: FieldType,
    pub(crate) note: Note,
}

/// The shape of a definition. `open` if results may contain values that the schema does not list.
pub(super) fn shape(body: &Body, members: &[FieldType], open: bool) -> Shape {
    let mut namespace = Namespace::default();
    match body {
        Body::Struct(body) => Shape::Struct(struct_model(body, members, &mut namespace)),
        Body::Whole => Shape::Whole,
        Body::Texts { values, loose } => {
            let names = assign(values.iter().map(String::as_str), &mut namespace, camel);
            let variant = |value: &String| (names.get(value).cloned().unwrap_or_default(), value.clone());
            let variants = values.iter().map(variant).collect();
            Shape::Texts { variants, other: other(open || *loose, &mut namespace) }
        }
        Body::Tagged { tag, variants } => {
            let values = variants.iter().map(|(value, _)| value.as_str());
            let names = assign(values, &mut namespace, camel);
            let variant = |((value, _), field_type): (&(String, Form), &FieldType)| {
                (names.get(value).cloned().unwrap_or_default(), value.clone(), field_type.clone())
            };
            let variants = variants.iter().zip(members).map(variant).collect();
            Shape::Tagged { tag: tag.clone(), variants, other: other(open, &mut namespace) }
        }
        Body::Kinds(variants) => {
            let variant = |((kind, _), field_type): (&(Kind, Form), &FieldType)| {
                (namespace.take(&format!("{kind:?}")), *kind, field_type.clone())
            };
            let variants = variants.iter().zip(members).map(variant).collect();
            Shape::Kinds { variants, other: other(open, &mut namespace) }
        }
    }
}

/// The variant for values that the schema does not list, if results may contain some.
fn other(open: bool, namespace: &mut Namespace) -> Option<String> {
    let name = if namespace.is_free("Other") { "Other" } else { "Unlisted" };
    open.then(|| namespace.take(name))
}

fn struct_model(body: &Struct, members: &[FieldType], namespace: &mut Namespace) -> StructModel {
    let names = assign(body.fields.iter().map(|field| field.key.as_str()), namespace, snake);
    let field = |(field, field_type): (&Field, &FieldType)| FieldModel {
        key: field.key.clone(),
        name: names.get(&field.key).cloned().unwrap_or_default(),
        required: field.required,
        // Null and absent are equal if the type is any value, so typify adds no `Option`.
        field_type: match field_type {
            FieldType::Value if !field.required => FieldType::Option(Box::new(FieldType::Value)),
            other => other.clone(),
        },
        note: field.note.clone(),
    };
    let fields = body.fields.iter().zip(members).map(field).collect();
    let extra = members.get(body.fields.len()).cloned();
    StructModel {
        fields,
        constants: body.constants.clone(),
        extra: extra.map(|field_type| (namespace.take("extra"), field_type)),
    }
}
