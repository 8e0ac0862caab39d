//! A server with a tool for each type of argument, which reports the argument that it received.

use std::io;

use serde_json::{Map, Value, json};

use super::values;

pub(crate) fn forms() -> io::Result<()> {
    values::serve(tools)
}

/// The types by the end of their tools' names.
fn types() -> Vec<(&'static str, Value)> {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
    let list = |item: &Value| json!({ "type": "array", "items": item });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let query = object(json!({ "q": text }), &["q"]);
    vec![
        ("string", text.clone()),
        ("integer", json!({ "type": "integer" })),
        ("number", number.clone()),
        ("boolean", json!({ "type": "boolean" })),
        ("strings", list(&text)),
        ("integers", list(&json!({ "type": "integer" }))),
        ("level", json!({ "enum": ["low", "mid high", "HIGH"] })),
        ("map", json!({ "type": "object", "additionalProperties": number })),
        ("point", object(json!({ "x": number, "label": text }), &["x"])),
        ("date", json!({ "type": "string", "format": "date" })),
        ("union", json!({ "anyOf": [text, number, list(&text), query] })),
        ("any", json!({})),
        ("nullable", json!({ "type": ["string", "null"] })),
        ("scalar", json!({ "type": ["string", "integer"] })),
    ]
}

fn tools() -> Value {
    let tool = |name: String, properties: Value, required: &[&str]| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties, "required": required } });
    let mut tools = Vec::new();
    for (name, schema) in types() {
        tools.push(tool(format!("take_{name}"), json!({ "value": schema }), &["value"]));
        tools.push(tool(format!("may_{name}"), json!({ "value": schema }), &[]));
    }
    let schemas: Map<String, Value> =
        types().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let fields = json!({
        "file": schemas["string"], "level": schemas["level"], "amount": schemas["number"],
        "note": schemas["nullable"], "query": schemas["union"], "id": schemas["scalar"],
        "tags": { "type": "array", "items": { "enum": ["a", "b c"] } },
    });
    tools.push(tool("form".to_owned(), fields, &["file", "level"]));
    let number = &schemas["number"];
    let shape = |kind: &str, sides: &[&str]| {
        let mut properties: Map<String, Value> =
            sides.iter().map(|side| ((*side).to_owned(), number.clone())).collect();
        properties.insert("kind".to_owned(), json!({ "const": kind }));
        let required = [&["kind"], sides].concat();
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let shapes = json!({ "oneOf": [shape("circle", &["r"]), shape("box", &["w", "h"])] });
    tools.push(tool("draw".to_owned(), json!({ "shape": shapes }), &["shape"]));
    Value::Array(tools)
}
