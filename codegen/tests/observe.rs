//! Schemas inferred from results: all results fit, in any order, and no value is in the schema.

#![allow(clippy::unwrap_used, reason = "part of tests: an unexpected sample is a failure")]

use codegen::observe::{infer, merge};
use codegen::{Server, Tool, generate};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn samples_are_merged() {
    let first = infer(&json!({ "items": [{ "id": 1, "note": null }, { "id": 2.5 }], "more": [] }));
    assert_eq!(
        first,
        json!({ "type": "object", "required": ["items", "more"], "properties": {
            "items": { "type": "array", "items": { "type": "object", "required": ["id"], "properties": {
                "id": { "type": "number" }, "note": { "type": "null" } } } },
            "more": { "type": "array" },
        } })
    );
    let second = infer(&json!({ "items": [{ "id": 3, "note": "text" }], "more": [true], "extra": [1, "a"] }));
    assert_eq!(
        merge(&first, &second),
        json!({ "type": "object", "required": ["items", "more"], "properties": {
            "items": { "type": "array", "items": { "type": "object", "required": ["id"], "properties": {
                "id": { "type": "number" }, "note": { "type": ["string", "null"] } } } },
            "more": { "type": "array", "items": { "type": "boolean" } },
            "extra": { "type": "array", "items": { "anyOf": [{ "type": "integer" }, { "type": "string" }] } },
        } })
    );
}

#[test]
fn names_that_are_data_make_a_map() {
    for key in
        ["2026-11-21", "42", "a/b.txt", "me@example.com", "0f8fad5b-d9cd-469f-a165-70867728950e", "two words"]
    {
        let schema = infer(&json!({ key: { "size": 1 }, "other": { "size": 2 } }));
        let values = json!({ "type": "object", "required": ["size"], "properties": { "size": { "type": "integer" } } });
        assert_eq!(schema, json!({ "type": "object", "additionalProperties": values }), "{key}");
        assert!(!schema.to_string().contains(key));
    }
    for key in ["id", "total_cents", "address2", "x-request-id", "$ref", "Größe", "deadbeef"] {
        assert!(infer(&json!({ key: 1 })).get("properties").is_some(), "{key}");
    }
    let many: serde_json::Map<String, Value> =
        (0..100).map(|number| (format!("key_{number}x"), json!(1))).collect();
    assert_eq!(
        infer(&Value::Object(many)),
        json!({ "type": "object", "additionalProperties": { "type": "integer" } })
    );
}

/// Objects with many names in common. Merging them turns some into maps, at different points depending on the
/// order.
fn wide() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!(1.5)),
        Just(json!("text")),
        Just(json!([]))
    ];
    let fields = move |inner: BoxedStrategy<Value>| {
        btree_map(0_u32..90, inner, 0..50).prop_map(|fields| {
            Value::Object(
                fields.into_iter().map(|(number, value)| (format!("name{number}"), value)).collect(),
            )
        })
    };
    let inner = prop_oneof![9 => scalar.clone(), 1 => fields(scalar.boxed())];
    prop_oneof![fields(inner.clone().boxed()), vec(fields(inner.boxed()), 0..3).prop_map(Value::Array)]
}

/// Results like those of tools: few names, any nesting, some of it deeper than the inference reads.
fn result() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "id", "items", "2026-01-01", "next", ""]);
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        "[a-z]{0,6}".prop_map(Value::from),
    ];
    scalar.prop_recursive(20, 60, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(name.clone(), inner, 0..4).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_result_fits_in_any_order(results in vec(result(), 1..6)) {
        let schemas: Vec<Value> = results.iter().map(infer).collect();
        let all = schemas.iter().skip(1).fold(schemas[0].clone(), |known, schema| merge(&known, schema));
        let reversed = schemas.iter().rev().skip(1).fold(schemas[schemas.len() - 1].clone(), |known, schema| merge(&known, schema));
        prop_assert_eq!(&all, &reversed);
        let check = jsonschema::validator_for(&all).unwrap();
        for (result, schema) in results.iter().zip(&schemas) {
            prop_assert!(check.is_valid(result), "{result} does not fit {all}");
            prop_assert_eq!(&merge(&all, schema), &all, "a repeated sample changes nothing");
        }
        prop_assert_eq!(&merge(&all, &all), &all);
        let tool = Tool {
            name: "observed".to_owned(),
            description: None,
            input_schema: json!({ "type": "object" }),
            output_schema: Some(all),
            answers: codegen::Answers::observed(),
        };
        let bindings = generate(&Server { name: "any".to_owned(), tools: vec![tool] }, "any");
        prop_assert!(syn::parse_file(&bindings.source()).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn samples_may_be_grouped_in_any_way(one in wide(), two in wide(), three in wide(), other in result()) {
        let [one, two, three, other] = [one, two, three, other].map(|result| infer(&result));
        let left = merge(&merge(&merge(&one, &two), &three), &other);
        prop_assert_eq!(&left, &merge(&one, &merge(&two, &merge(&three, &other))));
        prop_assert_eq!(&left, &merge(&merge(&other, &two), &merge(&three, &one)));
        prop_assert_eq!(&left, &merge(&left, &merge(&three, &two)));
    }
}
