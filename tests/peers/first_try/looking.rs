//! Checks what a snippet has written, by tool calls after it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::product::{Checked, Product};

/// A tool call, and the texts that its answer must contain.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lookup {
    server: String,
    tool: String,
    arguments: Value,
    says: Vec<String>,
}

impl Lookup {
    /// Calls the tool in a new process of the server. `servers` are the configuration entries.
    ///
    /// # Errors
    /// If the call fails, or if a text is missing from the answer.
    pub(super) async fn check(&self, product: &Product, servers: &Value) -> Checked<()> {
        let Self { server, tool, arguments, says } = self;
        let config = json!({ "mcpServers": { server.as_str(): servers[server] } });
        let answer = product.call(&config, server, tool, arguments).await?;
        if answer["success"] != true {
            return Err(format!("{server} refuses {tool} {arguments}: {answer}"));
        }
        let output = answer["output"].as_str().unwrap_or_default();
        match says.iter().find(|text| !output.contains(text.as_str())) {
            Some(text) => Err(format!("{tool} {arguments} does not say {text:?} afterwards: {output}")),
            None => Ok(()),
        }
    }
}
