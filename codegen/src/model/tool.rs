//! A tool with its names and types.

use std::rc::Rc;

use super::shape::{Shape, StructModel, TypeModel};
use crate::Answers;
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
    /// The types of the server, by the index in [`FieldType::Named`].
    pub(crate) types: Rc<Vec<TypeModel>>,
    /// The types that its input and output are and contain, the input first.
    pub(crate) uses: Vec<usize>,
    /// Other names of its types, which only this tool gives them.
    pub(crate) names: Vec<(String, usize)>,
    /// The index of the input's type.
    pub(crate) input: usize,
    pub(crate) output: Output,
    /// Facts about its answers.
    pub(crate) answers: Answers,
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
    /// A type.
    Type(usize),
    /// A type without a name of its own, named by an alias.
    Alias(FieldType),
}

impl ToolModel {
    /// The name of the type that [`FieldType::Named`] refers to.
    pub(crate) fn type_name(&self, index: usize) -> &str {
        self.types.get(index).map_or("", |found| found.name.as_str())
    }

    /// The input, if it has fields.
    pub(crate) fn input_fields(&self) -> Option<&StructModel> {
        match self.types.get(self.input).map(|found| &found.shape) {
            Some(Shape::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    /// The types other than its input, in the order in which a reader meets them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &TypeModel> {
        let parts = self.uses.iter().filter(|index| **index != self.input);
        parts.filter_map(|index| self.types.get(*index))
    }

    /// The output, if it is a struct that is shown without a name: no schema names it, and showing it at each tool takes
    /// no more room.
    pub(crate) fn bare_output(&self) -> Option<&StructModel> {
        /// More fields are easier to read as a type.
        const MAX_FIELDS: usize = 4;
        let Output::Type(index) = self.output else { return None };
        let model = self.types.get(index).filter(|model| model.is_plain_output && !model.held)?;
        let Shape::Struct(body) = &model.shape else { return None };
        let fits = if model.tools > 1 { body.fields.len() == 1 } else { body.fields.len() <= MAX_FIELDS };
        (fits && !body.is_empty()).then_some(body)
    }

    /// Measures how much of the schemas became types, given the lines of code and the signature.
    pub(crate) fn fidelity(&self, lines: usize, signature: &str) -> Fidelity {
        Fidelity {
            properties: self.places,
            typed: self.places.saturating_sub(self.fallbacks.len()),
            fallbacks: self.fallbacks.clone(),
            schema_tokens: self.schema_tokens,
            signature_tokens: tokens(signature),
            lines,
        }
    }
}
