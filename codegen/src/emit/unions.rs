//! Values that the enums of a tool's arguments accept besides themselves: those of their variants.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::syntax::type_tokens;
use crate::form::Kind;
use crate::model::{Shape, ToolModel, TypeModel};
use crate::typing::FieldType;

/// The conversions into an enum that is sent.
pub(super) fn union(model: &TypeModel, tool: &ToolModel) -> TokenStream {
    let name = format_ident!("{}", model.name);
    let variants = if model.sent { variants(model, tool) } else { Vec::new() };
    let union =
        (!variants.is_empty()).then(|| quote! { bridge::generated_union! { #name { #(#variants),* } } });
    union.unwrap_or_default()
}

/// The variants whose values are accepted, each with its kind. A type of several variants stands for none of them.
fn variants(model: &TypeModel, tool: &ToolModel) -> Vec<TokenStream> {
    let variants: Vec<(&String, Option<Kind>, &FieldType)> = match &model.shape {
        Shape::Tagged { variants, .. } => variants.iter().map(|(name, _, held)| (name, None, held)).collect(),
        Shape::Kinds { variants, .. } => {
            variants.iter().map(|(name, kind, held)| (name, Some(*kind), held)).collect()
        }
        _ => return Vec::new(),
    };
    let is_alone = |held: &FieldType| variants.iter().filter(|(.., other)| *other == held).count() == 1;
    variants
        .iter()
        .filter_map(|(name, kind, held)| {
            let accepted = format_ident!("{}", accepted(*kind, held, tool).filter(|_| is_alone(held))?);
            let (name, held) = (format_ident!("{name}"), type_tokens(held, tool));
            Some(quote! { #accepted #name(#held) })
        })
        .collect()
}

/// The macro's name for the values that stand for a variant.
fn accepted(kind: Option<Kind>, held: &FieldType, tool: &ToolModel) -> Option<&'static str> {
    let shape = match held {
        FieldType::Named(index) => tool.types.get(*index).map(|model| &model.shape),
        _ => None,
    };
    match (held, shape) {
        (FieldType::String, _) => Some("text"),
        (FieldType::I64 | FieldType::U64, _) => Some("integer"),
        (FieldType::F64, _) => Some("number"),
        (FieldType::Bool, _) => Some("boolean"),
        (FieldType::Vec(_), _) => Some("list"),
        (FieldType::Map(_), _) => Some("map"),
        (_, Some(Shape::Texts { .. })) if kind == Some(Kind::Text) => Some("one_of_texts"),
        (_, Some(Shape::Struct(_) | Shape::Tagged { .. })) => Some("object"),
        _ => None,
    }
}
