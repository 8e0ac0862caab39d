//! Rust code from a model.
//!
//! The code is lean on purpose: what can be shared lies in `bridge::convert`, and nothing is generic that
//! a snippet would have to compile again, except for the few lines that take lenient arguments.

mod calls;
mod types;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::model::{Output, ToolModel};
use crate::text::clean;
use crate::typing::FieldType;

/// The longest documentation that is compiled, in characters.
const LONGEST_DOC: usize = 160;

/// The root file of a crate with the sources of some tools.
pub(crate) fn root<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> String {
    let server = clean(server, 80);
    let mut text = format!(
        "// Generated from the tools of the MCP server {server:?}. Do not edit: changes are lost.\n\n\
         #![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]\n"
    );
    for tool in tools {
        text.push('\n');
        text.push_str(tool);
    }
    text
}

/// Everything of one tool.
pub(crate) fn source(server: &str, tool: &ToolModel) -> String {
    let types = types::types(server, tool);
    let calls = calls::calls(server, tool);
    let tokens = quote! { #types #calls };
    let text = tokens.to_string();
    // What we write parses; if it ever did not, the compiler would say where better than we could.
    syn::parse2(tokens).map_or(text, |file| prettyplease::unparse(&file))
}

/// A documentation comment, if there is anything to say.
fn doc(text: Option<&str>) -> TokenStream {
    let text = text.map(|text| clean(text, LONGEST_DOC)).filter(|text| !text.is_empty());
    match text {
        Some(text) => {
            let text = format!(" {text}");
            quote! { #[doc = #text] }
        }
        None => TokenStream::new(),
    }
}

/// A type as it is written in the bindings of its tool.
fn type_tokens(field_type: &FieldType, tool: &ToolModel) -> TokenStream {
    let inner = |inner: &FieldType| type_tokens(inner, tool);
    match field_type {
        FieldType::Value => quote! { bridge::convert::Value },
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
            quote! { std::collections::BTreeMap<String, #value> }
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

/// The type of a tool's answer.
fn output_tokens(tool: &ToolModel) -> TokenStream {
    if tool.output == Output::Untyped {
        return quote! { bridge::ToolResult };
    }
    let name = format_ident!("{}Output", tool.prefix);
    quote! { #name }
}
