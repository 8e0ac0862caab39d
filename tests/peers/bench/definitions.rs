//! The size of the tool definitions that a client sends to its model.

use mcp::Listing;
use serde_json::{Value, json};

use crate::Checked;

/// Estimated number of tokens of the tokeniser `o200k_base` (`codegen::tokens`).
pub(crate) type Tokens = usize;

/// The numbers of tools that peers offer besides those of the everything server: `catalog-server --tools`.
pub(crate) const CATALOGS: [usize; 2] = [250, 1000];

/// The tokens of a list: of each tool, the members that clients pass to their model. Fails if the client dropped a
/// tool, which it does with one of more than 256 KiB.
pub(crate) fn tokens(listing: &Listing) -> Checked<Tokens> {
    if let Some(warning) = listing.warnings.first() {
        return Err(warning.clone());
    }
    let read = |tool: &mcp::Tool| {
        let definition = tool.definition();
        json!({ "name": tool.name, "description": definition["description"].as_str(), "inputSchema": definition["inputSchema"] })
    };
    Ok(codegen::tokens(&Value::Array(listing.tools.iter().map(read).collect()).to_string()))
}
