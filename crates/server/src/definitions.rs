//! The definitions of the server and its tools, and the results of the lookup tools.

use std::sync::Arc;

use answer::client_profile::{ClientProfile, UNKNOWN};
use answer::shapes::{self, AnswerShapes};
use config::Config;
use gateway::direct::{DirectTool, RESERVED, presented};
use gateway::observed::is_one_text;
use gateway::reference::{DescribeTools, FOUND_AT_MOST, Room, SearchTools, ToolDefinition, found_by_default};
use gateway::server_skills::is_address;
use gateway::unavailable::UnavailableTools;
use rmcp::ErrorData;
use rmcp::model::{ServerCapabilities, ServerConfig, TASKS_EXTENSION_ID};
use serde_json::{Value, json};
use snippet::Catalog as _;

use super::apps;
use super::instructions::instructions;
use super::programs::CheckedProgram;
use super::protocol_types;
use super::snapshot::Snapshot;
use super::tool_forms::{FormedTools, ToolForm};

/// The tool that runs snippets.
pub const EXECUTE: &str = "execute_code";

/// The member of a tool's `_meta` that has Claude Code show it to the model without a search.
const ALWAYS_LOADED: &str = "anthropic/alwaysLoad";

/// The tool's title in clients; some send it to the model with the name.
const TITLE: &str = "Do a task with many tool calls in one program";

/// Limit on found tools whose answers are described after a search.
const SHAPES_SHOWN: usize = 8;

/// Limit on saved programs in the answer to a search.
const PROGRAMS_SHOWN: usize = 10;

/// The tools that look tools up.
pub(crate) const SEARCH: &str = "search_tools";
pub(crate) const DESCRIBE: &str = "describe_tools";

/// The advice to a model if a tool is no longer the one that its snippet was compiled for.
pub(crate) const TOOL_CHANGED: &str = "look the server's tools up again, and write the snippet for them";

/// The server's capabilities, and its instructions for a client.
pub(crate) fn info(client: &ClientProfile, config: &Config) -> ServerConfig {
    let capabilities = json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "logging": {},
        "completions": {},
        "extensions": { TASKS_EXTENSION_ID: {} },
    });
    // The constant above has the right form.
    let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
    let info = ServerConfig::new(capabilities).with_server_info(protocol_types::server_info());
    match instructions(client, config) {
        Some(instructions) => info.with_instructions(instructions),
        None => info,
    }
}

/// Whether snippets can be run: the configuration may restrict clients to direct tools.
pub(crate) fn executes(snapshot: &Snapshot) -> bool {
    snapshot.config().code_mode.enabled
}

/// All tools for a client: those of code mode, then the direct ones as their servers describe them. Those that are only
/// for apps are for clients that show apps.
pub(crate) fn tools(snapshot: &Snapshot, client: &ClientProfile, shows_apps: bool) -> Vec<Value> {
    let direct = snapshot.partition.direct.iter().filter(|direct| shows_apps || !direct.is_for_apps);
    let direct = direct.filter_map(|direct| described(snapshot, direct));
    let programs = programs(snapshot).map(|program| program.definition.clone());
    own_tools(snapshot, client).tools.iter().cloned().chain(direct).chain(programs).collect()
}

/// Whether two snapshots have different tools for a client: a change of a server or of the configuration may leave the
/// list as it is.
pub(crate) fn lists_differ(known: &Snapshot, now: &Snapshot, client: &ClientProfile) -> bool {
    let digest = |snapshot: &Snapshot| {
        *own_tools(snapshot, client).digest.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            // Whether a client may also save programs depends on the client.
            hasher.update(&[u8::from(snapshot.config().serve.save_program)]);
            for tool in tools(snapshot, client, true) {
                hasher.update(tool.to_string().as_bytes());
            }
            hasher.finalize()
        })
    };
    !known.offers_the_same(now) && digest(known) != digest(now)
}

