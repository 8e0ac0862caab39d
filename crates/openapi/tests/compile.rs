//! Documents as lists of tools, and the errors of those that are none.

use std::collections::HashSet;

use insta::assert_snapshot;
use openapi::{Compiled, compile};
use serde_json::{Value, json};

fn compiled(text: &str) -> Compiled {
    compile(text, &HashSet::new(), &|_| true).unwrap()
}

/// The tools, a line for each member.
fn tools(compiled: &Compiled) -> String {
    let list: Value = serde_json::from_str(compiled.list().get()).unwrap();
    let mut lines = Vec::new();
    for tool in list["tools"].as_array().unwrap() {
        lines.push(format!("{}: {}", tool["name"].as_str().unwrap(), tool["title"]));
        lines.push(format!("  {}", tool["description"]));
        for key in ["annotations", "inputSchema", "outputSchema"] {
            lines.push(format!("  {key}: {}", tool[key]));
        }
    }
    lines.join("\n")
}

#[test]
fn a_document_of_3_0_becomes_tools() {
    let compiled = compiled(include_str!("documents/petstore.yaml"));
    assert_snapshot!(tools(&compiled), @"");
    assert_snapshot!(format!("{:#?}", compiled.report), @"");
}

#[test]
fn a_document_of_3_1_becomes_tools() {
    let compiled = compiled(include_str!("documents/forge.json"));
    assert_snapshot!(tools(&compiled), @"");
}

#[test]
fn a_document_of_forms_becomes_tools() {
    let compiled = compiled(include_str!("documents/payments.json"));
    assert_snapshot!(tools(&compiled), @"");
}

#[test]
fn what_is_no_document_gets_an_error_that_says_what_to_do() {
    let minimal = |more: Value| {
        let mut document = json!({ "openapi": "3.0.0", "paths": {} });
        document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        document.to_string()
    };
    let with_schema = |schema: Value| {
        let content = json!({ "application/json": { "schema": schema } });
        minimal(json!({ "paths": { "/a": { "get": { "responses": { "200": { "content": content } } } } } }))
    };
    let texts = [
        "{\"openapi\": ".to_owned(),
        "{\"openapi\":\"3.0.0\",\"openapi\":\"3.1.0\",\"paths\":{}}".to_owned(),
        "a: [b".to_owned(),
        "{}".to_owned(),
        "{\"swagger\":\"2.0\"}".to_owned(),
        minimal(json!({ "openapi": "4.0.0" })),
        minimal(json!({ "paths": 1 })),
        with_schema(json!({ "$ref": "https://other.example/a.json#/Pet" })),
        with_schema(json!({ "$ref": "#/components/schemas/Missing" })),
    ];
    let errors: Vec<String> = texts
        .iter()
        .map(|text| compile(text, &HashSet::new(), &|_| true).err().map(|error| error.to_string()).unwrap_or_default())
        .collect();
    assert_snapshot!(errors.join("\n"), @"");
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let document = json!({
        "openapi": "3.1.0",
        "paths": { "/a": { "get": { "responses": { "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/A" } } } } } } } },
        "components": { "schemas": { "A": { "$ref": "#/components/schemas/B" }, "B": { "$ref": "#/components/schemas/A" } } },
    });
    let compiled = compiled(&document.to_string());
    assert_eq!(compiled.report.operations, 1);
}

/// A document with this many operations that answer with types that all lead to each other.
fn large(operations: usize) -> String {
    let name = |number: usize| format!("Type{number}");
    let schemas: serde_json::Map<String, Value> = (0..operations)
        .map(|number| {
            let next = json!({ "$ref": format!("#/components/schemas/{}", name((number + 1) % operations)) });
            let properties = json!({ "id": { "type": "string", "description": "A description. ".repeat(20) }, "next": next });
            (name(number), json!({ "type": "object", "properties": properties }))
        })
        .collect();
    let paths: serde_json::Map<String, Value> = (0..operations)
        .map(|number| {
            let schema = json!({ "$ref": format!("#/components/schemas/{}", name(number)) });
            let answers = json!({ "200": { "content": { "application/json": { "schema": schema } } } });
            (format!("/things/{number}"), json!({ "get": { "operationId": format!("get{number}"), "responses": answers } }))
        })
        .collect();
    json!({ "openapi": "3.1.0", "paths": paths, "components": { "schemas": schemas } }).to_string()
}

#[test]
fn a_thousand_operations_fit_into_a_list() {
    let text = large(1000);
    let all = compiled(&text);
    assert!(all.list().get().len() <= mcp::MAX_LISTING_BYTES, "{}", all.list().get().len());
    assert_eq!((all.report.operations, all.report.partial_outputs), (1000, 1000));
    // With few tools in use, these have more room.
    let few = compile(&text, &HashSet::new(), &|name| name == "get7").unwrap();
    let length = |compiled: &Compiled| {
        let list: Value = serde_json::from_str(compiled.list().get()).unwrap();
        list["tools"][7]["outputSchema"].to_string().len()
    };
    assert!(length(&few) > 10 * length(&all), "{} and {}", length(&few), length(&all));
}

#[test]
fn a_configured_header_is_no_argument() {
    let document = json!({
        "openapi": "3.1.0",
        "paths": { "/a": { "get": { "parameters": [
            { "name": "X-Api-Key", "in": "header", "required": true, "schema": { "type": "string" } },
            { "name": "Accept", "in": "header", "schema": { "type": "string" } },
        ] } } },
    });
    let headers = HashSet::from(["x-api-key".to_owned()]);
    let compiled = compile(&document.to_string(), &headers, &|_| true).unwrap();
    assert_snapshot!(tools(&compiled), @"");
}
