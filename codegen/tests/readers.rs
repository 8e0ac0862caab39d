//! The texts about a tool for models: the signature in its styles, and the documentation.

#![allow(clippy::needless_pass_by_value, reason = "schemas are written inline")]
#![allow(clippy::unwrap_used, reason = "part of tests: a missing tool is a failure")]

mod support;

use codegen::{Server, Style, Tool, ToolBinding, generate, generate_with};
use serde_json::{Value, json};

fn tool(description: &str, properties: Value, required: &[&str]) -> Tool {
    Tool {
        name: "move_file".to_owned(),
        description: Some(description.to_owned()),
        input_schema: json!({ "type": "object", "properties": properties, "required": required }),
        output_schema: None,
        answers: codegen::Answers::default(),
    }
}

fn binding(tool: Tool, style: &Style) -> ToolBinding {
    let server = Server { name: "files".to_owned(), tools: vec![tool] };
    generate_with(&server, "files", style).tools.pop().unwrap()
}

#[track_caller]
fn check(properties: Value, required: &[&str], lines: &[&str]) {
    let signature = binding(tool("", properties, required), &Style::default()).signature;
    assert_eq!(signature.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn arguments_that_could_be_swapped_are_named() {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer" });
    check(
        json!({ "source": text, "destination": text, "force": { "type": "boolean", "default": false } }),
        &["source", "destination"],
        &[
            "MoveFileInput { source: String, destination: String, force: Option<bool> /* default false */ }.call() -> ToolResult",
            "move_file(source, destination)",
        ],
    );
    // No named fields if the types differ, if other types are between them, or for setters.
    check(
        json!({ "path": text, "lines": count, "mode": text, "user": text, "group": text }),
        &["path", "lines", "mode"],
        &["move_file(path: String, lines: i64, mode: String, user?: String, group?: String) -> ToolResult"],
    );
    let kinds = |values: [&str; 2]| json!({ "enum": values });
    check(
        json!({ "a": kinds(["x", "y"]), "b": kinds(["p", "q"]) }),
        &["a", "b"],
        &[r#"move_file(a: "x"|"y", b: "p"|"q") -> ToolResult"#],
    );
    // Five are too many to keep in order, whatever their types.
    let flag = json!({ "type": "boolean" });
    check(
        json!({ "a": text, "b": count, "c": text, "d": count, "e": flag }),
        &["a", "b", "c", "d", "e"],
        &[
            "MoveFileInput { a: String, b: i64, c: String, d: i64, e: bool }.call() -> ToolResult",
            "move_file(a, b, c, d, e)",
        ],
    );
    check(
        json!({ "a": text, "b": count, "c": text, "d": count, "e": flag }),
        &["a", "b", "c", "d"],
        &["move_file(a: String, b: i64, c: String, d: i64, e?: bool) -> ToolResult"],
    );
}

#[test]
fn formats_that_name_a_width_are_left_out() {
    let schema = |name: &str, format: &str| json!({ "type": name, "format": format });
    check(
        json!({
            "a": schema("integer", "uint32"), "b": schema("number", "double"), "c": schema("string", "date-time"),
            "d": schema("string", "int64"), "e": { "type": ["integer", "null"], "format": "int32", "minimum": 0 },
        }),
        &[],
        &[
            "move_file(a?: i64, b?: f64, c?: String /* format date-time */, d?: String /* format int64 */, e?: i64 or null /* at least 0 */) -> ToolResult",
        ],
    );
}

#[test]
fn remarks_include_those_of_referenced_schemas() {
    check(
        json!({
            "limit": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 9 }, { "type": "null" }], "title": "Limit" },
            "state": { "$ref": "#/properties/limit", "description": "How many." },
            "old": { "type": "integer", "minimum": 3, "exclusiveMinimum": true, "divisibleBy": 2 },
        }),
        &[],
        &[
            "move_file(limit?: i64 or null /* at least 1; at most 9 */, state?: i64 or null /* How many; at least 1; at most 9 */, old?: i64 /* above 3; a multiple of 2 */) -> ToolResult",
        ],
    );
}

#[test]
fn styles_cut_descriptions() {
    let field = json!({ "a": { "type": "string", "description": "one two three", "minLength": 1 } });
    let tool = || tool("Move or rename it.", field.clone(), &[]);
    let signature = |description, remark| binding(tool(), &Style { description, remark }).signature;
    assert_eq!(
        signature(10, 8),
        "/// Move or…\nmove_file(a?: String /* one two…; length at least 1 */) -> ToolResult"
    );
    assert_eq!(signature(0, 0), "move_file(a?: String /* length at least 1 */) -> ToolResult");
    assert_eq!(signature(200, 80), binding(tool(), &Style::default()).signature);
}

#[test]
fn outputs_that_were_observed_are_marked() {
    let mut tool = tool("", json!({}), &[]);
    tool.output_schema = Some(json!({ "type": "object", "properties": { "a": { "type": "string" } } }));
    let declared = binding(tool.clone(), &Style::default());
    tool.answers = codegen::Answers::observed();
    let observed = binding(tool, &Style::default());
    assert_eq!(declared.signature, "move_file() -> { a: Option<String> }");
    assert!(!declared.documentation.contains("observed"));
    assert_eq!(observed.signature, "move_file() -> { a: Option<String> } /* observed, not declared */");
    assert!(observed.documentation.contains("with the result in `raw`"), "{}", observed.documentation);
    // The code differs only in how it explains a mismatch.
    assert_ne!(declared.source, observed.source);
    assert_eq!(declared.source, observed.source.replace("poll_observed", "poll"));
}

