//! Rust code from a model.
//!
//! The code is lean on purpose: what can be shared lies in `bridge::convert`, and nothing is generic that
//! a snippet would have to compile again, except for the few lines that take lenient arguments.

mod calls;
mod syntax;
mod types;

use quote::quote;

use crate::model::ToolModel;
use crate::text::clean;

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
