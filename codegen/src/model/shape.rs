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
    /// The field for all other properties.
    pub(crate) extra: Option<ExtraModel>,
    /// Whether a property that does not fit is read as an absent one, and kept as one of the others.
    pub(crate) unchecked: bool,
}

/// The field for all properties that a struct does not declare.
#[derive(Debug)]
pub(crate) struct ExtraModel {
    pub(crate) name: String,
    /// The type of a property.
    pub(crate) value: FieldType,
    /// Whether the schema names them. Otherwise, the field is only there because nothing of an answer is lost, and is
    /// not shown for each type.
    pub(crate) described: bool,
    /// Whether it keeps how an answer was written.
    pub(crate) received: bool,
}

impl StructModel {
    /// Whether the schema describes no fields, not even constants.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.constants.is_empty() && self.described_extra().is_none()
    }

    /// The field for other properties, if the schema describes them.
    pub(crate) fn described_extra(&self) -> Option<&ExtraModel> {
        self.extra.as_ref().filter(|extra| extra.described)
    }
}

#[derive(Debug)]
pub(crate) struct FieldModel {
    /// The name in JSON.
    pub(crate) key: String,
    /// The name in Rust.
    pub(crate) name: String,
    pub(crate) required: bool,
    /// Whether null can be sent besides leaving it out. Then its type is an `Option` of an `Option`, or of any value.
    pub(crate) nullable: bool,
    pub(crate) field_type: FieldType,
    pub(crate) note: Note,
}

/// Whether values of a type are sent to tools and received from them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direction {
    pub(super) sent: bool,
    pub(super) received: bool,
    /// Whether received values that do not fit are accepted.
    pub(super) unchecked: bool,
}

/// The shape of a definition. Results may contain values and properties that the schema does not list.
pub(super) fn shape(body: &Body, members: &[FieldType], direction: Direction) -> Shape {
    let mut namespace = Namespace::default();
    let open = direction.received;
    match body {
        Body::Struct(body) => Shape::Struct(struct_model(body, members, direction, &mut namespace)),
        Body::Whole => Shape::Whole,
        Body::Texts { values, loose } => {
            let names = assign(values.iter().map(String::as_str), &mut namespace, camel);
            let variants = values
                .iter()
                .map(|value| (names.get(value).cloned().unwrap_or_default(), value.clone()))
                .collect();
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

fn struct_model(
    body: &Struct,
    members: &[FieldType],
    direction: Direction,
    namespace: &mut Namespace,
) -> StructModel {
    let names = assign(body.fields.iter().map(|field| field.key.as_str()), namespace, snake);
    let unchecked = direction.received && direction.unchecked;
    let field = |(field, field_type): (&Field, &FieldType)| {
        // A reader does not distinguish null from absence.
        let nullable = field.nullable && !direction.received;
        FieldModel {
            key: field.key.clone(),
            name: names.get(&field.key).cloned().unwrap_or_default(),
            required: field.required && !unchecked,
            nullable,
            field_type: match field_type {
                FieldType::Value if !field.required => FieldType::Option(Box::new(FieldType::Value)),
                other if nullable => FieldType::Option(Box::new(other.clone())),
                FieldType::Option(_) => field_type.clone(),
                other if unchecked => FieldType::Option(Box::new(other.clone())),
                other => other.clone(),
            },
            note: field.note.clone(),
        }
    };
    let fields = body.fields.iter().zip(members).map(field).collect();
    let described = match members.get(body.fields.len()) {
        Some(FieldType::Map(value)) => Some((**value).clone()),
        _ => None,
    };
    // What is only sent stays writable as a literal, and a closed object is sent as it was declared.
    let kept = direction.received && !(direction.sent && body.closed) || unchecked;
    let extra = (described.is_some() || kept).then(|| ExtraModel {
        name: namespace.take("extra"),
        described: described.is_some(),
        value: described.filter(|_| !unchecked).unwrap_or(FieldType::Value),
        received: direction.received,
    });
    // A constant that does not fit is one of the other properties.
    let constants = if unchecked { Vec::new() } else { body.constants.clone() };
    StructModel { fields, constants, extra, unchecked }
}
