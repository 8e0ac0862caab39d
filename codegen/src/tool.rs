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
    /// Facts about its answers besides the output schema.
    pub answers: Answers,
}

/// Facts about a tool's answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Answers {
    /// Where the output schema is from.
    pub source: SchemaSource,
    /// Whether an answer that does not fit the output schema is accepted.
    pub unchecked: bool,
    /// The types of content blocks that observed answers have besides what the output schema describes.
    pub content: Vec<String>,
}

/// Where an output schema is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SchemaSource {
    /// The server declares it.
    #[default]
    Declared,
    /// It was inferred from answers.
    Observed,
    /// The server declares it, and answers did not fit.
    Corrected,
}

impl Answers {
    /// Answers whose schema was inferred.
    #[must_use]
    pub fn observed() -> Self {
        Answers { source: SchemaSource::Observed, ..Answers::default() }
    }
}
