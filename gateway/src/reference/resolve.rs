//! From a name to the tool that is meant. A name that means none or several is told with those that are near.

use runner::nearest;

use super::words::letters;
use super::{Reference, Tool, in_scope};

/// Most names that are told.
const NAMES_TOLD: usize = 8;
/// The longest name that is told back, in characters.
const LONGEST: usize = 80;
/// The longest name that is looked for, in bytes: far above what MCP allows for a server and a tool.
const LONGEST_COMPARED: usize = 1_000;
/// What stands between a server and its tool.
const BETWEEN: [&str; 5] = ["::", ".", "/", ":", "__"];

/// Whether a name is the one that is wanted.
type IsSame = fn(&str, &str) -> bool;

fn exactly(own: &str, wanted: &str) -> bool {
    own == wanted
}

/// Whatever case and signs are used.
fn in_letters(own: &str, wanted: &str) -> bool {
    let wanted = letters(wanted);
    !wanted.is_empty() && letters(own) == wanted
}

/// A name that means no one tool or server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name, made fit to be shown.
    pub(crate) name: String,
    /// Why nothing is told of it.
    pub(crate) message: String,
    /// The names that may be meant: of tools `module::function`, of servers their modules.
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
        Unknown { name: codegen::clean(name, LONGEST), message: message.to_owned(), nearest }
    }
}

impl Reference {
    /// All that is known of each tool that is named: `demo::list_orders`, `demo.list_orders`, or `list_orders` where
    /// only one server has it, in any spelling.
    pub(crate) fn describe(&self, names: &[String]) -> Vec<Result<String, Unknown>> {
        names.iter().map(|name| self.describe_one(name)).collect()
    }

    /// The server and the name of the tool that is called `name` here.
    pub fn tool(&self, name: &str) -> Option<(&str, &str)> {
        let tool = self.resolve(name).ok()?;
        Some((&self.servers.get(tool.server)?.name, &tool.name))
    }

    fn describe_one(&self, name: &str) -> Result<String, Unknown> {
        let tool = match self.resolve(name) {
            Ok(tool) => tool,
            Err(unknown) => {
                let told = in_scope::told(name).map(str::to_owned);
                return told.ok_or_else(|| self.absent(name).unwrap_or(unknown));
            }
        };
        let module =
            self.servers.get(tool.server).and_then(|server| self.catalog.modules().get(&server.module));
        let entry = module.and_then(|module| Some((module, module.tools().get(tool.entry)?)));
        let (module, entry) = entry.ok_or_else(|| Unknown::new(name, NO_TOOL, Vec::new()))?;
        module.documentation(entry).map_err(|error| Unknown::new(name, &error.to_string(), Vec::new()))
    }

    /// The place of a server, by its name or module.
    pub(super) fn server(&self, name: &str) -> Result<usize, Unknown> {
        let wanted = name.trim();
        let wanted = wanted.get(..wanted.floor_char_boundary(LONGEST_COMPARED)).unwrap_or_default();
        let exact = self.servers.iter().position(|server| server.name == wanted || server.module == wanted);
        let in_letters = letters(wanted);
        let spelled = || self.servers.iter().position(|server| letters(&server.name) == in_letters);
        exact.or_else(spelled).ok_or_else(|| {
            if let Some(reason) = self.gone(wanted) {
                return Unknown::new(name, &format!("it can't be used now: {reason}"), Vec::new());
            }
            let modules = || self.servers.iter().map(|server| server.module.as_str());
            let near = nearest(wanted, modules());
            let near: Vec<&str> = if near.is_empty() { modules().take(NAMES_TOLD).collect() } else { near };
            Unknown::new(name, "there is no such server", near.into_iter().map(str::to_owned).collect())
        })
    }

    /// Why a server can't be used that the configuration has.
    fn gone(&self, server: &str) -> Option<String> {
        self.missing.reason(server).map(str::to_owned).or_else(|| self.catalog.absent_server(server))
    }

    /// Why a tool is not there that the configuration has, or its server.
    fn absent(&self, name: &str) -> Option<Unknown> {
        let wanted = name.trim().trim_end_matches("()");
        let parts = BETWEEN.iter().find_map(|between| wanted.split_once(between));
        let unknown = |reason: String| Unknown::new(name, &reason, Vec::new());
        if let Some(reason) = parts.and_then(|(server, _)| self.gone(server)) {
            return Some(unknown(format!("its server can't be used now: {reason}")));
        }
        let own = parts.map_or(wanted, |(_, own)| own);
        let named = parts.and_then(|(server, _)| self.server(server).ok());
        let servers =
            self.servers.iter().enumerate().filter(|(place, _)| named.is_none_or(|named| named == *place));
        let mut reasons = servers.filter_map(|(_, server)| self.catalog.absent_tool(&server.name, own));
        reasons.next().map(unknown)
    }

    fn resolve(&self, name: &str) -> Result<&Tool, Unknown> {
        let wanted = name.trim().trim_end_matches("()");
        if wanted.len() > LONGEST_COMPARED {
            return Err(Unknown::new(name, NO_TOOL, Vec::new()));
        }
        let spellings: [IsSame; 2] = [exactly, in_letters];
        for is_same in spellings {
            let named = |tool: &&Tool| self.is_meant(tool, wanted, is_same);
            match self.tools.iter().filter(named).collect::<Vec<_>>().as_slice() {
                [] => {}
                [tool] => return Ok(tool),
                several => {
                    let message = format!("{} tools have this name", several.len());
                    let paths = several.iter().take(NAMES_TOLD).map(|tool| self.path(tool));
                    return Err(Unknown::new(name, &message, paths.collect()));
                }
            }
        }
        Err(Unknown::new(name, NO_TOOL, self.near(wanted)))
    }

    /// Whether a name, alone or behind that of the server, is a tool's.
    fn is_meant(&self, tool: &Tool, wanted: &str, is_same: IsSame) -> bool {
        let is_own = |wanted: &str| is_same(&tool.name, wanted) || is_same(&tool.function, wanted);
        let Some(server) = self.servers.get(tool.server) else { return false };
        let behind_server = |between: &str| {
            let names = [&server.name, &server.module];
            let behind = names.iter().filter_map(|own| {
                let (before, behind) = wanted.split_at_checked(own.len())?;
                Some(behind.strip_prefix(between)?).filter(|_| is_same(own, before))
            });
            behind.into_iter().any(is_own)
        };
        is_own(wanted) || BETWEEN.iter().any(|between| behind_server(between))
    }

    /// `module::function`.
    pub(super) fn path(&self, tool: &Tool) -> String {
        let module = self.servers.get(tool.server).map_or("", |server| server.module.as_str());
        format!("{module}::{}", tool.function)
    }

    /// The paths of the tools that may be meant: of the server that is named, or else of all.
    fn near(&self, wanted: &str) -> Vec<String> {
        let parts = BETWEEN.iter().find_map(|between| wanted.split_once(between));
        let server = parts.and_then(|(server, _)| self.server(server).ok());
        let own = parts.map_or(wanted, |(_, own)| own);
        let candidates =
            || self.tools.iter().filter(|tool| server.is_none_or(|server| tool.server == server));
        let functions = nearest(own, candidates().map(|tool| tool.function.as_str()));
        let paths = |functions: &[&str]| -> Vec<String> {
            let place = |tool: &Tool| functions.iter().position(|function| *function == tool.function);
            let mut near: Vec<_> =
                candidates().filter_map(|tool| Some((place(tool)?, self.path(tool)))).collect();
            near.sort();
            near.into_iter().map(|(_, path)| path).take(NAMES_TOLD).collect()
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
