//! A tool with its names and types.

use super::shape::{Shape, StructModel, TypeModel};
use crate::report::{Fallback, Fidelity};
use crate::tokens;
use crate::typing::FieldType;

/// A tool.
#[derive(Debug)]
pub(crate) struct ToolModel {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) function: String,
    pub(crate) id: String,
    /// The prefix of its type names.
    pub(crate) prefix: String,
    /// Its types, by the index in [`FieldType::Named`]. `None` for unreachable ones.
    pub(crate) types: Vec<Option<TypeModel>>,
    /// The index of the input's type.
    pub(crate) input: usize,
    pub(crate) output: Output,
    /// Whether the output schema was inferred from results.
    pub(crate) observed: bool,
    /// Number of places in the schemas that need a type.
    pub(crate) places: usize,
    /// The places that became plain JSON values.
    pub(crate) fallbacks: Vec<Fallback>,
    /// The size of the tool as its server describes it, in tokens.
    pub(crate) schema_tokens: usize,
}

/// The result type of a tool.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// `bridge::ToolResult`, because the tool declares no output.
    Untyped,
    /// One of its types, the one named `Output`.
    Type,
    /// Another type, named by an alias.
    Alias(FieldType),
}

impl ToolModel {
    /// The name of the type that [`FieldType::Named`] refers to.
    pub(crate) fn type_name(&self, index: usize) -> &str {
        self.types.get(index).and_then(Option::as_ref).map_or("", |found| found.name.as_str())
    }

    /// The input, if it has fields.
    pub(crate) fn input_fields(&self) -> Option<&StructModel> {
        match self.types.get(self.input).and_then(Option::as_ref).map(|found| &found.shape) {
            Some(Shape::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    /// How much of the schemas became types, for the given source and signature.
    pub(crate) fn fidelity(&self, source: &str, signature: &str) -> Fidelity {
        Fidelity {
            properties: self.places,
            typed: self.places.saturating_sub(self.fallbacks.len()),
            fallbacks: self.fallbacks.clone(),
            schema_tokens: self.schema_tokens,
            signature_tokens: tokens(signature),
            lines: source.lines().count(),
        }
    }
}
