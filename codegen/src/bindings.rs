//! The bindings of a server: the code of its tools, and their signatures and documentation for models.

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
    /// Parts of the schemas that did not become types.
    pub warnings: Vec<Warning>,
}

/// The names, code and texts of one tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolBinding {
    /// The tool's name at the server.
    pub name: String,
    /// The name of the stub.
    pub function: String,
    /// The prefix of its type names, unique within the server.
    pub prefix: String,
    /// The identity that the program's manifest and the broker use: 32 lower-case hexadecimal digits, a hash
    /// of server, tool and schemas.
    pub id: String,
    /// Its types, call and stub. They refer to no item of another tool. See [`root`].
    pub source: String,
    /// The short form of stub and types, for a model and for diagnostics.
    pub signature: String,
    /// The long form, for a model that requests it.
    pub documentation: String,
    /// How much of the schemas became types, and how many tokens that saves.
    pub fidelity: Fidelity,
}

/// Generates the code for one server.
///
/// Never fails: a place that cannot be typed becomes a JSON value, with a warning. The same server and module
/// always generate the same bytes, whatever the order of the tools.
#[must_use]
pub fn generate(server: &Server, module: &str) -> Bindings {
    generate_with(server, module, &Style::default())
}

/// Like [`generate`], with signatures in another style.
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

/// The root file of a crate, which also works as the body of a module. `tools` are the
/// [`ToolBinding::source`] texts of any of the tools of `server`.
pub fn root<'a>(server: &str, tools: impl IntoIterator<Item = &'a str>) -> String {
    emit::root(server, tools)
}
