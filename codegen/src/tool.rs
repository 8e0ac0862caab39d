//! What code is generated from: a server and its tools, as the server describes them.

use serde_json::Value;

/// An MCP server and the tools that code is wanted for.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The name in the configuration.
    pub name: String,
    /// The tools; their order does not matter.
    pub tools: Vec<Tool>,
}

/// A tool as its server describes it (MCP, "Tools", "Data Types").
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name that the server knows it by.
    pub name: String,
    /// What it does, in the server's words; untrusted.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured content, if it says so.
    pub output_schema: Option<Value>,
    /// Whether the output schema was inferred from answers, not declared by the server.
    pub observed: bool,
}
