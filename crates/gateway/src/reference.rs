//! The facts that a model can look up about tools: names, signatures, parameters and results.
//!
//! A reference belongs to one catalog and never changes; the order of the tools does not matter. Other modules choose
//! the tools and send the texts.

mod definition;
mod execute_code;
mod files;
mod in_scope;
mod index;
mod lookup;
mod resolve;
mod signature;
mod text;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use runner::{Catalog, Grants, ServerModule, ToolEntry};

use crate::unavailable::UnavailableTools;

use index::{Field, Index};
use words::is_to_change;

pub use definition::{DescribeTools, ExecuteCode, Room, SearchTools, ToolDefinition, definition_tokens};
pub use lookup::Lookup;
pub use resolve::Unknown;
pub use words::letters;

/// Default number of tools that a search by words returns.
const FOUND_BY_DEFAULT: usize = 10;
/// Maximum number of tools that a search returns.
pub const FOUND_AT_MOST: usize = 50;

/// Maximum bytes of a query that are read.
const QUERY_LIMIT: usize = 2_000;

/// Default size of the description of `execute_code`, in tokens.
pub const DESCRIPTION_TOKENS: usize = 2_000;

/// Weights of a word in a tool's name, its server's name, its parameters, its description, and its types.
const NAME: f64 = 5.0;
const SERVER: f64 = 1.5;
const PARAMETERS: f64 = 0.8;
const DESCRIPTION: f64 = 1.2;
const TYPES: f64 = 0.3;

/// Factor for tools that only read, if a query does not ask for a change.
const READS: f64 = 1.05;
/// First words of their names.
const READ_VERBS: [&str; 6] = ["find", "get", "list", "query", "read", "search"];

/// Maximum length of a line about a server, in characters.
const MAX_ABOUT: usize = 120;

/// All tools of a catalog, for lookups.
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
    /// Whether any server has skills.
    has_skills: bool,
    /// The files that programs may use.
    grants: Grants,
    /// The saved programs that snippets can call, a line each.
    programs: Vec<String>,
    /// The configured tools and servers that can't be used.
    missing: Arc<UnavailableTools>,
}

#[derive(Debug)]
struct Server {
    /// The name in the configuration.
    name: String,
    module: String,
    /// One line about it; empty if unknown.
    about: String,
    /// The number of its tools here.
    count: usize,
}

#[derive(Debug)]
struct Tool {
    /// Index of the server.
    server: usize,
    /// Index in the server's module.
    entry: usize,
    /// The server's name for the tool.
    name: String,
    function: String,
    signature: String,
}

/// A search result.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Found {
    /// The server's name in the configuration.
    pub server: String,
    /// The module of the server's tools.
    pub(crate) module: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The function that calls it.
    pub(crate) function: String,
    /// The function with its types in short form.
    pub(crate) signature: String,
    /// The quality of the match; higher is better, infinite for an exact name.
    #[serde(skip)]
    pub(crate) score: f64,
}

/// Default number of results: an empty query lists all tools.
pub fn found_by_default(query: &str) -> usize {
    if query.trim().is_empty() { FOUND_AT_MOST } else { FOUND_BY_DEFAULT }
}

impl Reference {
    /// A reference to all tools of `catalog` that are not denied; `about` has a line about each server, by its name.
    ///
    /// # Errors
    /// If the cache with the texts can't be read.
    pub fn new(catalog: Arc<Catalog>, about: &BTreeMap<String, String>) -> Result<Self, runner::Error> {
        let (mut servers, mut tools, mut descriptions) = (Vec::new(), Vec::new(), Vec::new());
        for (module, bindings) in catalog.modules() {
            let before = tools.len();
            for (tool, description) in read_tools(bindings, servers.len())? {
                tools.push(tool);
                descriptions.push(description);
            }
            let about = about.get(&bindings.server).map(|text| codegen::clean(text, MAX_ABOUT));
            servers.push(Server {
                name: bindings.server.clone(),
                module: module.clone(),
                about: about.unwrap_or_default(),
                count: tools.len() - before,
            });
        }
        let index = index(&servers, &tools, &descriptions);
        let missing = Arc::default();
        let grants = Grants::default();
        let programs = Vec::new();
        let (has_resources, has_skills) = (false, false);
        Ok(Reference { catalog, servers, tools, index, has_resources, has_skills, grants, programs, missing })
    }

