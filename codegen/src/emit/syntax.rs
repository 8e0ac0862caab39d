//! Documentation and types in the syntax of bindings, for both types and calls.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::model::{ExtraModel, Output, ToolModel};
use crate::text::clean;
use crate::typing::FieldType;

/// The longest documentation that is compiled, in characters.
const MAX_DOC: usize = 160;

/// A documentation comment, if there is a text.
pub(super) fn doc(text: Option<&str>) -> TokenStream {
    let text = text.map(|text| clean(text, MAX_DOC)).filter(|text| !text.is_empty());
    match text {
        Some(text) => {
            let text = format!(" {text}");
            quote! { #[doc = #text] }
        }
        None => TokenStream::new(),
    }
}

/// A type in the bindings of its tool.
pub(super) fn type_tokens(field_type: &FieldType, tool: &ToolModel) -> TokenStream {
    let inner = |inner: &FieldType| type_tokens(inner, tool);
    match field_type {
        FieldType::Value => quote! { bridge::convert::Value },
        FieldType::Unit => quote! { () },
        FieldType::Bool => quote! { bool },
        FieldType::I64 => quote! { i64 },
        FieldType::U64 => quote! { u64 },
        FieldType::F64 => quote! { f64 },
        FieldType::String => quote! { String },
        FieldType::Scalar => quote! { bridge::Scalar },
        FieldType::Vec(item) => {
            let item = inner(item);
            quote! { Vec<#item> }
        }
        FieldType::Map(value) => {
            let value = inner(value);
            quote! { bridge::convert::IndexMap<String, #value> }
        }
        FieldType::Tuple(items) => {
            let items = items.iter().map(inner);
            quote! { (#(#items,)*) }
        }
        FieldType::Option(some) => {
            let some = inner(some);
            quote! { Option<#some> }
        }
        FieldType::Box(content) => {
            let content = inner(content);
            quote! { Box<#content> }
        }
        FieldType::Named(index) => {
            let name = format_ident!("{}", tool.type_name(*index));
            quote! { #name }
        }
    }
}

/// The type of the field for all other properties.
pub(super) fn extra_tokens(extra: &ExtraModel, tool: &ToolModel) -> TokenStream {
    let value = type_tokens(&extra.value, tool);
    match (extra.received, &extra.value) {
        (true, FieldType::Value) => quote! { bridge::Extra },
        (true, _) => quote! { bridge::Extra<#value> },
        (false, _) => quote! { bridge::convert::IndexMap<String, #value> },
    }
}

/// The type of a tool's result.
pub(super) fn output_tokens(tool: &ToolModel) -> TokenStream {
    if tool.output == Output::Untyped {
        return quote! { bridge::ToolResult };
    }
    let name = format_ident!("{}Output", tool.prefix);
    quote! { #name }
}
