//! The tools for writing snippets that `serve` offers, as in `tools/list`.
//!
//! Every conversation of every client pays for these texts, so they have a token budget. `wording.rs` contains the
//! texts themselves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::files::files;
use super::signature::Detail;
use super::words::characters;
use super::{Found, Reference, Server, text};

mod wording;

/// Maximum tools whose names are listed if their signatures are too long.
const NAMES_LISTED: usize = 150;
/// Base token limit of the list of servers.
const SERVERS_TOKENS: usize = 120;
/// One more token is allowed for this many tools, …
const TOOLS_TO_THE_TOKEN: usize = 3;
/// … up to this limit.
const SERVERS_TOKENS_AT_MOST: usize = 380;
/// The part of the budget that saved programs may take: a tenth.
const PROGRAMS_SHARE: usize = 10;
/// Characters that are kept for the list of servers while everything before it is made to fit.
const LIST_RESERVE: usize = 60;
/// Maximum characters of a line about a server, tried in this order.
const ABOUT: [usize; 3] = [100, 50, 0];

/// The arguments of `execute_code`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "each is a description in the schema, which every conversation pays for")]
pub struct ExecuteCode {
    pub code: String,
    /// Seconds.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub timeout: Option<f64>,
    /// Compile only.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub check_only: bool,
    /// For args.get.
    #[serde(default)]
    pub args: BTreeMap<String, String>,
    // Without a description: the answer that an execution still runs says how to use it.
    #[serde(default)]
    #[schemars(with = "String")]
    pub execution: Option<String>,
}

/// The arguments of `search_tools`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "each is a description in the schema, which every conversation pays for")]
pub struct SearchTools {
    /// Words; empty: all tools.
    pub query: String,
    #[serde(default)]
    #[schemars(with = "String")]
    pub server: Option<String>,
    #[serde(default)]
    #[schemars(with = "usize")]
    pub limit: Option<usize>,
}

/// The arguments of `describe_tools`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeTools {
    /// Such as `shop::get_customer`.
    pub tools: Vec<String>,
}

/// A tool's definition for clients.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// Its description for models.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
}

impl ToolDefinition {
    /// Its annotations (MCP, `ToolAnnotations`). A snippet may call any allowed tool, and its effects are unknown
    /// beforehand. Some clients skip their own question for tools that claim to be harmless; they must not do so here.
    /// The user decides that in the entry that `toolsmith setup` writes.
    pub fn annotations(&self) -> Value {
        match self.name {
            "execute_code" => json!({
                "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
            }),
            _ => json!({ "readOnlyHint": true, "openWorldHint": false }),
        }
    }
}

/// The length that the description of `execute_code` may have.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The approximate maximum in tokens; the minimum of the description may be larger.
    pub tokens: usize,
    /// The maximum in characters, counted in UTF-16 as most clients do; at least 2 000, because the fixed texts need most
    /// of that.
    pub characters: usize,
}

impl From<usize> for Room {
    fn from(tokens: usize) -> Self {
        Room { tokens, characters: usize::MAX }
    }
}

impl Room {
    fn holds(self, text: &str) -> bool {
        tokens(text) <= self.tokens && characters(text) <= self.characters
    }

    /// The room that a text leaves.
    fn beside(self, text: &str) -> Self {
        Room { tokens: self.tokens.saturating_sub(tokens(text)), ..self.beside_note(text) }
    }

    /// The room that a note leaves, which does not count against the tokens.
    fn beside_note(self, text: &str) -> Self {
        Room { characters: self.characters.saturating_sub(characters(text)), ..self }
    }
}

impl Reference {
    /// The tools to offer: `execute_code`, and the search tools if its description does not contain all signatures, or if
    /// there are skills.
    pub fn definitions(&self, room: impl Into<Room>) -> Vec<ToolDefinition> {
        let (description, is_whole) = self.fitted(room.into(), "");
        let [execute, search, describe] = self.all(description);
        if is_whole && !self.has_skills { vec![execute] } else { vec![execute, search, describe] }
    }

