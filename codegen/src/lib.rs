//! From the tools of an MCP server to Rust: types, conversions and stubs, and the short form of them
//! that a model reads.
//!
//! Pure: text in, text out. Where the tools come from, how the code is compiled and how a call travels
//! is decided elsewhere; the code here is written against the crate `bridge`.

mod description;
mod diff;
mod documentation;
mod emit;
mod form;
mod ground;
mod identity;
mod model;
mod names;
mod normal_form;
mod normalise;
pub mod observe;
mod report;
mod share;
mod signature;
mod spelling;
mod text;
mod tokens;
mod typing;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use description::description;
pub use diff::{Changed, ToolsDiff, diff};
pub use names::module_names;
pub use normal_form::{NormalForm, normal_form};
pub use report::{Fallback, Fidelity};
pub use text::clean;
pub use tokens::tokens;

/// The version of the emitted code: part of the key of everything compiled from it.
pub const VERSION: u32 = 6;

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

/// The code for one server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Bindings {
    /// The name of the module or crate.
    pub module: String,
    /// The server's name in the configuration.
    pub server: String,
    /// The tools, sorted by name.
    pub tools: Vec<ToolBinding>,
    /// What of the schemas did not become types.
    pub warnings: Vec<Warning>,
}

/// What a tool is called in the code.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolBinding {
    /// The name that the server knows it by.
    pub name: String,
    /// The name of the stub.
    pub function: String,
    /// What the names of its types begin with; those of no other tool of the server are the same.
    pub prefix: String,
    /// What a program's manifest and the broker know it by: 32 lower-case hexadecimal digits, a hash of
    /// server, tool and schemas.
    pub id: String,
    /// Its types, call and stub: items that name nothing of another tool's, for [`root`].
    pub source: String,
    /// The stub and its types in short, for a model and for diagnostics.
    pub signature: String,
    /// All that is known of the tool, for a model that asks for it.
    pub documentation: String,
    /// How much of the schemas became types, and what that saves.
    pub fidelity: Fidelity,
}

/// How much of the server's texts a signature shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// The longest description of a tool, in characters; 0 leaves it out.
    pub description: usize,
    /// The longest remark on a field, in characters; 0 leaves out its description, facts stay.
    pub remark: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { description: 200, remark: 80 }
    }
}

/// A place in a schema that became less than it says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    generate_with(server, module, &Style::default())
}

/// As [`generate`], with signatures of another style.
#[must_use]
pub fn generate_with(server: &Server, module: &str, style: &Style) -> Bindings {
    let model = model::Model::new(server);
    let tools = model.tools.iter().map(|tool| {
        let source = emit::source(&model.server, tool);
        let signature = signature::signature(tool, style);
        ToolBinding {
            name: tool.name.clone(),
            function: tool.function.clone(),
            prefix: tool.prefix.clone(),
            id: tool.id.clone(),
            documentation: documentation::documentation(tool, module),
            fidelity: report::fidelity(tool, &source, &signature),
            source,
            signature,
        }
    });
    Bindings {
        module: module.to_owned(),
        server: server.name.clone(),
        tools: tools.collect(),
        warnings: model.warnings.clone(),
    }
}

impl Bindings {
    /// The root file of a crate with all tools.
    #[must_use]
    pub fn source(&self) -> String {
        root(&self.server, self.tools.iter().map(|tool| tool.source.as_str()))
    }
}

/// The root file of a crate, which is the body of a module just as well, with the [`ToolBinding::source`] of any of
/// the tools of `server`.
pub fn root<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> String {
    emit::root(server, tools)
}
