use std::collections::HashSet;

use insta::assert_snapshot;
use serde_json::value::RawValue;

use super::{Arguments, Request, request};
use crate::compile::compile;

/// The request of a call as text, or why there is none.
fn sent(document: &str, tool: &str, arguments: &str) -> String {
    let compiled = compile(document, &HashSet::new(), &|_| true).unwrap();
    let operation = &compiled.operations[tool];
    let arguments: Arguments<'_> = serde_json::from_str::<indexmap::IndexMap<String, &RawValue>>(arguments).unwrap();
    match request(operation, &arguments) {
        Ok(Request { path, query, headers, body }) => {
            let body = body.map(|(media_type, body)| format!("{media_type}: {}", String::from_utf8_lossy(&body)));
            format!("{} {path}?{query} {headers:?} {}", operation.method, body.unwrap_or_default())
        }
        Err(error) => error.to_string(),
    }
}

const PETSTORE: &str = include_str!("../../tests/documents/petstore.yaml");
const PAYMENTS: &str = include_str!("../../tests/documents/payments.json");

#[test]
fn parameters_follow_their_styles() {
    let list = |arguments| sent(PETSTORE, "listPets", arguments);
    let all = [
        list("{}"),
        list(r#"{"limit":5,"tags":["a b","c&d"],"status":["available","sold"],"near":{"lat":1.50,"lon":-2e3}}"#),
        list(r#"{"X-Trace":"abc","session":"x","tags":[]}"#),
        list(r#"{"X-Trace":"a\nb"}"#),
        sent(PETSTORE, "get_pets_id", r#"{"id":18446744073709551616}"#),
        sent(PETSTORE, "get_pets_id", "{}"),
        sent(PETSTORE, "getPhoto", r#"{"id":7,"query_id":"a/../b"}"#),
        sent(PAYMENTS, "GetCustomers", r#"{"created":{"gte":1,"lt":2},"expand":["data.source","total"]}"#),
    ];
    assert_snapshot!(all.join("\n"), @"");
}

#[test]
fn parts_of_a_path_cannot_leave_their_place() {
    let document = r#"{"openapi":"3.1.0","paths":{"/a/{x}/b":{"get":{"operationId":"get","parameters":[
        {"name":"x","in":"path","required":true,"schema":{"type":"string"}}]}}}}"#;
    let get = |text: &str| sent(document, "get", &serde_json::json!({ "x": text }).to_string());
    let all = [get("a/b"), get(".."), get("."), get(""), get("a?b#c%2e"), get("{x}"), get("ü")];
    assert_snapshot!(all.join("\n"), @"");
}

#[test]
fn bodies_have_the_media_type_of_the_document() {
    let all = [
        sent(PETSTORE, "createPet", r#"{"name":"Rex","password":"p","nickname":null,"owner":{"name":"Ada"}}"#),
        sent(PETSTORE, "replacePet", r#"{"id":1,"body":{"name":"Rex","n":1.50}}"#),
        sent(PETSTORE, "addNote", r#"{"body":"a \"note\""}"#),
        sent(PETSTORE, "addNote", "{}"),
        sent(PETSTORE, "uploadPhoto", r#"{"id":1,"photo":"not base64!"}"#),
        sent(PAYMENTS, "PostCustomers", r#"{"email":"a+b@c.example","metadata":{"k":"v w","n":"1"},"expand":["x"]}"#),
    ];
    assert_snapshot!(all.join("\n"), @"");
    let multipart = sent(PETSTORE, "uploadPhoto", r#"{"id":1,"photo":"aGVsbG8=","caption":"A \"dog\""}"#);
    let boundary = multipart.split("boundary=").nth(1).unwrap().split(':').next().unwrap().to_owned();
    assert_snapshot!(multipart.replace(&boundary, "BOUNDARY").replace('\r', ""), @"");
}
