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
    /// What the names of its types begin with.
    pub(crate) prefix: String,
    /// Its types by the index that [`FieldType::Named`] holds; none for those that nothing leads to.
    pub(crate) types: Vec<Option<TypeModel>>,
    /// The type of the input.
    pub(crate) input: usize,
    pub(crate) output: Output,
    /// Whether the output was inferred from answers.
    pub(crate) observed: bool,
    /// How many places of the schemas want a type.
    pub(crate) places: usize,
    /// Those that became plain values.
    pub(crate) fallbacks: Vec<Fallback>,
    /// The tool as its server describes it, in tokens.
    pub(crate) schema_tokens: usize,
}

/// What a tool answers with.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// `bridge::ToolResult`: the tool doesn't say.
    Untyped,
    /// One of its types, by the index.
    Type,
    /// Another type, which gets a name as an alias.
    Alias(FieldType),
}

impl ToolModel {
    /// The type that [`FieldType::Named`] means.
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

    /// How much of the schemas became types, in the code and signature that came of it.
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