/// The definition of the tool with this name.
pub(crate) fn tool(snapshot: &Snapshot, name: &str) -> Option<Value> {
    let direct = snapshot.partition.find(name).filter(|direct| direct.name == name);
    match direct {
        Some(direct) => described(snapshot, direct),
        None => {
            let own = own_tools(snapshot, &UNKNOWN).tools.iter().find(|tool| tool["name"] == name).cloned();
            own.or_else(|| program(snapshot, name).map(|program| program.definition.clone()))
        }
    }
}

/// The saved programs that are tools. Other tools keep their names.
fn programs(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<CheckedProgram>> {
    let is_free = |name: &str| !RESERVED.contains(&name) && snapshot.partition.find(name).is_none();
    let programs = snapshot.programs.0.iter().filter(move |(name, _)| executes(snapshot) && is_free(name));
    let programs = programs.map(|(_, program)| program).filter(|program| program.offered.is_tool);
    programs.filter(|program| program.may_be_seen(snapshot.config()))
}

/// The saved program with this name, if it is a tool.
pub(crate) fn program<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a Arc<CheckedProgram>> {
    programs(snapshot).find(|program| program.offered.name == name)
}

/// The tools of code mode for a client, described once for each form.
fn own_tools(snapshot: &Snapshot, client: &ClientProfile) -> Arc<FormedTools> {
    let form = ToolForm::of(client, &snapshot.config().serve);
    snapshot.own_tools.get(form, || describe_own_tools(snapshot, form))
}

fn describe_own_tools(snapshot: &Snapshot, form: ToolForm) -> Vec<Value> {
    let definitions = executes(snapshot).then(|| {
        let tokens = snapshot.config().serve.description_tokens;
        let room = Room { tokens, characters: form.description_cap };
        match snapshot.is_whole {
            true => snapshot.reference.definitions(room),
            false => snapshot.reference.definitions_so_far(room),
        }
    });
    let own = |definition| own(&definition, form, snapshot.config());
    definitions.into_iter().flatten().map(own).collect()
}

fn described(snapshot: &Snapshot, direct: &DirectTool) -> Option<Value> {
    let tool = snapshot.lists.get(&direct.server)?.tool(&direct.tool)?;
    let tool = snapshot.settings.known.observed.direct(&direct.server, tool);
    let mut tool = presented(&direct.server, &tool).ok()?;
    tool["name"] = json!(direct.name);
    apps::rename_in_tool(&direct.server, &mut tool);
    Some(tool)
}

/// A tool of code mode. Its output schema is stated only if it returns structured outcomes.
fn own(definition: &ToolDefinition, form: ToolForm, config: &Config) -> Value {
    let ToolDefinition { name, description, input_schema } = definition;
    let mut tool = json!({
        "name": name, "description": description, "inputSchema": input_schema, "_meta": { ALWAYS_LOADED: true },
    });
    if *name == EXECUTE {
        tool["title"] = json!(TITLE);
        let (default, max) =
            (config.code_mode.timeout.as_secs_f64(), config.code_mode.max_timeout.as_secs_f64());
        let text = format!("Time limit in seconds, compiling included (default {default}, at most {max}).");
        tool["inputSchema"]["properties"]["timeout"]["description"] = json!(text);
        if form.is_structured {
            tool["outputSchema"] = answer::output_schema();
        }
    }
    tool["annotations"] = definition.annotations();
    tool
}

/// Whether a look-up finds what it names. Wrong arguments find nothing later either.
pub(crate) fn finds(snapshot: &Snapshot, name: &str, arguments: Option<&Value>) -> bool {
    let arguments = arguments.cloned().unwrap_or_default();
    let found = match name {
        SEARCH => serde_json::from_value(arguments).map(|SearchTools { query, server, .. }| {
            let found = snapshot.reference.search(&query, server.as_deref(), 1);
            found.is_ok_and(|found| !found.is_empty())
        }),
        DESCRIBE => serde_json::from_value(arguments)
            .map(|DescribeTools { tools }| without_skills(tools))
            .map(|tools| tools.iter().all(|tool| snapshot.reference.tool(tool).is_some())),
        _ => return true,
    };
    found.unwrap_or(true)
}

/// The result of a tool that looks tools up; `None` for any other.
pub(crate) fn discover(
    snapshot: &Snapshot,
    name: &str,
    arguments: Option<&Value>,
    seen: &AnswerShapes,
) -> Option<Value> {
    if !executes(snapshot) {
        return None;
    }
    let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
    let text = match name {
        SEARCH => serde_json::from_value(arguments).map(|arguments: SearchTools| {
            let SearchTools { query, server, limit } = arguments;
            let limit = limit.unwrap_or_else(|| found_by_default(&query)).min(FOUND_AT_MOST);
            let text = snapshot.reference.search_text(&query, server.as_deref(), limit);
            let found = snapshot.reference.search(&query, server.as_deref(), limit).unwrap_or_default();
            let tools = found.iter().map(|found| (found.server.as_str(), found.tool.as_str()));
            let shapes =
                tools.take(SHAPES_SHOWN).filter_map(|(server, tool)| shape(server, tool, snapshot, seen));
            let programs = if server.is_none() { programs_text(&query, snapshot) } else { None };
            [text].into_iter().chain(shapes).chain(programs).collect::<Vec<_>>().join("\n")
        }),
        DESCRIBE => serde_json::from_value(arguments).map(|arguments: DescribeTools| {
            let shape = |server: &str, tool: &str| shape(server, tool, snapshot, seen);
            let is_given = !arguments.tools.is_empty();
            match without_skills(arguments.tools) {
                tools if tools.is_empty() && is_given => String::new(),
                tools => snapshot.reference.describe_text(&tools, shape),
            }
        }),
        _ => return None,
    };
    Some(match text {
        Ok(text) => {
            // Files of skills follow as content of their own.
            let content = if text.is_empty() { json!([]) } else { json!([{ "type": "text", "text": text }]) };
            let result = json!({ "content": content, "isError": false });
            with_note(result, &snapshot.missing)
        }
        Err(error) => answer::failure(&format!("invalid arguments of {name}: {error}")),
    })
}

/// The names in a look-up that are no files of skills.
fn without_skills(names: Vec<String>) -> Vec<String> {
    names.into_iter().filter(|name| !is_address(name)).collect()
}

/// The saved programs with all words of a query, if any. A broken one says so.
fn programs_text(query: &str, snapshot: &Snapshot) -> Option<String> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let callable = snapshot.settings.programs.callable(snapshot.config());
    let found = callable.filter(|(_, program)| program.has(&words)).take(PROGRAMS_SHOWN);
    let lines: Vec<String> = found.map(|(name, program)| snapshot.programs.line(name, program)).collect();
    (!lines.is_empty()).then(|| format!("\nSaved programs, to call in a snippet:\n{}", lines.join("\n")))
}

