//! `catalog-server`: the number and validity of its tools, and the search queries for them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::talk::ServerProcess;

const PROGRAM: &str = env!("CARGO_BIN_EXE_catalog-server");
const QUERIES: &str = include_str!("../../fixtures/search-queries.json");

fn tools(arguments: &[&str]) -> Vec<Value> {
    let mut talk = ServerProcess::shake_hands(PROGRAM, arguments);
    let listed = talk.request("tools/list", &json!({}));
    listed["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> BTreeSet<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_thousand_tools_have_unique_names_and_descriptions() {
    let tools = tools(&[]);
    assert_eq!(names(&tools).len(), 1000);
    assert!(tools.iter().all(|tool| tool["description"].as_str().is_some_and(|text| text.len() > 10)));
    assert!(tools.iter().any(|tool| tool["outputSchema"].is_object()));
    assert!(tools.iter().any(|tool| tool["outputSchema"].is_null()));
}

#[test]
fn a_smaller_count_keeps_the_first_tools() {
    let (all, few) = (tools(&[]), tools(&["--tools", "250"]));
    assert_eq!(few.len(), 250);
    assert_eq!(few, all[..250]);
}

#[test]
fn every_query_names_a_different_existing_tool() {
    let all = tools(&[]);
    let queries: Vec<Value> = serde_json::from_str(QUERIES).unwrap();
    let wished: BTreeSet<_> = queries.iter().map(|query| query["tool"].as_str().unwrap()).collect();
    assert_eq!(wished.len(), 20);
    assert!(wished.is_subset(&names(&all)), "{:?}", wished.difference(&names(&all)));
}

#[test]
fn the_same_arguments_get_the_same_answer() {
    let mut talk = ServerProcess::shake_hands(PROGRAM, &[]);
    let arguments = json!({ "title": "Lunch", "starts_at": "2026-11-23T12:00:00Z" });
    let created = talk.call("calendar_create_event", &arguments);
    assert_eq!(created, talk.call("calendar_create_event", &arguments));
    assert_eq!(created["structuredContent"]["title"], "Lunch");
    let event = &created["structuredContent"];
    let text: Value = serde_json::from_str(created["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, *event);
    let read = talk.call("calendar_get_event", &json!({ "event_id": event["id"] }));
    assert_eq!(read["structuredContent"]["id"], event["id"]);
    let listed = talk.call("invoices_list_invoices", &json!({ "limit": 3 }));
    let listed: Value = serde_json::from_str(listed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(listed["invoices"].as_array().unwrap().len(), 3);
}

#[test]
fn every_answer_matches_its_output_schema() {
    let mut talk = ServerProcess::shake_hands(PROGRAM, &[]);
    for tool in tools(&[]) {
        let result = talk.call(tool["name"].as_str().unwrap(), &json!({}));
        let Some(schema) = tool["outputSchema"].as_object() else {
            assert!(result["structuredContent"].is_null(), "{tool}");
            continue;
        };
        let answer = result["structuredContent"].as_object().unwrap();
        let known = schema["properties"].as_object().unwrap();
        assert!(
            schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .all(|name| answer.contains_key(name.as_str().unwrap()))
        );
        for (name, value) in answer {
            let fits = match known[name]["type"].as_str().unwrap() {
                "integer" => value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                _ => value.is_string(),
            };
            assert!(fits, "{name}: {value} in {tool}");
        }
    }
}
