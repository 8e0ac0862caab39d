//! The bindings of a server: the code of its tools, and what a model reads of them.

use serde::{Deserialize, Serialize};

use crate::documentation::documentation;
use crate::emit;
use crate::model::Model;
use crate::report::{Fidelity, Warning};
use crate::signature::{Style, signature};
use crate::tool::Server;

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
    let model = Model::new(server);
    let tools = model.tools.iter().map(|tool| {
        let source = emit::source(&model.server, tool);
        let signature = signature(tool, style);
        ToolBinding {
            name: tool.name.clone(),
            function: tool.function.clone(),
            prefix: tool.prefix.clone(),
            id: tool.id.clone(),
            documentation: documentation(tool, module),
            fidelity: tool.fidelity(&source, &signature),
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
