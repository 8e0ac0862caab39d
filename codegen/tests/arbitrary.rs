//! Anything as a schema: generation never panics, always gives code that parses, and always the same.

use codegen::{Server, Tool, generate};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

const KEYWORDS: &[&str] = &[
    "$anchor",
    "$defs",
    "$dynamicRef",
    "$id",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "definitions",
    "description",
    "discriminator",
    "enum",
    "format",
    "id",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
];

const TEXTS: &[&str] = &[
    "#",
    "#/$defs/A",
    "#/$defs/B",
    "#/definitions/A",
    "#/properties/a",
    "#/%",
    "#A",
    "",
    "1st",
    "A",
    "Self",
    "a",
    "array",
    "b",
    "boolean",
    "fooBar",
    "foo_bar",
    "https://example.com/",
    "integer",
    "null",
    "number",
    "object",
    "string",
    "type",
    "uint64",
    "*/",
    "{}",
    "\u{202e}",
    "+1",
    "-1",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(TEXTS).prop_map(ToOwned::to_owned),
        1 => any::<String>(),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        2 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        2 => (0_u8..5).prop_map(Value::from),
        6 => text().prop_map(Value::from),
    ]
}

/// JSON that has much of a schema: keywords as keys, types and references as texts.
fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(6, 80, 6, |inner| {
        let named = btree_map(text(), inner.clone(), 0..5);
        let named = named.prop_map(|fields| Value::Object(fields.into_iter().collect())).boxed();
        let list = vec(inner.clone(), 0..5).prop_map(Value::Array).boxed();
        let keyword = prop::sample::select(KEYWORDS).prop_map(ToOwned::to_owned);
        let value = prop_oneof![3 => inner, 2 => named.clone(), 2 => list.clone()];
        let keywords = btree_map(keyword, value, 0..6);
        prop_oneof![
            6 => keywords.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            1 => named,
            1 => list,
        ]
    })
}

/// Definitions that refer to each other and to the whole, among properties that refer to them.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema(), schema(), any::<bool>()).prop_map(|(a, b, first, second, required)| {
        let required = if required { vec!["a", "missing"] } else { Vec::new() };
        json!({
            "type": "object",
            "properties": { "a": first, "b": second, "c": { "$ref": "#/$defs/A" } },
            "required": required,
            "$defs": { "A": a, "B": b },
        })
    })
}

fn tool() -> impl Strategy<Value = Tool> {
    let input = prop_oneof![4 => document(), 1 => schema()];
    let output = prop::option::of(prop_oneof![2 => document(), 1 => schema()]);
    (text(), prop::option::of(text()), input, output).prop_map(
        |(name, description, input_schema, output_schema)| Tool {
            name,
            description,
            input_schema,
            output_schema,
        },
    )
}

/// `PROPTEST_CASES` sets another number.
fn configuration() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(600), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn any_schema_generates(tools in vec(tool(), 1..3)) {
        let mut server = Server { name: "any".to_owned(), tools };
        let bindings = generate(&server, "any");
        prop_assert!(syn::parse_file(&bindings.source).is_ok(), "{}", bindings.source);
        server.tools.reverse();
        prop_assert_eq!(&generate(&server, "any"), &bindings);
        let plain = |warning: &codegen::Warning| warning.reason.contains("plain value");
        prop_assert!(!bindings.warnings.iter().any(plain), "{:?}", bindings.warnings);
    }
}
