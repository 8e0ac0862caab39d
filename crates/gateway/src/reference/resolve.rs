//! Resolves a name to a tool. Unknown and ambiguous names are reported with similar ones.

use snippet::{Catalog as _, nearest};

use super::words::letters;
use super::{Reference, Tool, in_scope};

/// Maximum similar names in a message.
const MAX_NAMES: usize = 8;
/// Maximum characters of an unknown name in a message.
const MAX_SHOWN: usize = 80;
/// Maximum bytes of a name to look up: far above what MCP allows for a server and a tool.
const MAX_COMPARED: usize = 1_000;
/// Separators between a server and its tool.
const SEPARATORS: [&str; 5] = ["::", ".", "/", ":", "__"];

/// Whether a tool's own name equals the requested one.
type IsSame = fn(&str, &str) -> bool;

fn exactly(own: &str, requested: &str) -> bool {
    own == requested
}

/// Ignores case and punctuation.
fn in_letters(own: &str, requested: &str) -> bool {
    let requested = letters(requested);
    !requested.is_empty() && letters(own) == requested
}

/// A name that is unknown or ambiguous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name, made safe to show.
    pub(crate) name: String,
    /// The reason why it can't be resolved.
    pub(crate) message: String,
    /// Similar names: `module::function` for tools, modules for servers.
    pub(crate) nearest: Vec<String>,
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}: {}", self.name, self.message)?;
        match self.nearest.as_slice() {
            [] => Ok(()),
            near => write!(formatter, "; did you mean {}?", near.join(", ")),
        }
    }
}

impl Unknown {
    fn new(name: &str, message: &str, nearest: Vec<String>) -> Self {
        Unknown { name: codegen::clean(name, MAX_SHOWN), message: message.to_owned(), nearest }
    }
}

impl Reference {
    /// The full documentation of each named tool: `demo::list_orders`, `demo.list_orders`, or `list_orders` if only
    /// one server has it, in any spelling.
    pub(crate) fn describe(&self, names: &[String]) -> Vec<Result<String, Unknown>> {
        names.iter().map(|name| self.describe_one(name)).collect()
    }

    /// The server's name and the tool's own name for `name`.
    pub fn tool(&self, name: &str) -> Option<(&str, &str)> {
        let tool = self.resolve(name).ok()?;
        Some((&self.servers.get(tool.server)?.name, &tool.name))
    }

    fn describe_one(&self, name: &str) -> Result<String, Unknown> {
        let tool = match self.resolve(name) {
            Ok(tool) => tool,
            Err(unknown) => {
                let documentation = in_scope::documentation(name).map(str::to_owned);
                return documentation.ok_or_else(|| self.absent(name).unwrap_or(unknown));
            }
        };
        let module =
            self.servers.get(tool.server).and_then(|server| self.catalog.modules().get(&server.module));
        let entry = module.and_then(|module| Some((module, module.tools().get(tool.entry)?)));
        let (module, entry) = entry.ok_or_else(|| Unknown::new(name, NO_TOOL, Vec::new()))?;
        module.documentation(entry).map_err(|error| Unknown::new(name, &error.to_string(), Vec::new()))
    }

    /// The index of a server, by its name or module.
    pub(super) fn server(&self, name: &str) -> Result<usize, Unknown> {
        let requested = name.trim();
        let requested = requested.get(..requested.floor_char_boundary(MAX_COMPARED)).unwrap_or_default();
        let exact =
            self.servers.iter().position(|server| server.name == requested || server.module == requested);
        let in_letters = letters(requested);
        let spelled = || self.servers.iter().position(|server| letters(&server.name) == in_letters);
        exact.or_else(spelled).ok_or_else(|| {
            if let Some(reason) = self.gone(requested) {
                return Unknown::new(name, &format!("it can't be used now: {reason}"), Vec::new());
            }
            let modules = || self.servers.iter().map(|server| server.module.as_str());
            let near = nearest(requested, modules());
            let near: Vec<&str> = if near.is_empty() { modules().take(MAX_NAMES).collect() } else { near };
            Unknown::new(name, "there is no such server", near.into_iter().map(str::to_owned).collect())
        })
    }

