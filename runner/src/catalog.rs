//! The tools that snippets can be written against, with their generated bindings.

use std::collections::{BTreeMap, BTreeSet};

use crate::cache::Cache;
use crate::generated;

/// The tools of all servers.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Generated bindings by module name.
    modules: BTreeMap<String, ServerModule>,
}

/// A server and its bindings.
#[derive(Debug)]
pub struct ServerModule {
    /// The server's name as configured.
    pub server: String,
    /// What was generated for it.
    pub bindings: codegen::Bindings,
    /// Tools that may not be called, though they are there.
    pub denied: BTreeSet<String>,
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
    /// Bindings for `servers`, generated where `cache` has none; `denied` says which tools of a server may not be
    /// called.
    #[must_use]
    pub fn generate(cache: &Cache, servers: &[codegen::Server], denied: impl Fn(&str, &str) -> bool) -> Self {
        let names = codegen::module_names(servers.iter().map(|server| server.name.as_str()));
        let generate = |server: &codegen::Server| {
            let module = names.get(&server.name)?;
            let denied = |tool: &&codegen::Tool| denied(&server.name, &tool.name);
            let bound = ServerModule {
                server: server.name.clone(),
                bindings: generated::bindings(cache, server, module),
                denied: server.tools.iter().filter(denied).map(|tool| tool.name.clone()).collect(),
            };
            Some((module.clone(), bound))
        };
        Catalog { modules: servers.iter().filter_map(generate).collect() }
    }

    /// The servers with their bindings, by module name.
    #[must_use]
    pub fn modules(&self) -> &BTreeMap<String, ServerModule> {
        &self.modules
    }

    /// The tool with an identity.
    pub(crate) fn tool(&self, id: &str) -> Option<ToolName> {
        self.modules.values().find_map(|module| {
            let tool = module.bindings.tools.iter().find(|tool| tool.id == id)?;
            Some(ToolName {
                server: module.server.clone(),
                tool: tool.name.clone(),
                denied: module.denied.contains(&tool.name),
            })
        })
    }

    /// The modules among `identifiers`.
    pub(crate) fn named<'a>(
        &'a self,
        identifiers: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = (&'a str, &'a ServerModule)> {
        self.modules
            .iter()
            .filter(|(module, _)| identifiers.contains(*module))
            .map(|(module, bound)| (module.as_str(), bound))
    }
}
