use std::collections::HashSet;

use insta::assert_snapshot;
use serde_json::value::RawValue;

use super::{Arguments, Request, request};
use crate::compile::compile;

/// The request of a call as text, or why there is none.
fn sent(document: &str, tool: &str, arguments: &str) -> String {
    let compiled = compile(document, &HashSet::new(), &|_| true).unwrap();
    let operation = &compiled.operations[tool];
    let arguments: Arguments<'_> =
        serde_json::from_str::<indexmap::IndexMap<String, &RawValue>>(arguments).unwrap();
    match request(operation, &arguments) {
        Ok(Request { path, query, headers, body }) => {
            let body =
                body.map(|(media_type, body)| format!("{media_type}: {}", String::from_utf8_lossy(&body)));
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
        list(
            r#"{"limit":5,"tags":["a b","c&d"],"status":["available","sold"],"near":{"lat":1.50,"lon":-2e3}}"#,
        ),
        list(r#"{"X-Trace":"abc","session":"x","tags":[]}"#),
        list(r#"{"X-Trace":"a\nb"}"#),
        sent(PETSTORE, "get_pets_id", r#"{"id":18446744073709551616}"#),
        sent(PETSTORE, "get_pets_id", "{}"),
        sent(PETSTORE, "getPhoto", r#"{"id":7,"query_id":"a/../b"}"#),
        sent(PAYMENTS, "GetCustomers", r#"{"created":{"gte":1,"lt":2},"expand":["data.source","total"]}"#),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    GET /pets? [] 
    GET /pets?limit=5&tags=a%20b&tags=c%26d&status=available%7Csold&near%5Blat%5D=1.50&near%5Blon%5D=-2e3 [] 
    GET /pets? [("X-Trace", "abc"), ("Cookie", "session=x")] 
    the argument `X-Trace` has a line break or another control character, which a header cannot have
    GET /pets/18446744073709551616? [] 
    the argument `id` is missing
    GET /pets/7/photo?id=a%2F..%2Fb [] 
    GET /v1/customers?created%5Bgte%5D=1&created%5Blt%5D=2&expand%5B0%5D=data.source&expand%5B1%5D=total []
    "#);
}

#[test]
fn parts_of_a_path_cannot_leave_their_place() {
    let document = r#"{"openapi":"3.1.0","paths":{"/a/{x}/b":{"get":{"operationId":"get","parameters":[
        {"name":"x","in":"path","required":true,"schema":{"type":"string"}}]}}}}"#;
    let get = |text: &str| sent(document, "get", &serde_json::json!({ "x": text }).to_string());
    let all = [get("a/b"), get(".."), get("."), get(""), get("a?b#c%2e"), get("{x}"), get("ü")];
    assert_snapshot!(all.join("\n"), @r#"
    GET /a/a%2Fb/b? [] 
    the argument `x` is empty or a dot segment, which a path cannot have
    the argument `x` is empty or a dot segment, which a path cannot have
    the argument `x` is empty or a dot segment, which a path cannot have
    GET /a/a%3Fb%23c%252e/b? [] 
    GET /a/%7Bx%7D/b? [] 
    GET /a/%C3%BC/b? []
    "#);
}

#[test]
fn bodies_have_the_media_type_of_the_document() {
    let all = [
        sent(
            PETSTORE,
            "createPet",
            r#"{"name":"Rex","password":"p","nickname":null,"owner":{"name":"Ada"}}"#,
        ),
        sent(PETSTORE, "replacePet", r#"{"id":1,"body":{"name":"Rex","n":1.50}}"#),
        sent(PETSTORE, "addNote", r#"{"body":"a \"note\""}"#),
        sent(PETSTORE, "addNote", "{}"),
        sent(PETSTORE, "uploadPhoto", r#"{"id":1,"photo":"not base64!"}"#),
        sent(
            PAYMENTS,
            "PostCustomers",
            r#"{"email":"a+b@c.example","metadata":{"k":"v w","n":"1"},"expand":["x"]}"#,
        ),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    POST /pets? [] application/json: {"name":"Rex","password":"p","nickname":null,"owner":{"name":"Ada"}}
    PUT /pets/1? [] application/json: {"name":"Rex","n":1.50}
    POST /notes? [] text/plain: a "note"
    POST /notes? [] 
    the argument `photo` is not base64, as a file is passed: Invalid symbol 32, offset 3.
    POST /v1/customers? [] application/x-www-form-urlencoded: email=a%2Bb%40c.example&metadata%5Bk%5D=v%20w&metadata%5Bn%5D=1&expand%5B0%5D=x
    "#);
    let multipart = sent(PETSTORE, "uploadPhoto", r#"{"id":1,"photo":"aGVsbG8=","caption":"A \"dog\""}"#);
    let boundary = multipart.split("boundary=").nth(1).unwrap().split(':').next().unwrap().to_owned();
    assert_snapshot!(multipart.replace(&boundary, "BOUNDARY").replace('\r', ""), @r#"
    POST /pets/1/photo? [] multipart/form-data; boundary=BOUNDARY: --BOUNDARY
    Content-Disposition: form-data; name="photo"; filename="photo"
    Content-Type: application/octet-stream

    hello
    --BOUNDARY
    Content-Disposition: form-data; name="caption"

    A "dog"
    --BOUNDARY--
    "#);
}