    /// Sets whether texts for models describe resources.
    pub fn with_resources(self, has_resources: bool) -> Self {
        Reference { has_resources, ..self }
    }

    /// Sets whether there are skills to find: then the search tools are always offered.
    pub fn with_skills(self, has_skills: bool) -> Self {
        Reference { has_skills, ..self }
    }

    /// Sets the files that programs may use, which texts for models name.
    pub fn with_grants(self, grants: Grants) -> Self {
        Reference { grants, ..self }
    }

    /// Sets the saved programs that snippets can call, a line each.
    pub fn with_programs(self, programs: Vec<String>) -> Self {
        Reference { programs, ..self }
    }

    /// Sets what texts for models report as unavailable.
    pub fn with_missing(self, missing: Arc<UnavailableTools>) -> Self {
        Reference { missing, ..self }
    }

    /// The line about unavailable tools, after `before`; empty if there are none.
    fn missing_line(&self, before: &str) -> String {
        self.missing.line().map(|line| format!("{before}{line}")).unwrap_or_default()
    }

    /// The tools that match `query`, of one server or of all, best first; for an empty query all tools, by name.
    ///
    /// # Errors
    /// If there is no such server.
    pub fn search(&self, query: &str, server: Option<&str>, limit: usize) -> Result<Vec<Found>, Unknown> {
        let query = query.get(..query.floor_char_boundary(QUERY_LIMIT)).unwrap_or_default();
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
                looking.for_each(|(_, score)| *score *= READS);
            }
            let spelled = letters(query);
            let exact = self.tools.iter().enumerate().filter(|(_, tool)| self.is_named(tool, &spelled));
            scores.extend(exact.map(|(place, _)| (place, f64::INFINITY)));
            scores.into_iter().map(|(place, score)| (score, place)).collect()
        };
        found.retain(|(_, place)| self.tools.get(*place).is_some_and(in_server));
        found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        let found = found.into_iter().take(limit);
        Ok(found.filter_map(|(score, place)| self.found(place, score)).collect())
    }

    /// The number of tools, in all or of one server.
    fn count(&self, server: Option<&str>) -> usize {
        let Some(name) = server.filter(|name| !name.trim().is_empty()) else { return self.tools.len() };
        let server = self.server(name).ok();
        self.tools.iter().filter(|tool| Some(tool.server) == server).count()
    }

    /// Whether a tool only reads, judged by its name.
    fn looks(&self, place: usize) -> bool {
        let function = self.tools.get(place).map_or("", |tool| tool.function.as_str());
        READ_VERBS.iter().any(|verb| function.strip_prefix(verb).is_some_and(|rest| rest.starts_with('_')))
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

    /// Whether a query equals a tool's name, with or without its server's; case and punctuation are ignored.
    fn is_named(&self, tool: &Tool, spelled: &str) -> bool {
        let server = self.servers.get(tool.server);
        let names = [&tool.name, &tool.function].map(|name| letters(name));
        let is_before = |before: &str| {
            let own = |server: &Server| letters(&server.name) == before || letters(&server.module) == before;
            before.is_empty() || server.is_some_and(own)
        };
        let names = names.iter().filter(|name| !name.is_empty());
        names.filter_map(|name| spelled.strip_suffix(name.as_str())).any(is_before)
    }

    /// The number of tools.
    pub(crate) fn len(&self) -> usize {
        self.tools.len()
    }
}

/// The callable tools of a module, by function, with their full descriptions.
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
