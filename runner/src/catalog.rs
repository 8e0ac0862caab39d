//! The tools available to snippets, with their generated bindings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use snippet::Tool;

use crate::cache::Cache;
use crate::error::Result;
use crate::generated::{Generated, ToolEntry};

/// The tools of all servers.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The servers by module name.
    modules: BTreeMap<String, ServerModule>,
    /// Explains missing servers and tools.
    absences: Option<Arc<dyn Absences>>,
}

/// Explains why a configured server or tool is not in the catalog. Called only if a snippet names something that does
/// not exist.
pub trait Absences: std::fmt::Debug + Send + Sync {
    /// The configured servers without tools in the catalog, by module.
    fn servers(&self) -> BTreeMap<String, String>;

    /// Returns the reason why the server of this module can't be used now, as a sentence without a full stop.
    fn server(&self, module: &str) -> Option<String>;

    /// Returns the reason why a server's tool was left out, by its name or its function.
    fn tool(&self, server: &str, name: &str) -> Option<String>;
}

/// A server whose bindings are needed.
pub struct ServerTools<'a> {
    /// The server's name as configured.
    pub name: &'a str,
    /// Represents the tools in cache keys: equal digests mean equal tools.
    pub digest: String,
    /// Returns the tools; called only if there are no cached bindings.
    pub tools: Box<dyn FnOnce() -> Vec<codegen::Tool> + 'a>,
    /// Existing bindings to use instead of generated ones: the root file of a crate.
    pub source: Option<String>,
}

/// A server and its bindings.
#[derive(Debug)]
pub struct ServerModule {
    /// The server's name as configured.
    pub server: String,
    /// The name of its module.
    pub module: String,
    /// Existing tools that may not be called.
    denied: BTreeSet<String>,
    pub(crate) generated: Generated,
    /// Bindings to use instead of the generated ones.
    pub(crate) source: Option<String>,
}

/// A tool as the broker knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolName {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) denied: bool,
}

impl std::fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.server, self.tool)
    }
}

impl Catalog {
    /// Bindings for `servers`, generated if missing in `cache`, with signatures of a `style`; `denied` returns the
    /// tools of a server that may not be called. The module names of the servers in `reserved`, whose tools are unknown,
    /// stay reserved.
    #[must_use]
    pub fn generate<'a>(
        cache: &Cache,
        servers: Vec<ServerTools<'a>>,
        reserved: impl IntoIterator<Item = &'a str>,
        style: &codegen::Style,
        denied: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let names = codegen::module_names(servers.iter().map(|server| server.name).chain(reserved));
        let mut modules = BTreeMap::new();
        for ServerTools { name: server, digest, tools, source } in servers {
            let Some(module) = names.get(server) else { continue };
            let generated = Generated::open(cache, server, module, &digest, tools, style);
            let denied = generated.tools().iter().filter(|tool| denied(server, &tool.name));
            let denied = denied.map(|tool| tool.name.clone()).collect();
            let (server, name) = (server.to_owned(), module.clone());
            modules.insert(module.clone(), ServerModule { server, module: name, denied, generated, source });
        }
        Catalog { modules, absences: None }
    }

    /// Adds explanations for missing servers and tools.
    #[must_use]
    pub fn with_absences(self, absences: Arc<dyn Absences>) -> Self {
        Catalog { absences: Some(absences), ..self }
    }

    /// The servers with their bindings, by module name.
    #[must_use]
    pub fn modules(&self) -> &BTreeMap<String, ServerModule> {
        &self.modules
    }

    /// The tool with an identity.
    pub(crate) fn tool(&self, id: &str) -> Option<ToolName> {
        self.modules.values().find_map(|module| {
            let tool = module.tools().iter().find(|tool| tool.id == id)?;
            Some(ToolName {
                server: module.server.clone(),
                tool: tool.name.clone(),
                denied: module.denied.contains(&tool.name),
            })
        })
    }

    /// The servers whose modules are among `identifiers`.
    pub(crate) fn named<'a>(
        &'a self,
        identifiers: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = &'a ServerModule> {
        self.modules.values().filter(|module| identifiers.contains(&module.module))
    }
}

impl snippet::Catalog for Catalog {
    fn modules(&self) -> Vec<&dyn snippet::ServerModule> {
        self.modules.values().map(|module| module as &dyn snippet::ServerModule).collect()
    }

    fn absent_servers(&self) -> BTreeMap<String, String> {
        self.absences.as_ref().map(|absences| absences.servers()).unwrap_or_default()
    }

    fn absent_server(&self, module: &str) -> Option<String> {
        self.absences.as_ref()?.server(module)
    }

    fn absent_tool(&self, server: &str, name: &str) -> Option<String> {
        self.absences.as_ref()?.tool(server, name)
    }
}

impl ServerModule {
    /// Its tools, sorted by name.
    #[must_use]
    pub fn tools(&self) -> &[ToolEntry] {
        self.generated.tools()
    }

    /// Whether the configuration denies the tool.
    #[must_use]
    pub fn is_denied(&self, tool: &ToolEntry) -> bool {
        self.denied.contains(&tool.name)
    }

    /// Whether its bindings were just generated: for the first time for these tools, or again because the cache had
    /// lost them.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.generated.is_new
    }

    /// The code of the tools that a snippet with `identifiers` may refer to, without inner attributes.
    pub(crate) fn source_of(&self, identifiers: &BTreeSet<String>) -> Result<String> {
        self.generated.items(&self.generated.named(identifiers))
    }

    /// The parts of schemas that did not become types.
    pub fn warnings(&self) -> impl Iterator<Item = codegen::Warning> + '_ {
        self.generated.warnings()
    }

    /// The stub of a tool and its types in brief, for models and diagnostics.
    ///
    /// # Errors
    /// If the cache can't be read.
    pub fn signature(&self, tool: &ToolEntry) -> Result<String> {
        self.generated.signature(tool)
    }

    /// The full documentation of a tool, for a model that requests it.
    ///
    /// # Errors
    /// If the cache can't be read.
    pub fn documentation(&self, tool: &ToolEntry) -> Result<String> {
        self.generated.documentation(tool)
    }
}

impl snippet::ServerModule for ServerModule {
    fn name(&self) -> &str {
        &self.module
    }

    fn server(&self) -> &str {
        &self.server
    }

    fn tools(&self) -> Box<dyn Iterator<Item = Tool<'_>> + '_> {
        Box::new(self.generated.tools().iter().enumerate().map(named))
    }

    fn users(&self, name: &str) -> Box<dyn Iterator<Item = Tool<'_>> + '_> {
        Box::new(self.generated.users(name).map(named))
    }

    fn signature(&self, tool: Tool<'_>) -> String {
        let tool = self.generated.tools().get(tool.index);
        tool.and_then(|tool| self.generated.signature(tool).ok()).unwrap_or_default()
    }

    fn definition(&self, name: &str) -> Option<String> {
        self.generated.definition(name)
    }
}

/// The names of the tool with this index.
fn named((index, tool): (usize, &ToolEntry)) -> Tool<'_> {
    Tool { name: &tool.name, function: &tool.function, prefix: &tool.prefix, index }
}