/// The rules of names, and that a tool which has nothing to do with them changes none.
#[test]
fn equal_types_are_one_with_a_stable_name() {
    let text = json!({ "type": "string" });
    let returns = |name: &str, output: Value| Tool {
        name: name.to_owned(),
        description: None,
        input_schema: json!({ "type": "object", "properties": {} }),
        output_schema: Some(output),
        answers: Default::default(),
    };
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    let list = |key: &str, item: Value| object(json!({ key: { "type": "array", "items": item } }));
    let row = object(json!({ "id": text, "state": { "enum": ["on", "off"] } }));
    let mut named = row.clone();
    named["title"] = json!("Lamp");
    let tools = vec![
        returns("list_lamps", list("lamps", json!({ "$ref": "#/$defs/Lamp" }))),
        returns("find_lamps", list("found", row.clone())),
        returns("get_lamp", named.clone()),
        returns("list_rooms", list("rooms", object(json!({ "name": text, "size": { "type": "integer" } })))),
        returns("find_rooms", list("rooms", object(json!({ "size": { "type": "integer" }, "name": text })))),
    ];
    let mut tools: Vec<Tool> = tools;
    tools[0].output_schema.as_mut().unwrap()["$defs"] = json!({ "Lamp": row });
    let signatures = |tools: Vec<Tool>| -> Vec<String> {
        let bindings = generate(&Server { name: "home".to_owned(), tools }, "home");
        bindings.tools.into_iter().map(|tool| tool.signature).collect()
    };
    let lamp =
        "\nLamp { id: Option<String>, state: Option<LampState> }\nenum LampState { On, Off, Other(String) }";
    let room = "\nRoom { size: Option<i64>, name: Option<String> }";
    let expected = [
        format!("find_lamps() -> {{ found: Option<Vec<Lamp>> }}{lamp}"),
        format!("find_rooms() -> {{ rooms: Option<Vec<Room>> }}{room}"),
        format!("get_lamp() -> Lamp{lamp}"),
        format!("list_lamps() -> {{ lamps: Option<Vec<Lamp>> }}{lamp}"),
        format!("list_rooms() -> {{ rooms: Option<Vec<Room>> }}{room}"),
    ];
    assert_eq!(signatures(tools.clone()), expected);
    assert_eq!(signatures(tools.iter().rev().cloned().collect()), expected);
    // Other structures with the same names, before and after the others in the alphabet.
    for name in ["a_tool", "z_tool"] {
        let lamps =
            object(json!({ "lamp": { "type": "object", "title": "Lamp", "properties": { "watts": text } },
            "rooms": { "type": "array", "items": object(json!({ "doors": text })) } }));
        let mut more = tools.clone();
        more.push(returns(name, lamps));
        let mut found = signatures(more);
        let added = found.remove(if name == "a_tool" { 0 } else { 5 });
        assert_eq!(found, expected, "{added}");
        assert!(added.contains("ToolLamp { watts: Option<String> }"), "{added}");
        assert!(added.contains("ToolRoom { doors: Option<String> }"), "{added}");
    }
}

#[test]
fn documentation_is_complete() {
    let words: String = (0..200).map(|number| format!("word{number} ")).collect();
    let text = format!("Moves a file.\n\nArgs:\n  from: */ {words}\n```\n#![evil]\u{202e}");
    let properties = json!({
        "from": { "type": "string", "description": words, "pattern": "^/", "minLength": 1 },
        "to": { "type": "string", "format": "uri" },
        "mode": { "enum": ["copy-on-write", "move"], "default": "move" },
        "more": { "type": "object" },
    });
    let mut tool = tool(&text, properties, &["from", "to"]);
    tool.name = "moveFile".to_owned();
    let page = generate(&Server { name: "files".to_owned(), tools: vec![tool] }, "files")
        .tools
        .pop()
        .unwrap()
        .documentation;
    let expected = [
        "/// Moves a file.\n///\n/// Args:\n///   from: * / word0",
        "word199\n/// '''\n/// #![evil]\n",
        "// The server calls it \"moveFile\".",
        "files::MoveFileInput { from, to, mode, more }.call().await?\nfiles::move_file(from, to).mode(…).more(…).await?",
        "// Returns a ToolResult",
        "word199\n    from: String, // required; length at least 1; pattern ^/",
        "    to: String, // required; format uri",
        "    mode: Option<MoveFileMode>, // optional; default \"move\"",
        "    CopyOnWrite, // \"copy-on-write\"",
        "// input.more: an object without known fields",
    ];
    for part in expected {
        assert!(page.contains(part), "{part:?} is not in:\n{page}");
    }
}

#[test]
fn documentation_is_bounded() {
    let words = "word ".repeat(2_000);
    let properties: serde_json::Map<String, Value> = (0..400)
        .map(|index| (format!("p{index}"), json!({ "type": "object", "description": words })))
        .collect();
    let page = binding(tool(&words, Value::Object(properties), &[]), &Style::default()).documentation;
    assert!(page.chars().count() < 41_000, "{} characters", page.chars().count());
    assert!(page.ends_with("// … the rest is left out: the documentation is too long"), "{page}");
    assert!(page.lines().next().unwrap().chars().count() < 4_010);
}
