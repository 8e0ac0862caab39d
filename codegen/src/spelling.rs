//! Types, calls and facts as readable text, for both signatures and documentation.

use crate::form::Fact;
use crate::model::{Accessor, ExtraModel, FieldModel, Output, StructModel, ToolModel};
use crate::typing::FieldType;

/// Maximum number of required arguments by position. Above this, the call with named fields is better.
const MAX_BY_POSITION: usize = 4;

/// A type in the syntax of a snippet.
pub(crate) fn type_text(field_type: &FieldType, tool: &ToolModel) -> String {
    let inner = |inner: &FieldType| type_text(inner, tool);
    match field_type {
        FieldType::Value => "Value".to_owned(),
        FieldType::Unit => "()".to_owned(),
        FieldType::Bool => "bool".to_owned(),
        FieldType::I64 => "i64".to_owned(),
        FieldType::U64 => "u64".to_owned(),
        FieldType::F64 => "f64".to_owned(),
        FieldType::String => "String".to_owned(),
        FieldType::Scalar => "Scalar".to_owned(),
        FieldType::Vec(item) => format!("Vec<{}>", inner(item)),
        FieldType::Map(value) => format!("IndexMap<String, {}>", inner(value)),
        FieldType::Tuple(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
        FieldType::Option(some) => format!("Option<{}>", inner(some)),
        FieldType::Box(content) => format!("Box<{}>", inner(content)),
        FieldType::Named(index) => tool.type_name(*index).to_owned(),
    }
}

impl Accessor {
    /// The type that it returns.
    pub(crate) fn text(&self, tool: &ToolModel) -> String {
        let text = match &self.field_type {
            FieldType::String => "&str".to_owned(),
            FieldType::Vec(item) => format!("&[{}]", type_text(item, tool)),
            FieldType::Box(content) => format!("&{}", type_text(content, tool)),
            copied if copied.is_copied() => type_text(copied, tool),
            other => format!("&{}", type_text(other, tool)),
        };
        if self.optional { format!("Option<{text}>") } else { text }
    }
}

/// The type of the field for all other properties.
pub(crate) fn extra_text(extra: &ExtraModel, tool: &ToolModel) -> String {
    format!("IndexMap<String, {}>", type_text(&extra.value, tool))
}

/// The type of a call's result.
pub(crate) fn output_text(tool: &ToolModel) -> String {
    match &tool.output {
        Output::Untyped => "ToolResult".to_owned(),
        Output::Type(index) => tool.type_name(*index).to_owned(),
        Output::Alias(alias) => type_text(alias, tool),
    }
}

/// Whether to show the call with named fields first: there are many required arguments, or two neighbours
/// could be swapped without a compiler error.
pub(crate) fn is_literal_first(body: &StructModel) -> bool {
    let required: Vec<&FieldModel> = body.fields.iter().filter(|field| field.required).collect();
    required.len() > MAX_BY_POSITION
        || required
            .iter()
            .zip(required.iter().skip(1))
            .any(|(one, next)| swaps(&one.field_type, &next.field_type))
}

/// Whether arguments of the two types accept each other's values.
fn swaps(one: &FieldType, other: &FieldType) -> bool {
    match (one, other) {
        // An `Option` parameter accepts an `Option` or the bare value.
        (FieldType::Option(one) | FieldType::Box(one), other) => swaps(one, other),
        (one, FieldType::Option(other) | FieldType::Box(other)) => swaps(one, other),
        (FieldType::I64 | FieldType::U64, FieldType::I64 | FieldType::U64) => true,
        (FieldType::Vec(one), FieldType::Vec(other)) | (FieldType::Map(one), FieldType::Map(other)) => {
            swaps(one, other)
        }
        (FieldType::Tuple(one), FieldType::Tuple(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| swaps(one, other))
        }
        _ => one == other,
    }
}

/// A fact as text: `at least 1`, `pattern ^a`.
pub(crate) fn fact_text(fact: &Fact) -> String {
    format!("{}{}", fact.words, fact.value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_accept_each_others_values_swap() {
        let list = |inner: FieldType| FieldType::Vec(Box::new(inner));
        let check = |one: &FieldType, other: &FieldType, expected: bool| {
            assert_eq!((swaps(one, other), swaps(other, one)), (expected, expected), "{one:?} {other:?}");
        };
        check(&FieldType::String, &FieldType::String, true);
        check(&FieldType::String, &FieldType::Option(Box::new(FieldType::String)), true);
        check(&FieldType::I64, &FieldType::U64, true);
        check(&FieldType::I64, &FieldType::F64, false);
        check(&FieldType::I64, &FieldType::String, false);
        check(&FieldType::Named(1), &FieldType::Named(1), true);
        check(&FieldType::Named(1), &FieldType::Named(2), false);
        check(&list(FieldType::I64), &list(FieldType::U64), true);
        check(&list(FieldType::String), &FieldType::String, false);
        check(&FieldType::Value, &FieldType::Value, true);
        check(&FieldType::Value, &FieldType::String, false);
    }
}
