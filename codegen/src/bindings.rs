//! The bindings of a server: the code of its tools, and their signatures and documentation for models.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::documentation::documentation;
use crate::emit;
use crate::model::{Model, reachable};
use crate::once::Once;
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
    /// Their types, each once.
    pub types: Vec<TypeBinding>,
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
    /// The indices in [`Bindings::types`] of all types that its code needs.
    pub types: Vec<usize>,
    /// Its call and stub. They refer to its types and to no item of another tool. See [`root`].
    pub source: String,
    /// The short form of stub and types, for a model and for diagnostics.
    pub signature: String,
    /// The long form, for a model that requests it.
    pub documentation: String,
    /// The share of the schemas that became types, and the tokens that this saves.
    pub fidelity: Fidelity,
}

/// The name and code of one type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TypeBinding {
    /// Its name.
    pub name: String,
    /// The indices in [`Bindings::types`] of all types that its code needs, including itself.
    pub types: Vec<usize>,
    /// Its definition and conversions.
    pub source: String,
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
    let sources = emit::types(&model.server, &model.tools);
    // What several tools use is counted for the first of them.
    let (mut counted, mut once) = (BTreeSet::new(), Once::default());
    let tools = model.tools.iter().map(|tool| {
        let source = emit::source(&model.server, tool);
        let signature = signature(tool, style);
        let new = tool.uses.iter().filter(|index| counted.insert(**index));
        let new = new.filter_map(|index| sources.get(*index)).chain([&source]);
        let lines = new.map(|source| source.lines().count()).sum();
        ToolBinding {
            name: tool.name.clone(),
            function: tool.function.clone(),
            prefix: tool.prefix.clone(),
            id: tool.id.clone(),
            types: tool.uses.clone(),
            documentation: documentation(tool, module),
            fidelity: tool.fidelity(lines, &once.signature(&signature)),
            source,
            signature,
        }
    });
    let tools = tools.collect();
    let types = model.types.iter().zip(sources).enumerate().map(|(index, (found, source))| TypeBinding {
        name: found.name.clone(),
        types: reachable(&model.types, &[index]),
        source,
    });
    Bindings {
        module: module.to_owned(),
        server: server.name.clone(),
        tools,
        types: types.collect(),
        warnings: model.warnings.clone(),
    }
}

impl Bindings {
    /// The root file of a crate with all tools.
    #[must_use]
    pub fn source(&self) -> String {
        let types = self.types.iter().map(|found| found.source.as_str());
        root(&self.server, types.chain(self.tools.iter().map(|tool| tool.source.as_str())))
    }
}

/// The root file of a crate, which also works as the body of a module. `sources` are the texts of any of the tools of
/// `server`, and of the types that these need.
pub fn root<'a>(server: &str, sources: impl IntoIterator<Item = &'a str>) -> String {
    emit::root(server, sources)
}