    /// Returns the reason why a configured server can't be used.
    fn gone(&self, server: &str) -> Option<String> {
        self.missing.reason(server).map(str::to_owned).or_else(|| self.catalog.absent_server(server))
    }

    /// Returns the reason why a configured tool, or its server, can't be used.
    fn absent(&self, name: &str) -> Option<Unknown> {
        let requested = name.trim().trim_end_matches("()");
        let parts = SEPARATORS.iter().find_map(|between| requested.split_once(between));
        let unknown = |reason: String| Unknown::new(name, &reason, Vec::new());
        if let Some(reason) = parts.and_then(|(server, _)| self.gone(server)) {
            return Some(unknown(format!("its server can't be used now: {reason}")));
        }
        let own = parts.map_or(requested, |(_, own)| own);
        let named = parts.and_then(|(server, _)| self.server(server).ok());
        let servers =
            self.servers.iter().enumerate().filter(|(place, _)| named.is_none_or(|named| named == *place));
        let mut reasons = servers.filter_map(|(_, server)| self.catalog.absent_tool(&server.name, own));
        reasons.next().map(unknown)
    }

    fn resolve(&self, name: &str) -> Result<&Tool, Unknown> {
        let requested = name.trim().trim_end_matches("()");
        if requested.len() > MAX_COMPARED {
            return Err(Unknown::new(name, NO_TOOL, Vec::new()));
        }
        let spellings: [IsSame; 2] = [exactly, in_letters];
        for is_same in spellings {
            let named = |tool: &&Tool| self.is_meant(tool, requested, is_same);
            match self.tools.iter().filter(named).collect::<Vec<_>>().as_slice() {
                [] => {}
                [tool] => return Ok(tool),
                several => {
                    let message = format!("{} tools have this name", several.len());
                    let paths = several.iter().take(MAX_NAMES).map(|tool| self.path(tool));
                    return Err(Unknown::new(name, &message, paths.collect()));
                }
            }
        }
        Err(Unknown::new(name, NO_TOOL, self.near(requested)))
    }

    /// Whether a name, alone or after the server's, is a tool's.
    fn is_meant(&self, tool: &Tool, requested: &str, is_same: IsSame) -> bool {
        let is_own = |requested: &str| is_same(&tool.name, requested) || is_same(&tool.function, requested);
        let Some(server) = self.servers.get(tool.server) else { return false };
        let behind_server = |between: &str| {
            let names = [&server.name, &server.module];
            let behind = names.iter().filter_map(|own| {
                let (before, behind) = requested.split_at_checked(own.len())?;
                Some(behind.strip_prefix(between)?).filter(|_| is_same(own, before))
            });
            behind.into_iter().any(is_own)
        };
        is_own(requested) || SEPARATORS.iter().any(|between| behind_server(between))
    }

    /// `module::function`.
    pub(super) fn path(&self, tool: &Tool) -> String {
        let module = self.servers.get(tool.server).map_or("", |server| server.module.as_str());
        format!("{module}::{}", tool.function)
    }

    /// The paths of similar tools, of the named server or else of all.
    fn near(&self, requested: &str) -> Vec<String> {
        let parts = SEPARATORS.iter().find_map(|between| requested.split_once(between));
        let server = parts.and_then(|(server, _)| self.server(server).ok());
        let own = parts.map_or(requested, |(_, own)| own);
        let candidates =
            || self.tools.iter().filter(|tool| server.is_none_or(|server| tool.server == server));
        let functions = nearest(own, candidates().map(|tool| tool.function.as_str()));
        let paths = |functions: &[&str]| -> Vec<String> {
            let place = |tool: &Tool| functions.iter().position(|function| *function == tool.function);
            let mut near: Vec<_> =
                candidates().filter_map(|tool| Some((place(tool)?, self.path(tool)))).collect();
            near.sort();
            near.into_iter().map(|(_, path)| path).take(MAX_NAMES).collect()
        };
        if !functions.is_empty() {
            return paths(&functions);
        }
        let module = server.and_then(|server| self.servers.get(server)).map(|server| server.module.as_str());
        let found = self.search(own, module, 3).unwrap_or_default();
        found.iter().map(|found| format!("{}::{}", found.module, found.function)).collect()
    }
}

const NO_TOOL: &str = "there is no such tool";