/// Appends a line about the user's first step, if there is one; for an error, also one about unavailable servers.
pub(crate) fn with_note(result: Value, missing: &UnavailableTools) -> Value {
    let gone = missing.unavailable().filter(|_| result["isError"] == true);
    with_lines(result, gone.into_iter().chain(missing.untrusted().map(str::to_owned)))
}

/// Appends lines to a result.
pub(crate) fn with_lines(mut result: Value, lines: impl IntoIterator<Item = String>) -> Value {
    if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
        content.extend(lines.into_iter().map(|line| json!({ "type": "text", "text": line })));
    }
    result
}

/// The shape of a tool's answers, as comments.
fn shape(server: &str, tool: &str, snapshot: &Snapshot, seen: &AnswerShapes) -> Option<String> {
    let shape = seen.shape(server, tool).or_else(|| observed_text(server, tool, snapshot))?;
    Some(shapes::comment(server, tool, &shape))
}

/// The shape of a text that the user had observed, unless the tool declares another output.
fn observed_text(server: &str, tool: &str, snapshot: &Snapshot) -> Option<String> {
    let text = snapshot.settings.known.observed.text(server, tool)?;
    let declared = snapshot.lists.get(server)?.tool(tool)?.get("outputSchema").cloned();
    declared.as_ref().is_none_or(is_one_text).then(|| shapes::shape_of_text(text, &snapshot.settings.masker))
}

