//! What a model can look up of the tools: which there are, how they are called, what they take and give.
//!
//! A reference belongs to one catalog and never changes; the same tools make the same one, whatever their order.
//! Which tools there are is decided elsewhere, and so is how its texts travel.

mod definition;
mod execute_code;
mod in_scope;
mod index;
mod lookup;
mod resolve;
mod signature;
mod text;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use runner::{Catalog, ServerModule, ToolEntry};

use crate::unavailable::UnavailableTools;

use index::{Field, Index};
use words::is_to_change;

pub use definition::{DescribeTools, ExecuteCode, SearchTools, ToolDefinition, definition_tokens};
pub use lookup::Lookup;
pub use resolve::Unknown;
pub use words::letters;

/// Tools that a search by words gives where nobody says how many.
const FOUND_BY_DEFAULT: usize = 10;
/// Tools that a search gives at most.
pub const FOUND_AT_MOST: usize = 50;

/// Bytes of a question that are read.
const QUESTION_LIMIT: usize = 2_000;

/// Tokens that the description of `execute_code` may have where nobody sets another number.
pub const DESCRIPTION_TOKENS: usize = 2_000;

/// What a word counts in a tool's name, in its server's, among its parameters, in its description, and in what is said
/// of its types.
const NAME: f64 = 5.0;
const SERVER: f64 = 1.5;
const PARAMETERS: f64 = 0.8;
const DESCRIPTION: f64 = 1.2;
const TYPES: f64 = 0.3;

/// What tools that only look count more than those that change something, where a question does not say what to do.
const LOOKS: f64 = 1.05;
/// The first words of their names.
const LOOKING: [&str; 6] = ["find", "get", "list", "query", "read", "search"];

/// The longest line about a server, in characters.
const LONGEST_ABOUT: usize = 120;

/// All tools of a catalog, to look up.
#[derive(Debug, Default)]
pub struct Reference {
    catalog: Arc<Catalog>,
    /// By module name.
    servers: Vec<Server>,
    /// By module name and function.
    tools: Vec<Tool>,
    index: Index,
    /// Whether any server has resources.
    has_resources: bool,
    /// What is configured and can't be used.
    missing: Arc<UnavailableTools>,
}

#[derive(Debug)]
struct Server {
    /// The name in the configuration.
    name: String,
    module: String,
    /// One line about it; empty where nothing is known.
    about: String,
    /// How many tools it has here.
    count: usize,
}

#[derive(Debug)]
struct Tool {
    /// Place of the server.
    server: usize,
    /// Place in the server's module.
    entry: usize,
    /// The name that the server knows it by.
    name: String,
    function: String,
    signature: String,
}

/// A tool that was searched for.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Found {
    /// The server's name in the configuration.
    pub server: String,
    /// The module of the server's tools.
    pub(crate) module: String,
    /// The name that the server knows the tool by.
    pub tool: String,
    /// The function that calls it.
    pub(crate) function: String,
    /// The function and its types in short.
    pub(crate) signature: String,
    /// How well it fits; higher is better, and infinite where it is the very name.
    #[serde(skip)]
    pub(crate) score: f64,
}

/// How many tools a search gives where nobody says: an empty query asks for all.
pub fn found_by_default(query: &str) -> usize {
    if query.trim().is_empty() { FOUND_AT_MOST } else { FOUND_BY_DEFAULT }
}

impl Reference {
    /// A reference to all tools of `catalog` that are not denied; `about` has a line about each server, by its name.
    ///
    /// # Errors
    /// Where the cache that holds the texts can't be read.
    pub fn new(catalog: Arc<Catalog>, about: &BTreeMap<String, String>) -> Result<Self, runner::Error> {
        let (mut servers, mut tools, mut descriptions) = (Vec::new(), Vec::new(), Vec::new());
        for (module, bindings) in catalog.modules() {
            let before = tools.len();
            for (tool, description) in read_tools(bindings, servers.len())? {
                tools.push(tool);
                descriptions.push(description);
            }
            let about = about.get(&bindings.server).map(|text| codegen::clean(text, LONGEST_ABOUT));
            servers.push(Server {
                name: bindings.server.clone(),
                module: module.clone(),
                about: about.unwrap_or_default(),
                count: tools.len() - before,
            });
        }
        let index = index(&servers, &tools, &descriptions);
        let missing = Arc::default();
        Ok(Reference { catalog, servers, tools, index, has_resources: false, missing })
    }

    /// The same, where models are told or not told how snippets get at resources.
    pub fn with_resources(self, has_resources: bool) -> Self {
        Reference { has_resources, ..self }
    }

    /// The same, where models are told what can't be used.
    pub fn with_missing(self, missing: Arc<UnavailableTools>) -> Self {
        Reference { missing, ..self }
    }

    /// What can't be used, for the end of a text, behind `before`; empty where there is nothing.
    fn missing_line(&self, before: &str) -> String {
        self.missing.line().map(|line| format!("{before}{line}")).unwrap_or_default()
    }

