//! The input check against its validator, on arbitrary schemas: never stricter, and equally strict if nothing in a
//! schema is left out.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use mcp::InputCheck;
use proptest::prelude::*;
use serde_json::{Map, Value, json, value::to_raw_value};

/// `PROPTEST_CASES` overrides the number of cases.
fn configuration(cases: u32) -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: given.unwrap_or(cases), failure_persistence: None, ..ProptestConfig::default() }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Values of every type, with few different scalars, so that some of them match a schema.
fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2..4).prop_map(Value::from),
        Just(json!(1.5)),
        "[ab1]{0,3}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner, 0..4)
                .prop_map(|members| json!(members)),
        ]
    })
}

/// Schemas with all keywords; if `exact`, only keywords that the check takes over with their full meaning.
fn schemas(exact: bool) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::subsequence(
            vec!["array", "boolean", "integer", "null", "number", "object", "string"],
            1..3
        )
        .prop_map(|types| json!({ "type": types })),
        (-1..3, 0..4).prop_map(|(low, high)| json!({ "minimum": low, "exclusiveMaximum": high })),
        (0..3, 1..4).prop_map(|(low, high)| json!({ "minLength": low, "maxLength": high, "maxItems": high })),
        prop::sample::select(vec!["^a", "b$", "1", "^[ab]*$"])
            .prop_map(|pattern| json!({ "pattern": pattern })),
        prop::collection::vec(values(), 1..3).prop_map(|choices| json!({ "enum": choices })),
        values().prop_map(|value| json!({ "const": value })),
        prop::sample::subsequence(NAMES.to_vec(), 0..3).prop_map(|names| json!({ "required": names })),
        (1..3, 0..3).prop_map(
            |(factor, minimum)| json!({ "multipleOf": factor, "minProperties": minimum, "uniqueItems": true })
        ),
    ];
    // The check leaves things out for references and closed objects.
    let leaf = if exact {
        leaf.boxed()
    } else {
        let reference = prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/nowhere"]);
        prop_oneof![3 => leaf, 1 => reference.prop_map(|to| json!({ "$ref": to }))].boxed()
    };
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let one = || inner.clone();
        let properties = prop::collection::btree_map(prop::sample::select(&NAMES[..]), one(), 0..4);
        let mixed = (one(), one()).prop_map(|(first, second)| merged(first, second));
        let mut choices = vec![
            properties.clone().prop_map(|properties| json!({ "properties": properties })).boxed(),
            some().prop_map(|items| json!({ "prefixItems": items })).boxed(),
            one().prop_map(|items| json!({ "items": items })).boxed(),
            one().prop_map(|items| json!({ "contains": items, "minContains": 1 })).boxed(),
            one().prop_map(|names| json!({ "propertyNames": names })).boxed(),
            (one(), one()).prop_map(|(a, b)| json!({ "patternProperties": { "^a": a, "b|c": b } })).boxed(),
            one().prop_map(|schema| json!({ "dependentSchemas": { "a": schema } })).boxed(),
            Just(json!({ "dependentRequired": { "b": ["a"] } })).boxed(),
            some().prop_map(|all| json!({ "allOf": all })).boxed(),
            some().prop_map(|any| json!({ "anyOf": any })).boxed(),
            one().prop_map(|schema| json!({ "not": schema })).boxed(),
            (one(), one(), one()).prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })).boxed(),
            mixed.boxed(),
        ];
        if !exact {
            choices.push(some().prop_map(|one| json!({ "oneOf": one })).boxed());
            choices.push((properties, one()).prop_map(|(properties, additional)| {
                json!({ "properties": properties, "additionalProperties": additional })
            }).boxed());
            choices.push(one().prop_map(|schema| json!({ "contains": schema, "maxContains": 1 })).boxed());
            choices.push(Just(json!({ "unevaluatedProperties": false })).boxed());
        }
        prop::strategy::Union::new(choices)
    })
    .boxed()
}

/// The keywords of both schemas.
fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, _) => first,
    }
}

/// An object schema for a property `x`, with the definitions for its references.
fn document(schema: &Value, a: &Value, b: &Value) -> Value {
    json!({ "type": "object", "properties": { "x": schema }, "$defs": { "a": a, "b": b } })
}

fn passes(check: &InputCheck, value: &Value) -> bool {
    check.check(&to_raw_value(&json!({ "x": value })).unwrap()).is_ok()
}

proptest! {
    #![proptest_config(configuration(400))]

    #[test]
    fn never_stricter(schema in schemas(false), a in schemas(false), b in schemas(false), values in prop::collection::vec(values(), 8)) {
        let document = document(&schema, &a, &b);
        let check = InputCheck::new(&document).unwrap();
        // The validator rejects dangling references.
        if let Ok(validator) = jsonschema::validator_for(&document) {
            for value in values {
                let allowed = validator.is_valid(&json!({ "x": value }));
                prop_assert!(!allowed || passes(&check, &value), "{} must allow {}", document, value);
            }
        }
    }

    #[test]
    fn equally_strict(schema in schemas(true), values in prop::collection::vec(values(), 8)) {
        let document = document(&schema, &json!({}), &json!({}));
        let check = InputCheck::new(&document).unwrap();
        let validator = jsonschema::validator_for(&document).unwrap();
        for value in values {
            let allowed = validator.is_valid(&json!({ "x": value }));
            prop_assert_eq!(allowed, passes(&check, &value), "{} and {}", document, value);
        }
    }

    #[test]
    fn any_schema_is_handled(schema in anything(), arguments in values()) {
        if let Ok(check) = InputCheck::new(&schema) {
            let _ = check.check(&to_raw_value(&arguments).unwrap());
        }
    }
}

/// Objects whose keywords have any value.
fn anything() -> impl Strategy<Value = Value> {
    let keywords = vec![
        "$ref",
        "$schema",
        "$id",
        "$anchor",
        "$dynamicRef",
        "type",
        "enum",
        "const",
        "minimum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "pattern",
        "format",
        "items",
        "prefixItems",
        "additionalItems",
        "contains",
        "minContains",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "required",
        "dependencies",
        "dependentSchemas",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "nullable",
        "~part",
        "~pattern",
        "~format",
        "a",
        "^a",
    ];
    let texts = vec![
        "#",
        "#/properties/a",
        "string",
        "any",
        "http://json-schema.org/draft-07/schema#",
        "uri",
        "(",
        "a",
    ];
    let scalar = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1..3).prop_map(Value::from),
        prop::sample::select(texts).prop_map(Value::from),
    ];
    let object = move |inner: BoxedStrategy<Value>| {
        prop::collection::btree_map(prop::sample::select(keywords.clone()), inner, 0..6).prop_map(|members| {
            Value::Object(
                members.into_iter().map(|(name, member)| (name.to_owned(), member)).collect::<Map<_, _>>(),
            )
        })
    };
    let within = object.clone();
    let inner = scalar.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from), within(inner)]
    });
    object(inner.boxed())
}
