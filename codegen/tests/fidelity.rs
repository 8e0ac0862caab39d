//! The share of the schemas that becomes types: hand-counted for made-up schemas, measured for those of real servers.

#![allow(clippy::needless_pass_by_value, reason = "schemas are written inline")]
#![allow(clippy::unwrap_used, reason = "part of tests: an unexpected fixture is a failure")]

mod support;

use codegen::{Fallback, Fidelity, Server, Tool, generate};
use serde_json::{Value, json};

fn fidelity(input_schema: Value, output_schema: Option<Value>) -> Fidelity {
    let tool = Tool {
        name: "tool".to_owned(),
        description: None,
        input_schema,
        output_schema,
        answers: codegen::Answers::default(),
    };
    let mut bindings = generate(&Server { name: "server".to_owned(), tools: vec![tool] }, "server");
    bindings.tools.remove(0).fidelity
}

/// Checks how many places an input has, and which of them have no type.
#[track_caller]
fn check(input_schema: Value, properties: usize, lost: &[&str]) {
    check_both(input_schema, None, properties, lost);
}

#[track_caller]
fn check_both(input_schema: Value, output_schema: Option<Value>, properties: usize, lost: &[&str]) {
    let found = fidelity(input_schema, output_schema);
    let paths: Vec<&str> = found.fallbacks.iter().map(|fallback| fallback.path.as_str()).collect();
    assert_eq!((found.properties, paths.as_slice()), (properties, lost), "{:?}", found.fallbacks);
    assert_eq!(found.typed, found.properties - found.fallbacks.len());
    assert!(found.fallbacks.iter().all(|fallback| !fallback.reason.is_empty()));
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn each_schema_with_its_own_place_counts() {
    let text = json!({ "type": "string" });
    check(object(json!({})), 0, &[]);
    check(object(json!({ "a": text, "b": { "type": "boolean" } })), 2, &[]);
    check(object(json!({ "a": object(json!({ "b": text, "c": text })) })), 3, &[]);
    // The array, and its items.
    check(object(json!({ "a": { "type": "array", "items": text } })), 2, &[]);
    check(object(json!({ "a": { "type": "array", "items": { "type": "array", "items": text } } })), 3, &[]);
    // An array without an item schema is one place.
    check(object(json!({ "a": { "type": "array" } })), 1, &[]);
    check(object(json!({ "a": { "type": "array", "items": false } })), 1, &[]);
    // The map, and its values.
    check(object(json!({ "a": { "type": "object", "additionalProperties": text } })), 2, &[]);
    let closed =
        json!({ "type": "object", "patternProperties": { "^x": text }, "additionalProperties": false });
    check(object(json!({ "a": closed })), 2, &[]);
    check(object(json!({ "a": { "type": "object", "patternProperties": { ".*": text } } })), 2, &[]);
    // Fields with other names have no schema.
    check(object(json!({ "a": { "type": "object", "patternProperties": { "^x": text } } })), 1, &[]);
    // The tuple and its items.
    let tuple = |schema: &Value| json!({ "type": "array", "prefixItems": [text, schema], "minItems": 2, "items": false });
    check(object(json!({ "a": tuple(&text) })), 3, &[]);
    check(object(json!({ "a": tuple(&json!({ "type": "object" })) })), 3, &["input.a[1]"]);
    // The additional properties of the root, and a property with a fixed value.
    check(json!({ "type": "object", "properties": { "a": text }, "additionalProperties": text }), 2, &[]);
    check(
        json!({ "type": "object", "properties": { "a": { "const": "x" } }, "required": ["a", "b"] }),
        2,
        &[],
    );
}

#[test]
fn any_value_counts_as_typed_only_if_the_schema_intends_it() {
    check(object(json!({ "a": true, "b": {}, "c": { "description": "anything", "default": 1 } })), 3, &[]);
    check(
        json!({ "type": "object", "properties": { "a": { "type": "any" }, "b": { "$ref": "#/$defs/A" } }, "$defs": { "A": true } }),
        2,
        &[],
    );
    check(
        object(json!({
            "free": { "type": "object" },
            "open": { "type": "object", "additionalProperties": true },
            "null": { "type": "null" },
            "mixed": { "type": ["string", "integer"] },
            "bounded": { "minimum": 3 },
            "unknown": { "type": "text" },
            "dangling": { "$ref": "#/$defs/Nowhere" },
            "nothing": { "anyOf": [{ "type": "object", "properties": { "x": { "type": "object" } } }, { "type": "null" }] },
        })),
        9,
        &["input.free", "input.open", "input.bounded", "input.unknown", "input.dangling", "input.nothing.x"],
    );
    // Places inside an array count, those inside a place without a type do not.
    let rows = json!({ "type": "array", "items": { "type": "object" } });
    check(object(json!({ "a": rows })), 2, &["input.a[]"]);
    check(
        object(json!({ "a": { "not": { "properties": { "x": { "type": "string" } } } } })),
        1,
        &["input.a"],
    );
    // A recursive list has no name, so its items have no type.
    let own = json!({ "type": "array", "items": { "$ref": "#/$defs/A" } });
    let property = json!({ "a": { "$ref": "#/$defs/A" } });
    check(json!({ "type": "object", "properties": property, "$defs": { "A": own } }), 2, &["input.a[]"]);
}

#[test]
fn references_count_once_and_variants_do_not_count() {
    let text = json!({ "type": "string" });
    let node = object(json!({ "name": text, "next": { "$ref": "#/$defs/Node" } }));
    let both = json!({ "a": { "$ref": "#/$defs/Node" }, "b": { "$ref": "#/$defs/Node" } });
    check(json!({ "type": "object", "properties": both, "$defs": { "Node": node } }), 4, &[]);
    let free = json!({ "a": { "$ref": "#/$defs/Free" }, "b": { "$ref": "#/$defs/Free" } });
    check(
        json!({ "type": "object", "properties": free, "$defs": { "Free": { "type": "object" } } }),
        2,
        &["input.a", "input.b"],
    );
    // A property; the tag and the field of each variant.
    let variant = |tag: &str| object(json!({ "kind": { "const": tag }, "value": text }));
    check(object(json!({ "a": { "oneOf": [variant("x"), variant("y")] } })), 5, &[]);
    // A property; the fields of both variants, one of them shared.
    let first = object(json!({ "x": text, "both": text }));
    let second = object(json!({ "y": text, "both": text }));
    check(object(json!({ "a": { "anyOf": [first, second] } })), 4, &[]);
    // A property; the items of the second variant.
    let list = json!({ "type": "array", "items": text });
    check(object(json!({ "a": { "anyOf": [text, list, { "type": "object" }] } })), 2, &[]);
}

#[test]
fn outputs_count_too() {
    let text = json!({ "type": "string" });
    let none = object(json!({}));
    check_both(none.clone(), Some(object(json!({ "a": text }))), 1, &[]);
    check_both(none.clone(), Some(text.clone()), 1, &[]);
    check_both(none.clone(), Some(json!({ "type": "array", "items": object(json!({ "a": text })) })), 3, &[]);
    check_both(none.clone(), Some(json!({ "type": "object" })), 1, &["output"]);
    check_both(none.clone(), Some(json!({})), 1, &[]);
    check_both(json!({ "type": "string" }), Some(json!(7)), 2, &["input", "output"]);
}

#[test]
fn places_beyond_limits_are_counted_as_untyped() {
    let text = json!({ "type": "string" });
    let fields: serde_json::Map<String, Value> =
        (0..510).map(|index| (format!("p{index:03}"), text.clone())).collect();
    let lost: Vec<String> = (500..510).map(|index| format!("input.p{index}")).collect();
    let lost: Vec<&str> = lost.iter().map(String::as_str).collect();
    check(object(Value::Object(fields)), 510, &lost);
}

/// Nearly all places in the schemas of real servers have a type, and every tool has typed ones.
///
/// `MORE_SCHEMAS=folder cargo test -p codegen --test fidelity -- --nocapture` prints the figures for further
/// lists.
#[test]
fn real_tools_are_typed() {
    // Becomes a plain value by design. Any other reason means that a schema was not understood.
    let by_design = ["an object without known fields"];
    let mut sums = [0; 6];
    for server in support::more_servers().iter().filter(|server| server.name != "nasty") {
        for tool in generate(server, "module").tools {
            let found = tool.fidelity;
            for Fallback { path, reason } in &found.fallbacks {
                println!("{} {} {path}: {reason}", server.name, tool.name);
                assert!(path != "input" && path != "output", "{} is a plain value", tool.name);
                assert!(by_design.contains(&reason.as_str()), "{} {path}: {reason}", tool.name);
            }
            let parts =
                [1, found.properties, found.typed, found.schema_tokens, found.signature_tokens, found.lines];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
    }
    let [tools, properties, typed, schema, signature, lines] = sums;
    println!("{tools} tools: {typed} of {properties} places typed, {} lines each", lines / tools);
    println!("tokens each: {} as JSON, {} as a signature", schema / tools, signature / tools);
    assert!(tools > 60 && properties > 200, "fixtures are missing");
    assert!(typed * 100 >= properties * 99, "{typed} of {properties} places typed");
}
