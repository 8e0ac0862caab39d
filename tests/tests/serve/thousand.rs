//! `toolsmith serve` in front of a server with very many tools: definitions, search and descriptions.

use std::collections::BTreeMap;

use end_to_end::serving::{Serve, Server, outcome_of};
use serde_json::{Value, json};

/// Search queries with the expected tools.
const QUERIES: &str = include_str!("../../fixtures/search-queries.json");

/// Serves `count` tools, whose bindings take a debug build a while to generate.
fn serving(count: u32) -> Server {
    let program = env!("CARGO_BIN_EXE_catalog-server");
    let config = format!(
        "mcpServers:\n  catalog: {{ command: {program:?}, args: [--tools, \"{count}\"], trust: true }}\n\
         serve: {{ listWait: 50 }}\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    server
}

/// The definitions that a model reads, once all tools are available.
#[track_caller]
fn definitions(server: &mut Server) -> Vec<Value> {
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["execute_code", "search_tools", "describe_tools"], "{listed:#}");
    let read = ["name", "description", "inputSchema"];
    tools.iter().map(|tool| read.iter().map(|key| (*key, tool[*key].clone())).collect()).collect()
}

/// The text of a tool's answer.
#[track_caller]
fn text(server: &mut Server, tool: &str, arguments: &Value) -> String {
    let answer = server.ask(2, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    assert_eq!(answer["result"]["isError"], false, "{answer:#}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn definitions_of_very_many_tools_stay_small() {
    for (count, most) in [(250, 700), (1_000, 1_000)] {
        let definitions = definitions(&mut serving(count));
        let described = definitions[0]["description"].as_str().unwrap();
        let line = format!("catalog ({count}): Services of an office, made up");
        assert!(described.contains(&line), "{described}");
        let tokens = Value::from(definitions).to_string().chars().count() / 4;
        assert!(tokens <= most, "{count} tools: {tokens} tokens");
    }
}

#[test]
fn twenty_written_queries_find_their_tools_among_a_thousand() {
    let mut server = serving(1_000);
    definitions(&mut server);
    let queries: Vec<Value> = serde_json::from_str(QUERIES).unwrap();
    assert_eq!(queries.len(), 20);
    let mut missed = BTreeMap::new();
    for query in &queries {
        let found = text(&mut server, "search_tools", &json!({ "query": query["query"], "limit": 3 }));
        // A signature's line starts with the call.
        let call = format!("{}(", query["tool"].as_str().unwrap());
        if !found.lines().any(|line| line.starts_with(&call)) {
            missed.insert(query["query"].to_string(), found);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The declared fields of a struct, with their types.
#[track_caller]
fn fields<'a>(description: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let (_, body) =
        description.split_once(&format!("struct {name} {{\n")).unwrap_or_else(|| panic!("{description}"));
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines
        .map(|line| line.rsplit_once(',').map_or(line, |(declared, _)| declared))
        .map(|declared| declared.split_once(": ").unwrap())
        .collect()
}

#[test]
fn described_code_compiles_unchanged() {
    let mut server = serving(1_000);
    definitions(&mut server);
    let described = text(&mut server, "describe_tools", &json!({ "tools": ["calendar_create_event"] }));
    let call =
        described.lines().find(|line| line.starts_with("catalog::CalendarCreateEventInput {")).unwrap();
    let mut snippet = String::new();
    let parameters = fields(&described, "CalendarCreateEventInput");
    let outputs = fields(&described, "CalendarCreateEventOutput");
    assert!(parameters.len() >= 4 && outputs.len() >= 4, "{described}");
    for (name, declared) in parameters {
        snippet += &format!("let {name}: {declared} = Default::default();\n");
    }
    snippet += &format!("let made: catalog::CalendarCreateEventOutput = {call};\n");
    for (name, declared) in outputs {
        snippet += &format!("let _: {declared} = made.{name};\n");
    }
    let arguments = json!({ "code": snippet, "check_only": true });
    let answer = server.ask(3, "tools/call", &json!({ "name": "execute_code", "arguments": arguments }));
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{snippet}{answer:#}");
    assert_eq!(outcome["manifest"], json!(["catalog.calendar_create_event"]));
    assert_eq!(outcome["fixes"], json!([]), "{snippet}");
}
