//! About a thousand tools for tests: those of real servers, and generated ones of well-known services.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use codegen::{Style, Tool};
use runner::{Cache, Catalog, ServerTools};
use serde_json::{Value, json};

use super::Reference;
use crate::tool_list::as_declared;

/// A service: its name, its description, and its kinds of objects with their descriptions.
type Service = (String, String, Vec<(String, String)>);

/// Well-known services.
fn known() -> Vec<Service> {
    serde_json::from_str(include_str!("../../tests/services.json")).unwrap()
}

/// Operations on a service's objects: the verb, a sentence, and parameter names.
const VERBS: [(&str, &str, &[&str]); 6] = [
    ("list", "List {plural}, page by page. One is {what}.", &["cursor", "page_size"]),
    ("get", "Get one {name} by its id: {what}.", &["{name}_id"]),
    ("create", "Create a new {name}: {what}. Returns its id.", &["title", "description", "tags"]),
    (
        "update",
        "Change fields of a {name}; missing fields stay unchanged.",
        &["{name}_id", "title", "description"],
    ),
    ("delete", "Delete a {name} for good. This can't be undone.", &["{name}_id", "confirm"]),
    ("search", "Search {plural} by words and filters. One is {what}.", &["query", "filters", "limit"]),
];

fn plural(noun: &str) -> String {
    noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
}

fn generated(
    service: &str,
    (name, what): &(String, String),
    (verb, sentence, parameters): (&str, &str, &[&str]),
) -> Tool {
    let many = matches!(verb, "list" | "search");
    let sentence = sentence.replace("{plural}", &plural(name).replace('_', " "));
    let sentence = sentence.replace("{name}", &name.replace('_', " ")).replace("{what}", what);
    let parameters: Vec<String> =
        parameters.iter().map(|parameter| parameter.replace("{name}", name)).collect();
    let property =
        |name: &String| (name.clone(), json!({ "type": "string", "description": format!("The {name}.") }));
    let properties: serde_json::Map<String, Value> = parameters.iter().map(property).collect();
    let one = json!({ "type": "object", "properties": { "id": { "type": "string" }, "title": { "type": "string" } }, "required": ["id"] });
    let list = json!({ "type": "object", "properties": { "items": { "type": "array", "items": one.clone() }, "next_cursor": { "type": "string" } } });
    Tool {
        name: format!("{verb}_{}", if many { plural(name) } else { name.clone() }),
        description: Some(format!("{sentence} Part of {service}.")),
        input_schema: json!({ "type": "object", "properties": properties, "required": parameters.first() }),
        output_schema: Some(if many { list } else { one }),
        answers: codegen::Answers::default(),
    }
}

/// The tools of real servers, by server.
pub(super) fn real() -> BTreeMap<String, Vec<Tool>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../codegen/tests/fixtures/schemas");
    let names = ["demo", "everything", "fetch", "filesystem", "git", "memory", "sequential-thinking", "time"];
    let tools = |name: &str| {
        let text = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        let tools: Vec<Value> = serde_json::from_slice(&text).unwrap();
        tools.iter().filter_map(as_declared).collect()
    };
    names.iter().map(|name| ((*name).to_owned(), tools(name))).collect()
}

/// Generated servers with 24 tools each.
pub(super) fn services(count: usize) -> BTreeMap<String, Vec<Tool>> {
    let tools = |service: &str, nouns: &[(String, String)]| {
        nouns.iter().flat_map(|noun| VERBS.iter().map(|verb| generated(service, noun, *verb))).collect()
    };
    let services = known().into_iter().take(count);
    services.map(|(service, _, nouns)| (service.clone(), tools(&service, &nouns))).collect()
}

/// A line about each generated service.
pub(super) fn about() -> BTreeMap<String, String> {
    known().into_iter().map(|(service, about, _)| (service, about)).collect()
}

/// A reference to these servers.
pub(super) fn reference(servers: &BTreeMap<String, Vec<Tool>>) -> Reference {
    let folder = tempfile::tempdir().unwrap();
    Reference::new(Arc::new(catalog(folder.path(), servers)), &about()).unwrap()
}

pub(super) fn catalog(cache: &Path, servers: &BTreeMap<String, Vec<Tool>>) -> Catalog {
    let tools = servers.iter().map(|(name, tools)| ServerTools {
        name,
        digest: name.clone(),
        tools: Box::new(|| tools.clone()),
        source: None,
    });
    let cache = Cache::open(cache, runner::DEFAULT_SIZE).unwrap();
    let denied = |_: &str, tool: &str| tool == "denied_tool";
    Catalog::generate(&cache, tools.collect(), [], &Style::default(), denied)
}