    /// Like [`Reference::definitions`] while some servers have not answered: always includes the search tools, for
    /// clients that do not list again.
    pub fn definitions_so_far(&self, room: impl Into<Room>) -> Vec<ToolDefinition> {
        let (description, _) = self.fitted(room.into(), wording::MORE_TO_COME);
        self.all(description).into()
    }

    /// All three tools.
    fn all(&self, description: String) -> [ToolDefinition; 3] {
        let [execute, mut search, describe] = definitions(description);
        if self.has_skills {
            search.description.push_str(wording::SKILLS);
        }
        [execute, search, describe]
    }

    /// The description, with a note about servers in front, and whether it contains everything that can be called.
    fn fitted(&self, room: Room, starting: &str) -> (String, bool) {
        let fixed = [wording::PURPOSE, starting, wording::HOW, wording::RESOURCES, wording::DISCOVERED];
        let fixed: usize = fixed.iter().map(|text| characters(text) + 1).sum();
        // Texts of any length share what the fixed ones leave; the list of tools gets the rest.
        let share = room.characters.saturating_sub(fixed + LIST_RESERVE) / 4;
        let notes = self.notes(starting, share);
        let (programs, are_all) = self.saved_programs(Room { characters: share, tokens: room.tokens });
        let left = room.beside(&programs).beside_note(&format!("{}{notes}\n", wording::PURPOSE));
        let (description, is_whole) = self.described(left, share);
        (format!("{}{notes}\n{description}{programs}", wording::PURPOSE), is_whole && are_all)
    }

    /// The saved programs that fit into their share of the budget, and whether these are all.
    fn saved_programs(&self, room: Room) -> (String, bool) {
        let room = Room { tokens: room.tokens / PROGRAMS_SHARE, ..room };
        let mut text = String::new();
        for line in &self.programs {
            let head = if text.is_empty() { format!("\n{}", wording::PROGRAMS) } else { String::new() };
            let next = format!("{head}\n{line}");
            if !room.beside(&text).holds(&next) {
                return (text, false);
            }
            text.push_str(&next);
        }
        (text, true)
    }

    /// Lines about unavailable servers, about servers that are starting, and about what the user has to do, each of at
    /// most about `longest` characters.
    fn notes(&self, starting: &str, longest: usize) -> String {
        let missing = self.missing.line_within(longest).unwrap_or_default();
        let untrusted = self.missing.untrusted().map(|line| within(line, longest));
        let lines = [missing.as_str(), starting, untrusted.as_deref().unwrap_or_default()];
        lines.iter().filter(|line| !line.is_empty()).map(|line| format!("\n{line}")).collect()
    }

    /// The description of `execute_code`: how to write a snippet, and as much of the API as fits, most useful form
    /// first.
    #[cfg(test)]
    pub(crate) fn description(&self, room: impl Into<Room>) -> String {
        self.fitted(room.into(), "").0
    }

    /// Describes how to write a snippet, with the API, and whether the signatures are complete. The sentence about
    /// files has about `of_files` characters at most.
    fn described(&self, room: Room, of_files: usize) -> (String, bool) {
        let how = self.how(of_files);
        let all: Vec<Found> = (0..self.len()).filter_map(|place| self.found(place, 0.0)).collect();
        if all.is_empty() {
            let why = self.missing.none().unwrap_or(wording::NO_TOOLS);
            let left = room.beside_note(&how).characters;
            return (format!("{how}\n{}", within(why, left)), true);
        }
        for detail in Detail::ALL {
            let introduction = if detail == Detail::Call { wording::CALLS_ONLY } else { wording::INLINED };
            let how = format!("{how}\n{introduction}\n");
            if let Some(api) = api(&all, detail, room.beside(&how)) {
                return (format!("{how}{api}"), detail == Detail::Whole);
            }
        }
        let how = format!("{how}\n{}", wording::DISCOVERED);
        let left = room.beside(&how);
        let names = (self.len() <= NAMES_LISTED)
            .then(|| self.servers.iter().map(|server| self.names(server)).collect::<String>())
            .filter(|names| left.holds(names));
        let servers = names.unwrap_or_else(|| self.server_list(left.characters));
        (format!("{how}{servers}"), false)
    }

