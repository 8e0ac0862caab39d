//! Documents as lists of tools, and the errors of those that are none.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

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
    assert_snapshot!(tools(&compiled), @r##"
    listPets: "List pets"
      "List pets.\n\nGET /pets [pets]"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"limit":{"type":"integer","format":"int32","exclusiveMinimum":0,"maximum":100,"description":"How many at most."},"tags":{"type":"array","items":{"type":"string"}},"status":{"type":"array","items":{"$ref":"#/$defs/Status"}},"near":{"type":"object","required":["lat","lon"],"properties":{"lat":{"type":"number"},"lon":{"type":"number"}}},"X-Trace":{"type":"string"},"session":{"type":"string"}},"additionalProperties":false,"$defs":{"Status":{"type":"string","enum":["available","sold"]}}}
      outputSchema: {"type":"array","items":{"$ref":"#/$defs/Pet"},"$defs":{"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
    createPet: "Create a pet"
      "Create a pet.\n\nPOST /pets [pets]"
      annotations: {"readOnlyHint":false,"idempotentHint":false}
      inputSchema: {"type":"object","properties":{"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}},"additionalProperties":false,"required":["name","password"],"$defs":{"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["name","password"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
      outputSchema: {"$ref":"#/$defs/Pet","$defs":{"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
    get_pets_id: "Get a pet"
      "Get a pet.\n\nGET /pets/{id} [pets]"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"id":{"type":"integer","format":"int64","description":"The pet's id."}},"additionalProperties":false,"required":["id"]}
      outputSchema: {"anyOf":[{"$ref":"#/$defs/Pet"},{"$ref":"#/$defs/CachedPet"}],"$defs":{"CachedPet":{"type":"object","required":["pet","age"],"properties":{"pet":{"$ref":"#/$defs/Pet"},"age":{"type":"number","minimum":0}}},"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
    replacePet: null
      "PUT /pets/{id} [pets]"
      annotations: {"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"id":{"type":"integer","format":"int64","description":"The pet's id."},"body":{"oneOf":[{"$ref":"#/$defs/Pet"},{"$ref":"#/$defs/CachedPet"}]}},"additionalProperties":false,"required":["id","body"],"$defs":{"CachedPet":{"type":"object","required":["pet","age"],"properties":{"pet":{"$ref":"#/$defs/Pet"},"age":{"type":"number","minimum":0}}},"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["name","password"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
      outputSchema: {"$ref":"#/$defs/Pet","$defs":{"Owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"pets":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}},"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","format":"int64","readOnly":true,"examples":[7]},"name":{"type":"string","minLength":1},"password":{"type":"string","writeOnly":true},"nickname":{"type":["string","null"]},"status":{"$ref":"#/$defs/Status"},"owner":{"anyOf":[{"allOf":[{"$ref":"#/$defs/Owner"}]},{"type":"null"}]}}},"Status":{"type":"string","enum":["available","sold"]}}}
    delete_pets_id: "Delete a pet (the operationId clashes)"
      "Deprecated. Delete a pet (the operationId clashes).\n\nDELETE /pets/{id}"
      annotations: {"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"id":{"type":"integer","format":"int64","description":"The pet's id."}},"additionalProperties":false,"required":["id"]}
      outputSchema: null
    getPhoto: null
      "GET /pets/{id}/photo"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"id":{"type":"integer","format":"int64","description":"The pet's id."},"query_id":{"type":"string"}},"additionalProperties":false,"required":["id"]}
      outputSchema: null
    uploadPhoto: null
      "POST /pets/{id}/photo"
      annotations: {"readOnlyHint":false,"idempotentHint":false}
      inputSchema: {"type":"object","properties":{"id":{"type":"integer","format":"int64","description":"The pet's id."},"photo":{"type":"string","format":"binary","contentEncoding":"base64"},"caption":{"type":"string"}},"additionalProperties":false,"required":["id","photo"]}
      outputSchema: {"type":"object","properties":{"bytes":{"type":"integer"}}}
    addNote: null
      "POST /notes"
      annotations: {"readOnlyHint":false,"idempotentHint":false}
      inputSchema: {"type":"object","properties":{"body":{"type":"string"}},"additionalProperties":false}
      outputSchema: null
    "##);
    assert_snapshot!(format!("{:#?}", compiled.report), @r#"
    Report {
        operations: 8,
        inputs: 8,
        partial_inputs: 0,
        outputs: 5,
        partial_outputs: 0,
        no_body: 1,
        not_json: 1,
        no_schema: 1,
        left_out: [
            "GET /broken/{missing} is left out: its path has a parameter that is not declared",
        ],
    }
    "#);
}

#[test]
fn a_document_of_3_1_becomes_tools() {
    let compiled = compiled(include_str!("documents/forge.json"));
    assert_snapshot!(tools(&compiled), @r##"
    issues_list-for-repo: "List the issues of a repository"
      "List the issues of a repository.\n\nPages have links in the header `Link`.\n\nGET /repos/{owner}/{repo}/issues [issues]"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},"page":{"type":"integer","default":1},"labels":{"type":"array","items":{"type":"string"}}},"additionalProperties":false,"required":["owner","repo"]}
      outputSchema: {"type":"array","items":{"$ref":"#/$defs/issue"},"$defs":{"issue":{"type":"object","required":["number","title","state"],"properties":{"number":{"type":"integer","exclusiveMinimum":0},"title":{"type":"string","description":"One line."},"state":{"type":"string","enum":["open","closed"]},"parent":{"anyOf":[{"$ref":"#/$defs/issue"},{"type":"null"}]}}}}}
    issues_create: "Create an issue"
      "Create an issue.\n\nPOST /repos/{owner}/{repo}/issues [issues]"
      annotations: {"readOnlyHint":false,"idempotentHint":false}
      inputSchema: {"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},"title":{"type":"string"},"body":{"type":["string","null"]},"labels":{"type":"array","items":{"type":"string"}}},"additionalProperties":false,"required":["owner","repo","title"]}
      outputSchema: {"$ref":"#/$defs/issue","$defs":{"issue":{"type":"object","required":["number","title","state"],"properties":{"number":{"type":"integer","exclusiveMinimum":0},"title":{"type":"string","description":"One line."},"state":{"type":"string","enum":["open","closed"]},"parent":{"anyOf":[{"$ref":"#/$defs/issue"},{"type":"null"}]}}}}}
    "##);
}

#[test]
fn a_document_of_forms_becomes_tools() {
    let compiled = compiled(include_str!("documents/payments.json"));
    assert_snapshot!(tools(&compiled), @r##"
    GetCustomers: "List all customers"
      "List all customers.\n\nGET /v1/customers"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{"created":{"anyOf":[{"type":"object","properties":{"gte":{"type":"integer"},"lt":{"type":"integer"}}},{"type":"integer"}]},"expand":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}
      outputSchema: {"type":"object","required":["data","has_more","object"],"properties":{"data":{"type":"array","items":{"$ref":"#/$defs/customer"}},"has_more":{"type":"boolean"},"object":{"type":"string","enum":["list"]}},"$defs":{"customer":{"type":"object","required":["id","object"],"properties":{"id":{"type":"string","maxLength":5000},"object":{"type":"string","enum":["customer"]},"email":{"type":["string","null"]},"balance":{"type":"integer"},"default_source":{"anyOf":[{"anyOf":[{"type":"string"},{"$ref":"#/$defs/source"}]},{"type":"null"}]},"metadata":{"type":"object","additionalProperties":{"type":"string"}}}},"source":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"customer":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/customer"}]}}}}}
    PostCustomers: "Create a customer"
      "Create a customer.\n\nPOST /v1/customers"
      annotations: {"readOnlyHint":false,"idempotentHint":false}
      inputSchema: {"type":"object","properties":{"email":{"type":"string"},"expand":{"type":"array","items":{"type":"string"}},"metadata":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}
      outputSchema: {"$ref":"#/$defs/customer","$defs":{"customer":{"type":"object","required":["id","object"],"properties":{"id":{"type":"string","maxLength":5000},"object":{"type":"string","enum":["customer"]},"email":{"type":["string","null"]},"balance":{"type":"integer"},"default_source":{"anyOf":[{"anyOf":[{"type":"string"},{"$ref":"#/$defs/source"}]},{"type":"null"}]},"metadata":{"type":"object","additionalProperties":{"type":"string"}}}},"source":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"customer":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/customer"}]}}}}}
    "##);
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
        .map(|text| {
            compile(text, &HashSet::new(), &|_| true).err().map(|error| error.to_string()).unwrap_or_default()
        })
        .collect();
    assert_snapshot!(errors.join("\n"), @r#"
    the OpenAPI document is neither JSON nor YAML: EOF while parsing a value at line 1 column 12
    the OpenAPI document is neither JSON nor YAML: the name "openapi" appears twice in one object at line 1 column 20
    the OpenAPI document is neither JSON nor YAML: error: line 1 column 4: unclosed bracket '['
     --> <input>:1:4
      |
    1 | a: [b
      |    ^ unclosed bracket '['
    this is not an OpenAPI document: its member `openapi` with the version is missing
    the document is of Swagger 2.0; convert it to OpenAPI 3, for example with `npx swagger2openapi FILE`
    the document is of OpenAPI 4.0.0; versions 3.0 and 3.1 are supported
    the OpenAPI document has no `paths`, so there is nothing to call
    the OpenAPI document refers to another document (`$ref: https://other.example/a.json#/Pet`), which is not read; make one document of all, for example with `npx @redocly/cli bundle FILE`
    the OpenAPI document has no part `#/components/schemas/Missing`, to which it refers
    "#);
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
            (
                format!("/things/{number}"),
                json!({ "get": { "operationId": format!("get{number}"), "responses": answers } }),
            )
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
    assert_snapshot!(tools(&compiled), @r#"
    get_a: null
      "GET /a"
      annotations: {"readOnlyHint":true,"idempotentHint":true}
      inputSchema: {"type":"object","properties":{},"additionalProperties":false}
      outputSchema: null
    "#);
}
