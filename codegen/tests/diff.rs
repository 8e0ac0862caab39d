//! The reported differences between two versions of a tool.

#![allow(clippy::needless_pass_by_value, reason = "schemas are written inline")]

use codegen::{Changed, Tool, ToolsDiff, diff};
use serde_json::{Map, Value, json};

mod support;

fn tool(name: &str, properties: Value, required: &[&str], output: Option<Value>) -> Tool {
    Tool {
        name: name.to_owned(),
        description: Some("Does it.".to_owned()),
        input_schema: json!({ "type": "object", "properties": properties, "required": required }),
        output_schema: output,
        answers: codegen::Answers::default(),
    }
}

#[track_caller]
fn check_tools(old: Tool, new: Tool, expected: &[&str]) {
    let found = diff(&[old], &[new]).changed.pop().map(|changed| changed.changes).unwrap_or_default();
    let lines: Vec<&str> = found.iter().map(|change| change.line.as_str()).collect();
    assert_eq!(lines, expected);
    // Only descriptions are marked as such.
    assert!(found.iter().all(|change| change.is_description == change.line.ends_with("description changed")));
}

/// The changes of a property `a`.
#[track_caller]
fn check(old: Value, new: Value, expected: &[&str]) {
    let input = |schema: Value| tool("tool", json!({ "a": schema }), &[], None);
    check_tools(input(old), input(new), expected);
}

#[test]
fn tools_are_added_and_removed() {
    let named = |name: &str| tool(name, json!({}), &[], None);
    let found = diff(&[named("b"), named("a"), named("b")], &[named("d"), named("b"), named("c")]);
    let expected =
        ToolsDiff { added: vec!["c".into(), "d".into()], removed: vec!["a".into()], changed: Vec::new() };
    assert_eq!(found, expected);
}

#[test]
fn properties_change() {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer" });
    check_tools(
        tool("tool", json!({ "limit": count, "old": text, "stays": text, "may": text }), &["may"], None),
        tool(
            "tool",
            json!({ "limit": text, "cursor": text, "more": count, "stays": text, "may": text }),
            &["cursor"],
            None,
        ),
        &[
            "input.cursor: added, required",
            "input.limit: type changed from integer to string",
            "input.may: now optional",
            "input.more: added, optional",
            "input.old: removed",
        ],
    );
    check(
        json!({ "type": "integer", "minimum": 1, "maximum": 50, "description": "Old." }),
        json!({ "type": "integer", "maximum": 100, "default": 20, "description": "New." }),
        &[
            "input.a: description changed",
            "input.a: default 20 added",
            "input.a: maximum changed from 50 to 100",
            "input.a: minimum 1 removed",
        ],
    );
    check(
        json!({ "enum": ["open", "closed"] }),
        json!({ "enum": ["open", "lost"] }),
        &["input.a: enum value \"closed\" removed", "input.a: enum value \"lost\" added"],
    );
    check(
        json!({ "type": "array", "items": { "type": "object", "properties": { "x": text } } }),
        json!({ "type": "array", "items": { "type": "object", "properties": { "x": { "type": "array", "items": count } } } }),
        &["input.a[].x: type changed from string to array of integer"],
    );
    check(
        json!({ "type": "array", "items": text }),
        json!({ "type": "array", "items": { "type": ["string", "null"] } }),
        &["input.a[]: null now allowed"],
    );
    let variant = |kind: &str, schema: &Value| json!({ "type": "object", "properties": { "kind": { "const": kind }, "x": schema }, "required": ["kind"] });
    check(
        json!({ "oneOf": [variant("p", &text), variant("q", &text)] }),
        json!({ "oneOf": [variant("p", &count), variant("q", &text), variant("r", &text)] }),
        &["input.a: variant \"r\" added", "input.a<p>.x: type changed from string to integer"],
    );
    check(
        json!({ "anyOf": [text, { "type": "array", "items": text }] }),
        json!({ "anyOf": [{ "type": "array", "items": count }, count] }),
        &[
            "input.a: string no longer allowed",
            "input.a: number now allowed",
            "input.a[]: type changed from string to integer",
        ],
    );
}

#[test]
fn changed_spellings_are_reported_without_details() {
    let unexplained = &["input: changed, but neither its types nor its descriptions"];
    check(
        json!({ "type": ["string", "null"] }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        unexplained,
    );
    check(json!({ "type": "string" }), json!({ "type": "string", "x-order": 3 }), unexplained);
    check(json!({ "type": "string" }), json!({ "type": "string" }), &[]);
}

#[test]
fn outputs_and_descriptions_change() {
    let output = || Some(json!({ "type": "object", "properties": { "x": { "type": "string" } } }));
    let with = |output: Option<Value>, observed: bool| {
        let answers = if observed { codegen::Answers::observed() } else { codegen::Answers::default() };
        Tool { answers, ..tool("tool", json!({}), &[], output) }
    };
    check_tools(with(None, false), with(output(), false), &["output: now declared"]);
    check_tools(with(output(), false), with(None, false), &["output: no longer declared"]);
    check_tools(with(output(), true), with(output(), false), &["output: now declared"]);
    check_tools(
        with(output(), false),
        with(Some(json!({ "type": "array" })), false),
        &["output: type changed from object to array of any value"],
    );
    let other = Tool { description: Some("Does more.".to_owned()), ..with(None, false) };
    check_tools(with(None, false), other, &["description changed"]);
}

#[test]
fn recursive_schemas_are_bounded() {
    let list = |length: usize, schema: &str| {
        let definitions: Map<String, Value> = (0..length)
            .map(|index| {
                let next = json!({ "$ref": format!("#/$defs/A{}", (index + 1) % length) });
                (
                    format!("A{index}"),
                    json!({ "type": "object", "properties": { "next": next, "x": { "type": schema } } }),
                )
            })
            .collect();
        let mut tool = tool("tool", json!({ "a": { "$ref": "#/$defs/A0" } }), &[], None);
        tool.input_schema["$defs"] = Value::Object(definitions);
        tool
    };
    let found = diff(&[list(19, "string")], &[list(20, "integer")]);
    let changes = &found.changed[0].changes;
    assert_eq!(changes[0].line, "input.a.x: type changed from string to integer");
    assert!(changes.len() < 102, "{} changes", changes.len());
}

#[test]
fn changes_are_bounded() {
    let properties = |schema: &str| -> Value {
        let properties: Map<String, Value> =
            (0..300).map(|index| (format!("p{index:03}"), json!({ "type": schema }))).collect();
        Value::Object(properties)
    };
    let tools = |schema: &str| -> Vec<Tool> {
        (0..30).map(|index| tool(&format!("t{index:02}"), properties(schema), &[], None)).collect()
    };
    let found = diff(&tools("string"), &tools("integer")).changed;
    assert_eq!(found.len(), 30);
    assert_eq!(found[0].changes.len(), 101);
    assert_eq!(found[0].changes[100].line, "and 200 more changes");
    let Changed { name, changes } = &found[29];
    assert_eq!((name.as_str(), changes.len(), changes[0].line.as_str()), ("t29", 1, "input: changed"));
}

/// No tool differs from itself, whatever the order of the lists.
#[test]
fn equal_lists_have_no_changes() {
    for mut server in support::servers() {
        let tools = server.tools.clone();
        server.tools.reverse();
        assert_eq!(diff(&tools, &server.tools), ToolsDiff::default());
    }
}