    /// Describes how to write a snippet.
    fn how(&self, of_files: usize) -> String {
        let resources = if self.has_resources { wording::RESOURCES } else { "" };
        format!("{}{}{resources}", wording::HOW, files(&self.grants, of_files))
    }

    /// A server with the names of its tools.
    fn names(&self, server: &Server) -> String {
        let own = self
            .tools
            .iter()
            .filter(|tool| self.servers.get(tool.server).is_some_and(|of| of.name == server.name));
        let functions: Vec<&str> = own.map(|tool| tool.function.as_str()).collect();
        format!("\n{}: {}", line(server, ABOUT[0]), functions.join(", "))
    }

    /// The servers, with as much about each as fits.
    fn server_list(&self, characters: usize) -> String {
        let tokens = (SERVERS_TOKENS + self.len() / TOOLS_TO_THE_TOKEN).min(SERVERS_TOKENS_AT_MOST);
        let room = Room { tokens, characters };
        for max_length in ABOUT {
            let lines: Vec<String> = self.servers.iter().map(|server| line(server, max_length)).collect();
            let text = if max_length > 0 {
                format!("\n{}", lines.join("\n"))
            } else {
                format!(" {}", lines.join(", "))
            };
            if room.holds(&text) {
                return text;
            }
        }
        // The last words say how many more there are.
        let room = Room { characters: characters.saturating_sub(LIST_RESERVE / 2), tokens };
        let mut text = String::new();
        let mut named = 0;
        for server in &self.servers {
            let next = format!("{} {}", if named > 0 { "," } else { "" }, server.module);
            if !room.beside(&text).holds(&next) {
                break;
            }
            text.push_str(&next);
            named += 1;
        }
        match self.servers.len() - named {
            0 => text,
            more if named == 0 => format!(" {more}"),
            more => format!("{text} and {more} more"),
        }
    }
}

/// A line, shortened if it is longer than this. Characters may count twice.
fn within(line: &str, longest: usize) -> String {
    match characters(line) <= longest {
        true => line.to_owned(),
        false => codegen::clean(line, longest / 2),
    }
}

/// All three tools.
fn definitions(description: String) -> [ToolDefinition; 3] {
    [
        ToolDefinition { name: "execute_code", description, input_schema: schema::<ExecuteCode>() },
        ToolDefinition {
            name: "search_tools",
            description: wording::SEARCH.to_owned(),
            input_schema: schema::<SearchTools>(),
        },
        ToolDefinition {
            name: "describe_tools",
            description: wording::DESCRIBE.to_owned(),
            input_schema: schema::<DescribeTools>(),
        },
    ]
}

/// A server's module, its number of tools, and a line about it.
fn line(server: &Server, max_length: usize) -> String {
    let about = codegen::clean(&server.about, max_length);
    let Server { module, count, .. } = server;
    if about.is_empty() || max_length == 0 {
        format!("{module} ({count})")
    } else {
        format!("{module} ({count}): {about}")
    }
}

/// The signatures of all tools, if they fit.
fn api(all: &[Found], detail: Detail, left: Room) -> Option<String> {
    // Every signature has more tokens than this in any form, so lists that are too long are usually not generated.
    const SHORTEST: usize = 5;
    (all.len() * SHORTEST <= left.tokens).then(|| text::signatures(all, detail)).filter(|api| left.holds(api))
}

/// The approximate number of tokens: the larger of an estimate for current tokenizers and a quarter of the characters.
fn tokens(text: &str) -> usize {
    codegen::tokens(text).max(text.chars().count() / 4)
}

/// The approximate number of tokens of `tools/list`: by the estimate for `o200k_base`, and as characters / 4.
pub fn definition_tokens(definitions: &[ToolDefinition]) -> (usize, usize) {
    let tools: Vec<Value> = definitions
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema }))
        .collect();
    let text = Value::Array(tools).to_string();
    (codegen::tokens(&text), text.chars().count() / 4)
}

/// The schema of a struct of arguments, without members that don't help a model.
fn schema<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.remove("description");
    strip(&mut schema);
    schema
}

/// Removes titles, formats, defaults and minimums, recursively.
fn strip(schema: &mut Map<String, Value>) {
    for word in ["title", "format", "default", "minimum"] {
        schema.remove(word);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(strip);
    }
}
