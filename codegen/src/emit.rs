//! Rust code from a model.
//!
//! The code is lean on purpose: shared code is in `bridge::convert`. A snippet compiles nothing generic again
//! except the few lines that accept lenient arguments.

mod accessors;
mod calls;
mod syntax;
mod types;
mod unions;

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::ToolModel;
use crate::text::clean;

/// The root file of a crate with the sources of some tools and their types.
pub(crate) fn root<'a>(server: &str, sources: impl IntoIterator<Item = &'a str>) -> String {
    let server = clean(server, 80);
    let mut text = format!(
        "// Generated from the tools of the MCP server {server:?}. Do not edit: changes are lost.\n\n\
         #![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]\n"
    );
    for source in sources {
        text.push('\n');
        text.push_str(source);
    }
    text
}

/// The calls of one tool.
pub(crate) fn source(server: &str, tool: &ToolModel) -> String {
    let names = types::names(tool);
    let calls = calls::calls(server, tool);
    text(quote! { #names #calls })
}

/// The types of a server, by their index. `tools` are all tools of the server.
pub(crate) fn types(server: &str, tools: &[ToolModel]) -> Vec<String> {
    // Any tool has the names of all types.
    tools.first().map(|tool| types::types(server, tool).into_iter().map(text).collect()).unwrap_or_default()
}

fn text(tokens: TokenStream) -> String {
    let text = tokens.to_string();
    // The tokens always parse. If they ever did not, the compiler would report the place better than an error
    // here.
    syn::parse2(tokens).map_or(text, |file| prettyplease::unparse(&file))
}