    /// The tools that fit `query`, of one server or of all, the best first; all tools, by name, for an empty query.
    ///
    /// # Errors
    /// Where there is no such server.
    pub fn search(&self, query: &str, server: Option<&str>, limit: usize) -> Result<Vec<Found>, Unknown> {
        let query = query.get(..query.floor_char_boundary(QUESTION_LIMIT)).unwrap_or_default();
        let server = server.filter(|name| !name.trim().is_empty());
        let server = server.map(|name| self.server(name)).transpose()?;
        let in_server = |tool: &Tool| server.is_none_or(|server| tool.server == server);
        let limit = limit.clamp(1, FOUND_AT_MOST);
        let mut found: Vec<(f64, usize)> = if query.trim().is_empty() {
            (0..self.tools.len()).map(|place| (0.0, place)).collect()
        } else {
            let mut scores = self.index.find(query);
            if !is_to_change(query) {
                let looking = scores.iter_mut().filter(|(place, _)| self.looks(**place));
                looking.for_each(|(_, score)| *score *= LOOKS);
            }
            let wanted = letters(query);
            let exact = self.tools.iter().enumerate().filter(|(_, tool)| self.is_named(tool, &wanted));
            scores.extend(exact.map(|(place, _)| (place, f64::INFINITY)));
            scores.into_iter().map(|(place, score)| (score, place)).collect()
        };
        found.retain(|(_, place)| self.tools.get(*place).is_some_and(in_server));
        found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        let found = found.into_iter().take(limit);
        Ok(found.filter_map(|(score, place)| self.found(place, score)).collect())
    }

    /// How many tools there are, all or of one server.
    fn count(&self, server: Option<&str>) -> usize {
        let Some(name) = server.filter(|name| !name.trim().is_empty()) else { return self.tools.len() };
        let server = self.server(name).ok();
        self.tools.iter().filter(|tool| Some(tool.server) == server).count()
    }

    /// Whether a tool, by its name, only looks at something.
    fn looks(&self, place: usize) -> bool {
        let function = self.tools.get(place).map_or("", |tool| tool.function.as_str());
        LOOKING.iter().any(|verb| function.strip_prefix(verb).is_some_and(|rest| rest.starts_with('_')))
    }

    fn found(&self, place: usize, score: f64) -> Option<Found> {
        let tool = self.tools.get(place)?;
        let server = self.servers.get(tool.server)?;
        Some(Found {
            server: server.name.clone(),
            module: server.module.clone(),
            tool: tool.name.clone(),
            function: tool.function.clone(),
            signature: tool.signature.clone(),
            score,
        })
    }

    /// Whether the letters of a question are those of a tool's name, with or without its server's.
    fn is_named(&self, tool: &Tool, wanted: &str) -> bool {
        let server = self.servers.get(tool.server);
        let names = [&tool.name, &tool.function].map(|name| letters(name));
        let is_before = |before: &str| {
            let own = |server: &Server| letters(&server.name) == before || letters(&server.module) == before;
            before.is_empty() || server.is_some_and(own)
        };
        let names = names.iter().filter(|name| !name.is_empty());
        names.filter_map(|name| wanted.strip_suffix(name.as_str())).any(is_before)
    }

    /// How many tools there are.
    pub(crate) fn len(&self) -> usize {
        self.tools.len()
    }
}

/// The tools of a module that may be called, by function, with their whole descriptions.
fn read_tools(bindings: &ServerModule, server: usize) -> Result<Vec<(Tool, String)>, runner::Error> {
    let mut tools = Vec::new();
    for (entry, tool) in bindings.tools().iter().enumerate().filter(|(_, tool)| !bindings.is_denied(tool)) {
        let ToolEntry { name, function, .. } = tool;
        let signature = bindings.signature(tool)?;
        let documentation = bindings.documentation(tool)?;
        let description = documentation.lines().map_while(|line| line.strip_prefix("///"));
        let description: String = description.collect::<Vec<_>>().join("\n");
        tools.push((
            Tool { server, entry, name: name.clone(), function: function.clone(), signature },
            description,
        ));
    }
    tools.sort_by(|(one, _), (other, _)| one.function.cmp(&other.function));
    Ok(tools)
}

fn index(servers: &[Server], tools: &[Tool], descriptions: &[String]) -> Index {
    let texts: Vec<[(String, f64); 5]> = tools
        .iter()
        .zip(descriptions)
        .map(|(tool, description)| {
            let server = servers.get(tool.server).map_or("", |server| server.name.as_str());
            let (parameters, types) = signature::parameters(&tool.signature);
            [
                (tool.name.clone(), NAME),
                (server.to_owned(), SERVER),
                (parameters, PARAMETERS),
                (description.clone(), DESCRIPTION),
                (types, TYPES),
            ]
        })
        .collect();
    Index::new(
        texts.iter().map(|fields| fields.each_ref().map(|(text, weight)| Field { text, weight: *weight })),
    )
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
