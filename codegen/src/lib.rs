//! From the tools of an MCP server to Rust: types, conversions and stubs, and the short form of them
//! that a model reads.
//!
//! Pure: text in, text out. Where the tools come from, how the code is compiled and how a call travels
//! is decided elsewhere; the code here is written against the crate `bridge`.

mod emit;
mod form;
mod identity;
mod model;
mod names;
mod normalise;
mod share;
mod signature;
mod text;
mod typing;

use serde_json::Value;

pub use names::module_names;

/// The version of the emitted code: part of the key of everything compiled from it.
pub const VERSION: u32 = 1;

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
}

/// The code for one server.
#[derive(Debug, Clone, PartialEq)]
pub struct Bindings {
    /// The name of the module or crate.
    pub module: String,
    /// The root file of a crate, which is the body of a module just as well.
    pub source: String,
    /// The tools, sorted by name.
    pub tools: Vec<ToolBinding>,
    /// What of the schemas did not become types.
    pub warnings: Vec<Warning>,
}

/// What a tool is called in the code.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolBinding {
    /// The name that the server knows it by.
    pub name: String,
    /// The name of the stub.
    pub function: String,
    /// What a program's manifest and the broker know it by: 32 lower-case hexadecimal digits, a hash of
    /// server, tool and schemas.
    pub id: String,
    /// The stub and its types in short, for a model and for diagnostics.
    pub signature: String,
}

/// A place in a schema that became less than it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// The tool.
    pub tool: String,
    /// The place, such as `input.edits[].old_text`.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// Generates the code for one server.
///
/// Never fails: what cannot be typed becomes a JSON value, place by place, with a warning. The same
/// server and module give the same bytes, in whatever order the tools come.
#[must_use]
pub fn generate(server: &Server, module: &str) -> Bindings {
    let model = model::Model::new(server);
    let tools = model.tools.iter().map(|tool| ToolBinding {
        name: tool.name.clone(),
        function: tool.function.clone(),
        id: tool.id.clone(),
        signature: signature::signature(tool),
    });
    Bindings {
        module: module.to_owned(),
        source: emit::source(&model),
        tools: tools.collect(),
        warnings: model.warnings.clone(),
    }
}
