//! Oversized schemas: each produces code of a bounded size, with a warning that gives the reason.

use codegen::{Server, Tool, generate};
use serde_json::{Map, Value, json};

/// Maximum bytes of code. Real tools need far less: the largest fixture has 20 kB.
const LARGEST: usize = 2_000_000;

fn check(input_schema: Value, reason: &str) {
    let tool = Tool {
        name: "tool".to_owned(),
        description: None,
        input_schema,
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let bindings = generate(&Server { name: "server".to_owned(), tools: vec![tool] }, "server");
    assert!(bindings.source().len() < LARGEST, "{} bytes of code", bindings.source().len());
    let found = bindings.warnings.iter().any(|warning| warning.reason.contains(reason));
    assert!(found, "no warning contains {reason:?}: {:?}", bindings.warnings.first());
}

/// Sixty definitions, each made from the previous one by `make`. The total doubles with each.
fn doubling(make: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    definitions
        .insert("A0".to_owned(), json!({ "type": "object", "properties": { "x": { "type": "string" } } }));
    for level in 1..60 {
        let before = json!({ "$ref": format!("#/$defs/A{}", level - 1) });
        definitions.insert(format!("A{level}"), make(before));
    }
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A59" } }, "$defs": definitions })
}

#[test]
fn schemas_that_double_with_each_level_are_bounded() {
    check(
        doubling(
            |before| json!({ "type": "array", "items": [before, before], "minItems": 2, "maxItems": 2 }),
        ),
        "nested too deeply",
    );
    check(
        doubling(|before| json!({ "allOf": [before, before, { "required": ["x"] }] })),
        "too many keywords to merge",
    );
    check(
        doubling(
            |before| json!({ "anyOf": [before, { "type": "array", "items": before }, { "type": "null" }] }),
        ),
        "too",
    );
    check(
        doubling(
            |before| json!({ "type": "object", "properties": { "a": before, "b": { "allOf": [before, { "required": ["a"] }] } } }),
        ),
        "too",
    );
}

#[test]
fn wide_and_deep_schemas_are_bounded() {
    let text = json!({ "type": "string" });
    let many = |count: usize, schema: &Value| -> Map<String, Value> {
        (0..count).map(|index| (format!("p{index}"), schema.clone())).collect()
    };
    check(json!({ "type": "object", "properties": many(5_000, &text) }), "more than 500 fields");
    let object = json!({ "type": "object", "properties": many(30, &text) });
    let objects = json!({ "type": "object", "properties": many(30, &object) });
    check(json!({ "type": "object", "properties": many(30, &objects) }), "too");
    let values: Vec<String> = (0..1_000).map(|index| index.to_string()).collect();
    check(json!({ "type": "object", "properties": { "a": { "enum": values } } }), "1000 values");
    let variants: Vec<Value> = (0..1_000).map(|index| json!({ "const": index.to_string() })).collect();
    check(json!({ "type": "object", "properties": { "a": { "oneOf": variants } } }), "too many variants");
    let chain: Map<String, Value> = (0..1_000)
        .map(|index| (format!("A{index}"), json!({ "$ref": format!("#/$defs/A{}", index + 1) })))
        .collect();
    check(
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A0" } }, "$defs": chain }),
        "nested too deeply",
    );
    let mut nothing = text.clone();
    for _ in 0..120 {
        nothing = json!({ "anyOf": [nothing, { "type": "null" }] });
    }
    check(json!({ "type": "object", "properties": { "a": nothing } }), "nested too deeply");
    let mut objects = text.clone();
    for _ in 0..60 {
        objects =
            json!({ "anyOf": [{ "type": "object", "properties": { "a": objects } }, { "type": "null" }] });
    }
    check(objects, "nested too deeply");
    let mut deep = text;
    for _ in 0..100 {
        deep = json!({ "type": "array", "items": deep });
    }
    check(json!({ "type": "object", "properties": { "a": deep } }), "nested too deeply");
}

/// A condition that refers back to the root costs no more than the root.
#[test]
fn recursive_conditions_are_bounded() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "object", "properties": {}, "else": { "$ref": "#" } } },
        "then": { "$ref": "#", "properties": { "c": { "type": "string" } } },
        "dependencies": { "a": { "allOf": [{ "$ref": "#" }] } },
    });
    let tool = Tool {
        name: "tool".to_owned(),
        description: None,
        input_schema: schema,
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let mut bindings = generate(&Server { name: "server".to_owned(), tools: vec![tool] }, "server");
    assert!(bindings.warnings.is_empty(), "{:?}", bindings.warnings);
    let signature = bindings.tools.pop().map(|tool| tool.signature).unwrap_or_default();
    assert!(signature.starts_with("tool(a?: String, b?: ToolB, c?: String)"), "{signature}");
}

/// Each part gives `property` another schema, so that all of them apply to one value.
fn parts(count: usize, property: impl Fn(Value) -> Value) -> Value {
    let parts = (0..count).map(|index| property(json!({ "type": "string", "maxLength": index })));
    json!({ "type": "object", "allOf": parts.collect::<Vec<Value>>() })
}

#[test]
fn many_schemas_for_one_value_do_not_nest() {
    let reason = "too many keywords to merge";
    check(parts(5_000, |schema| json!({ "properties": { "a": schema } })), reason);
    check(parts(5_000, |schema| json!({ "additionalProperties": schema })), reason);
    let lists = parts(3_900, |schema| json!({ "type": "array", "items": schema }));
    check(json!({ "type": "object", "properties": { "a": { "allOf": lists["allOf"] } } }), reason);
}
