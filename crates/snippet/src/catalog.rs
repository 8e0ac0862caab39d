//! The tools that a snippet can call, as far as hints and corrections ask about them. The caller has their bindings.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// The tools of all servers.
pub trait Catalog: Debug {
    /// The servers, sorted by the names of their modules.
    fn modules(&self) -> Vec<&dyn ServerModule>;

    /// The configured servers without tools in the catalog, by module.
    fn absent_servers(&self) -> BTreeMap<String, String>;

    /// Returns the reason why the server of this module can't be used now.
    fn absent_server(&self, module: &str) -> Option<String>;

    /// Returns the reason why a server's tool was left out, by its name or its function.
    fn absent_tool(&self, server: &str, name: &str) -> Option<String>;
}

/// A server's module of bindings.
pub trait ServerModule: Debug {
    /// The name of the module.
    fn name(&self) -> &str;

    /// The server's name as configured.
    fn server(&self) -> &str;

    /// Its tools, sorted by name.
    fn tools(&self) -> Box<dyn Iterator<Item = Tool<'_>> + '_>;

    /// The tools that use the type called `name`.
    fn users(&self, name: &str) -> Box<dyn Iterator<Item = Tool<'_>> + '_>;

    /// The stub of a tool and its types in brief; empty if it can't be read.
    fn signature(&self, tool: Tool<'_>) -> String;

    /// The code of the type called `name`, without the types that it needs.
    fn definition(&self, name: &str) -> Option<String>;
}

/// A tool by its names in the bindings.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// The server's name for the tool.
    pub name: &'a str,
    /// The name of its stub.
    pub function: &'a str,
    /// The prefix of its type names.
    pub prefix: &'a str,
    /// Its place among the module's tools.
    pub index: usize,
}
