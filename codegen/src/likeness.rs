//! Numbers for types: types of a server with the same shape share one, because their JSON values are the
//! same.
//!
//! Equal types are one type, but types can differ in what their values do not show, such as an input, which is a type
//! of its own. With equal numbers, one converts to the other (`convert/shape.rs` of the bridge).

use std::fmt::Write as _;

use crate::model::{Shape, StructModel, ToolModel};
use crate::typing::FieldType;

/// The number of each of a server's types, by the index in [`FieldType::Named`].
pub(crate) fn numbers(server: &str, tool: &ToolModel) -> Vec<u64> {
    let mut shapes = Shapes { tool, found: vec![Found::No; tool.types.len()] };
    (0..tool.types.len())
        .map(|index| {
            let text = match shapes.of(index) {
                Some(shape) => format!("shape {server:?} {shape}"),
                // A recursive type matches no other type.
                None => format!("type {server:?} {}", tool.type_name(index)),
            };
            hash(&text)
        })
        .collect()
}

/// The first 8 bytes of a BLAKE3 hash.
fn hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The state of a type's shape.
#[derive(Clone)]
enum Found {
    No,
    /// It is being determined.
    Open,
    /// The shape as a hash, because a type may be part of many others. `None` for a type that is recursive or
    /// leads to a recursive one.
    Done(Option<u64>),
}

struct Shapes<'a> {
    tool: &'a ToolModel,
    found: Vec<Found>,
}

impl Shapes<'_> {
    fn of(&mut self, index: usize) -> Option<u64> {
        match self.found.get(index) {
            Some(Found::Done(shape)) => return *shape,
            Some(Found::No) => {}
            Some(Found::Open) | None => return None,
        }
        self.found[index] = Found::Open;
        let tool = self.tool;
        let model = tool.types.get(index);
        let shape = model.and_then(|model| self.shape(&model.shape)).map(|text| hash(&text));
        self.found[index] = Found::Done(shape);
        shape
    }

    /// The possible JSON values, independent of the names in Rust.
    fn shape(&mut self, shape: &Shape) -> Option<String> {
        Some(match shape {
            Shape::Struct(body) => self.structure(body)?,
            Shape::Texts { variants, other } => {
                let mut texts: Vec<&String> = variants.iter().map(|(_, text)| text).collect();
                texts.sort_unstable();
                format!("texts {texts:?} {}", other.is_some())
            }
            Shape::Tagged { tag, variants, other } => {
                let mut all = Vec::new();
                for (_, value, field_type) in variants {
                    all.push(format!("{value:?}: {}", self.kind(field_type)?));
                }
                all.sort_unstable();
                format!("tagged {tag:?} {all:?} {}", other.is_some())
            }
            Shape::Kinds { variants, other } => {
                let mut all = Vec::new();
                for (_, kind, field_type) in variants {
                    all.push(format!("{kind:?}: {}", self.kind(field_type)?));
                }
                all.sort_unstable();
                format!("kinds {all:?} {}", other.is_some())
            }
            Shape::Whole => "whole".to_owned(),
            Shape::Alias(of) => return self.kind(&FieldType::Named(*of)),
        })
    }

    fn structure(&mut self, body: &StructModel) -> Option<String> {
        let mut members = Vec::new();
        for field in &body.fields {
            members.push(format!("{:?} {} {}", field.key, field.required, self.kind(&field.field_type)?));
        }
        members.extend(body.constants.iter().map(|(key, value)| format!("{key:?} = {value}")));
        members.sort_unstable();
        let mut text = format!("struct {members:?}");
        if let Some(extra) = body.described_extra() {
            let extra = self.kind(&extra.value)?;
            // Writing to a string does not fail.
            let _ = write!(text, " and {extra}");
        }
        Some(text)
    }

    fn kind(&mut self, field_type: &FieldType) -> Option<String> {
        Some(match field_type {
            FieldType::Named(index) => format!("#{:016x}", self.of(*index)?),
            FieldType::Vec(item) => format!("[{}]", self.kind(item)?),
            FieldType::Map(value) => format!("{{{}}}", self.kind(value)?),
            // Null is not another value than absence for a type that is received.
            FieldType::Option(some) if matches!(**some, FieldType::Option(_)) => self.kind(some)?,
            FieldType::Option(some) => format!("{}?", self.kind(some)?),
            FieldType::Box(content) => self.kind(content)?,
            FieldType::Tuple(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.kind(item)).collect();
                format!("({})", items?.join(", "))
            }
            plain => format!("{plain:?}"),
        })
    }
}
