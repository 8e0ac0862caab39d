//! The description of the tool that runs snippets.

use crate::Bindings;

/// What a model reads before it writes a snippet: how to write one, and the signatures of all tools.
#[must_use]
pub fn description(servers: &[Bindings]) -> String {
    let signatures = servers.iter().flat_map(|server| &server.tools).map(|tool| tool.signature.as_str());
    signatures.collect::<Vec<_>>().join("\n\n")
}
