//! The normal form: it is stable, it is sound, and it means the same as the schemas.

#![allow(clippy::needless_pass_by_value, reason = "schemas are written inline")]
#![allow(clippy::unwrap_used, reason = "part of tests: an unexpected schema is a failure")]

mod instances;
mod support;

use codegen::{NormalForm, Tool, normal_form};
use serde_json::{Value, json};

fn tool(input_schema: Value, output_schema: Option<Value>) -> Tool {
    Tool {
        name: "tool".to_owned(),
        description: None,
        input_schema,
        output_schema,
        answers: codegen::Answers::default(),
    }
}

/// The normal form of an input, without the `$schema` that they all have.
fn input(schema: Value) -> Value {
    let mut form = normal_form(&tool(schema, None)).input;
    assert_eq!(
        form.as_object_mut().unwrap().remove("$schema").unwrap(),
        "https://json-schema.org/draft/2020-12/schema"
    );
    form
}

/// The normal form of one property of an input, with the definitions.
#[track_caller]
fn check(property: Value, expected: Value) {
    let form = input(json!({ "type": "object", "properties": { "a": property } }));
    let mut expected = json!({ "type": "object", "properties": { "a": expected } });
    if let Some(definitions) = form.get("$defs") {
        expected["$defs"] = definitions.clone();
    }
    assert_eq!(form, expected);
}

#[test]
fn equal_schemas_have_one_normal_form() {
    let text = json!({ "type": "string" });
    for spelling in [
        json!({ "type": ["string", "null"] }),
        json!({ "anyOf": [text, { "type": "null" }] }),
        json!({ "type": "string", "nullable": true, "default": "x", "pattern": "^x" }),
    ] {
        // For an optional property, null equals absence.
        check(spelling.clone(), text.clone());
        let list = json!({ "type": "array", "items": { "anyOf": [text, { "type": "null" }] } });
        check(json!({ "type": "array", "items": spelling }), list);
    }
    check(
        json!({ "allOf": [{ "type": ["integer", "string"] }, { "type": "integer" }] }),
        json!({ "type": "integer" }),
    );
    check(json!({ "type": ["string", "boolean", "null"] }), json!({ "type": ["string", "boolean"] }));
    check(json!({ "enum": [true, 1.5, 2] }), json!({ "type": ["number", "boolean"] }));
    check(json!({ "type": "object" }), json!(true));
    check(json!({ "enum": ["x", "y"] }), json!({ "$ref": "#/$defs/A" }));
    let recursive = json!({
        "type": "object",
        "properties": { "next": { "$ref": "#" }, "items": { "type": "array", "items": { "$ref": "#/$defs/B" } } },
        "$defs": { "B": { "type": "object", "properties": { "b": { "$ref": "#/$defs/B" } }, "required": ["b"] } },
    });
    let expected = json!({
        "type": "object",
        "properties": { "items": { "type": "array", "items": { "$ref": "#/$defs/Item" } }, "next": { "$ref": "#" } },
        "$defs": { "Item": { "type": "object", "properties": { "b": { "$ref": "#/$defs/Item" } }, "required": ["b"] } },
    });
    assert_eq!(input(recursive), expected);
}

/// Normalising twice changes nothing more.
/// The object forbids the only field that a condition describes.
#[test]
fn a_condition_adds_no_field_that_the_object_forbids() {
    let of_condition = json!({ "properties": { "a": { "type": "string" } } });
    check(
        json!({ "type": "object", "properties": { "a": false }, "dependentSchemas": { "a": of_condition } }),
        json!(true),
    );
}

#[test]
fn normal_forms_are_stable() {
    for server in support::more_servers() {
        for original in server.tools {
            let NormalForm { input, output } = normal_form(&original);
            let again = normal_form(&tool(input.clone(), output.clone()));
            assert_eq!(again.input, input, "{} {} input", server.name, original.name);
            assert_eq!(again.output, output, "{} {} output", server.name, original.name);
        }
    }
}

/// The normal form allows everything that the schema allows.
#[test]
fn normal_forms_are_sound() {
    const INSTANCES: u64 = 40;
    // Two have no finite instance.
    let left_out = ["recursive_required", "recursive_list"];
    let mut tried = 0;
    for server in support::more_servers() {
        for tool in server.tools.iter().filter(|tool| !left_out.contains(&tool.name.as_str())) {
            let NormalForm { input, output } = normal_form(tool);
            let sides = [(Some(&tool.input_schema), Some(input)), (tool.output_schema.as_ref(), output)];
            for (index, (schema, form)) in sides.into_iter().enumerate() {
                let (Some(schema), Some(form)) = (schema, form) else { continue };
                let validator = jsonschema::validator_for(&form).unwrap();
                for seed in 0..INSTANCES {
                    let instance = instances::instance(schema, seed);
                    // MCP arguments are objects, whatever the schema allows.
                    if index == 0 && !instance.is_object() {
                        continue;
                    }
                    let place = format!("{} {}: {instance} in {form}", server.name, tool.name);
                    assert!(validator.is_valid(&instance), "{place}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 3_000, "only {tried} instances were tried");
}
