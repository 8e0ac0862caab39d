//! The input of code generation: a server and its tools, as the server describes them.

use serde_json::Value;

/// An MCP server and the tools to generate code for.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The name in the configuration.
    pub name: String,
    /// The tools, in any order.
    pub tools: Vec<Tool>,
}

/// A tool as its server describes it (MCP, "Tools", "Data Types").
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name at the server.
    pub name: String,
    /// The server's description. Untrusted.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured content, if declared or observed.
    pub output_schema: Option<Value>,
    /// Whether the output schema was inferred from results, not declared by the server.
    pub observed: bool,
}