/// The error for an unknown tool name (MCP, "Tools", "Error Handling").
pub(crate) fn unknown_tool(snapshot: &Snapshot, name: &str) -> ErrorData {
    let known = snapshot.partition.direct.iter().filter(|tool| !tool.is_for_apps);
    let known: Vec<&str> = known.map(|tool| tool.name.as_str()).collect();
    let nearest = known.iter().map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    let nearest = nearest.filter(|(distance, _)| *distance <= 3);
    let left_out = snapshot.lists.keys().find_map(|server| {
        let reason = snapshot.catalog.absent_tool(server, name)?;
        Some(format!(" of {server} can't be called: {reason}"))
    });
    if let Some(reason) = left_out {
        return ErrorData::invalid_params(format!("the tool {name:?}{reason}"), None);
    }
    let help = match nearest {
        Some((_, known)) => format!("; did you mean {known}?"),
        None if executes(snapshot) => {
            "; call the tools of servers from a snippet with execute_code".to_owned()
        }
        None => String::new(),
    };
    let missing = snapshot.missing.line().map(|line| format!(". {line}")).unwrap_or_default();
    ErrorData::invalid_params(format!("unknown tool {name:?}{help}{missing}"), None)
}

/// Adapts a result to the client's era: since 2026-07-28 it states that it is complete, and how long lists may be
/// cached.
pub fn of_era(method: &str, mut result: Value, is_stateless: bool) -> Value {
    let Some(members) = result.as_object_mut() else { return result };
    if !is_stateless {
        // Removes only the default value: older clients may not know the member.
        if members.get("resultType").is_some_and(|kind| kind == "complete") {
            members.remove("resultType");
        }
        return result;
    }
    let is_complete = members.entry("resultType").or_insert_with(|| json!("complete")) == "complete";
    let is_kept = matches!(
        method,
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "resources/read"
    );
    if is_complete && is_kept {
        members.entry("ttlMs").or_insert_with(|| json!(0));
        members.entry("cacheScope").or_insert_with(|| json!("private"));
    }
    result
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use config::Server;
    use gateway::pins::Known;
    use gateway::tool_list::ToolList;
    use terminal::Terminal;

    use super::*;
    use crate::snapshot::{Lists, Settings};
    use answer::client_profile::CLIENTS;

    /// The snapshot of a server with this tool, request timeout and place of its tools.
    fn snapshot(tool: &str, timeout: u64, code_mode: bool) -> Snapshot {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = mcp::ServerConfig::stdio("s", "s-mcp", [""; 0]);
        connection.request_timeout = Duration::from_secs(timeout);
        let server = Server { code_mode, ..Server::new(connection, String::new()) };
        let config = Config { servers: vec![server], ..Config::default() };
        let settings = Settings::new(config, Known::default(), None).unwrap();
        let tools = ToolList::new(&[json!({ "name": tool, "inputSchema": { "type": "object" } })]);
        let lists = BTreeMap::from([("s".to_owned(), Arc::new(tools))]);
        let lists = Lists { lists, is_whole: true, ..Lists::default() };
        let cache = runner::Cache::open(folder.path(), runner::DEFAULT_SIZE).unwrap();
        Snapshot::build(settings, lists, &cache, &Terminal::new(true, false).notifier())
    }

    #[test]
    fn lists_differ_only_if_clients_see_other_tools() {
        let known = snapshot("a", 1, true);
        let slower = snapshot("a", 2, true);
        for client in CLIENTS.iter().chain([&UNKNOWN]) {
            assert!(!known.offers_the_same(&slower) && !lists_differ(&known, &slower, client));
            assert!(lists_differ(&known, &snapshot("b", 1, true), client));
            assert!(lists_differ(&known, &snapshot("a", 1, false), client));
        }
    }
}
