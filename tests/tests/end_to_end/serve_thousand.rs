//! `toolsmith serve` in front of a server with a great many tools: what a model is told, and what it finds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::serving::{Serve, Server, outcome_of};

/// What is looked for, and the tool that is wanted.
const QUERIES: &str = include_str!("../../fixtures/search-queries.json");

/// Serving `count` tools, whose bindings take this build a while to make.
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

/// The definitions that a model reads, once all tools are there.
#[track_caller]
fn definitions(server: &mut Server) -> Vec<Value> {
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["execute_code", "search_tools", "describe_tools"], "{listed:#}");
    let read = ["name", "description", "inputSchema"];
    tools.iter().map(|tool| read.iter().map(|key| (*key, tool[*key].clone())).collect()).collect()
}

/// The text that a tool answers with.
#[track_caller]
fn text(server: &mut Server, tool: &str, arguments: &Value) -> String {
    let answer = server.ask(2, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    assert_eq!(answer["result"]["isError"], false, "{answer:#}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn definitions_of_a_great_many_tools_stay_small() {
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
        // A signature begins its line with the call.
        let call = format!("{}(", query["tool"].as_str().unwrap());
        if !found.lines().any(|line| line.starts_with(&call)) {
            missed.insert(query["query"].to_string(), found);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The fields of a struct as they are declared, with their types.
#[track_caller]
fn fields<'a>(description: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let (_, body) =
        description.split_once(&format!("struct {name} {{\n")).unwrap_or_else(|| panic!("{description}"));
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let line = |line: &'a str| line.rsplit_once(',').map_or(line, |(declared, _)| declared);
    lines.map(line).map(|declared| declared.split_once(": ").unwrap()).collect()
}

#[test]
fn what_is_told_of_a_tool_compiles_as_it_stands() {
    let mut server = serving(1_000);
    definitions(&mut server);
    let told = text(&mut server, "describe_tools", &json!({ "tools": ["calendar_create_event"] }));
    let call = told.lines().find(|line| line.starts_with("catalog::CalendarCreateEventInput {")).unwrap();
    let mut snippet = String::new();
    let given = fields(&told, "CalendarCreateEventInput");
    let answered = fields(&told, "CalendarCreateEventOutput");
    assert!(given.len() >= 4 && answered.len() >= 4, "{told}");
    for (name, declared) in given {
        snippet += &format!("let {name}: {declared} = Default::default();\n");
    }
    snippet += &format!("let made: catalog::CalendarCreateEventOutput = {call};\n");
    for (name, declared) in answered {
        snippet += &format!("let _: {declared} = made.{name};\n");
    }
    let arguments = json!({ "code": snippet, "check_only": true });
    let answer = server.ask(3, "tools/call", &json!({ "name": "execute_code", "arguments": arguments }));
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{snippet}{answer:#}");
    assert_eq!(outcome["manifest"], json!(["catalog.calendar_create_event"]));
    assert_eq!(outcome["fixes"], json!([]), "{snippet}");
}
