//! Hostile schemas and arguments: each check ends, on half the stack of an ordinary thread, and rejects nothing
//! unfairly.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use mcp::InputCheck;
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};

/// The message of the check, empty if the arguments pass; or why there is no check.
fn message(schema: &Value, arguments: &Value) -> String {
    message_for_text(schema, &to_raw_value(arguments).unwrap())
}

fn message_for_text(schema: &Value, arguments: &RawValue) -> String {
    let check = || match InputCheck::new(schema) {
        Ok(check) => check.check(arguments).map_or_else(|invalid| invalid.to_string(), |()| String::new()),
        Err(reason) => format!("unchecked: {reason}"),
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn_scoped(scope, check);
        thread.unwrap().join().unwrap()
    })
}

fn nested(depth: usize, innermost: Value, outer: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(innermost, |inner, _| outer(inner))
}

/// `{"a": {"a": ... innermost}}`
fn chain(depth: usize, innermost: Value) -> Value {
    nested(depth, innermost, |inner| json!({ "a": inner }))
}

#[test]
fn circular_references_reject_nothing() {
    let circles = [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "not": { "$ref": "#" } }),
        json!({ "if": { "$ref": "#" }, "then": { "$ref": "#" }, "else": { "$ref": "#" } }),
        json!({ "$dynamicAnchor": "a", "$dynamicRef": "#a" }),
        json!({ "$recursiveAnchor": true, "allOf": [{ "$recursiveRef": "#" }, { "$recursiveRef": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "allOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/b" }] } } }),
        json!({ "dependentSchemas": { "a": { "$ref": "#" } }, "nullable": true }),
        json!({ "$ref": "#/properties/a/properties/a", "properties": { "a": { "properties": { "a": { "$ref": "#" } } } } }),
    ];
    for schema in circles {
        assert_eq!(message(&schema, &chain(20, json!(1))), "", "{schema}");
    }
}

#[test]
fn exponential_references_end() {
    for union in ["anyOf", "allOf", "oneOf"] {
        for innermost in [json!({ "type": "string" }), json!({ "type": "object" })] {
            let mut definitions = Map::new();
            definitions.insert("d0".to_owned(), innermost);
            for level in 1..=60 {
                let below = json!({ "$ref": format!("#/$defs/d{}", level - 1) });
                definitions.insert(format!("d{level}"), json!({ union: [below, below] }));
            }
            let schema = json!({ "$ref": "#/$defs/d60", "$defs": definitions });
            let found = message(&schema, &json!({}));
            assert!(found.is_empty() || found.starts_with("they do not match"), "{found}");
        }
    }
}

#[test]
fn recursion_in_all_branches_ends() {
    let schema = json!({ "anyOf": [
        { "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a", "b"] },
        { "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a", "c"] },
        { "type": "integer" },
    ] });
    for depth in [3, 30, 120] {
        message(&schema, &chain(depth, json!(1)));
    }
    let schema =
        json!({ "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } }, "required": ["a"] });
    message(&schema, &chain(120, json!({})));
    let all = json!({ "additionalProperties": { "$ref": "#" }, "patternProperties": { "": { "$ref": "#" } }, "properties": { "a": { "$ref": "#" } } });
    message(&all, &chain(120, json!(1)));
}

#[test]
fn many_and_long_chains_of_references_end() {
    let ladder: Map<String, Value> = (0..900)
        .map(|step| (format!("d{step}"), json!({ "$ref": format!("#/$defs/d{}", step + 1) })))
        .collect();
    assert_eq!(message(&json!({ "$ref": "#/$defs/d0", "$defs": ladder }), &json!({})), "");
    let many: Vec<Value> = (0..5000).map(|step| json!({ "$ref": format!("#/$defs/d{step}") })).collect();
    let definitions: Map<String, Value> = (0..5000).map(|step| (format!("d{step}"), json!({}))).collect();
    assert_eq!(
        message(&json!({ "allOf": many, "$defs": definitions }), &json!({})),
        "unchecked: the schema has too many references"
    );
    // Each place is the target of a reference, so it is taken over once for each of its ancestors.
    let pointers: Vec<Value> = (0..60)
        .map(|depth| json!({ "$ref": format!("#/$defs/a{}", "/properties/a".repeat(depth)) }))
        .collect();
    let wide: Map<String, Value> =
        (0..2000).map(|number| (format!("p{number}"), json!({ "type": "string" }))).collect();
    let deep = nested(61, json!({ "properties": wide }), |inner| json!({ "properties": { "a": inner } }));
    let found = message(&json!({ "anyOf": pointers, "$defs": { "a": deep } }), &json!({}));
    assert!(found.starts_with("unchecked: the schema has "), "{found}");
}

#[test]
fn deep_schemas_are_checked_up_to_the_depth_limit() {
    let wrap: [fn(Value) -> Value; 9] = [
        |inner| json!({ "properties": { "a": inner }, "required": ["a"], "additionalProperties": false }),
        |inner| json!({ "allOf": [inner], "nullable": true }),
        |inner| json!({ "anyOf": [inner] }),
        |inner| json!({ "not": inner }),
        |inner| json!({ "additionalProperties": inner }),
        |inner| json!({ "if": {}, "then": inner }),
        |inner| json!({ "dependentSchemas": { "a": inner } }),
        |inner| json!({ "items": inner }),
        |inner| json!({ "patternProperties": { "^a": inner }, "additionalProperties": false, "nullable": true }),
    ];
    for wrap in wrap {
        // serde_json reads nothing deeper than this, counted in objects and arrays.
        let schema = nested(42, json!({ "type": "object", "required": ["b"] }), wrap);
        message(&schema, &chain(40, json!({})));
        message(&schema, &nested(40, json!([]), |inner| json!([inner])));
        let constant = nested(42, json!({ "const": chain(40, json!(1)) }), wrap);
        message(&constant, &chain(80, json!(1)));
    }
    let deep = nested(60, json!(false), |inner| json!({ "properties": { "a": inner } }));
    assert_eq!(message(&deep, &chain(60, json!(1))), "");
    assert!(
        message(&nested(200, json!({}), |inner| json!({ "not": inner })), &json!({}))
            .starts_with("unchecked")
    );
}

#[test]
fn deep_arguments_are_checked_or_pass() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "maxProperties": 1 });
    assert!(message(&schema, &chain(50, json!(1))).ends_with(".a.a: 1 is a number, not an object"));
    assert_eq!(message(&schema, &chain(126, json!({}))), "");
    let deepest = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deepest = RawValue::from_string(deepest).unwrap();
    assert_eq!(message_for_text(&json!({ "type": "object" }), &deepest), "");
}

#[test]
fn backtracking_patterns_end() {
    for pattern in [
        "(a+)+$",
        "(?=a)(a+)+$",
        "(?=a)((a|a|aa)+)+$",
        "^(?!b)(.*)*(.*)*(.*)*c$",
        "(.*)(.*)(.*)(.*)\\1x",
        "(?<=(a*))b",
        "(?=.*1[01]{400}[a-c])x",
    ] {
        let schema = json!({ "properties": { "x": { "type": "string", "pattern": pattern } } });
        for length in [10, 40, 1_000, 100_000] {
            let found = message(&schema, &json!({ "x": format!("{}!", "a".repeat(length)) }));
            assert!(found.is_empty() || found.contains("does not match the pattern"), "{found}");
        }
    }
}

#[test]
fn large_and_many_patterns_end() {
    let noise: String =
        (0..20_000_u64).map(|number| if (number * number / 7) % 2 == 0 { '0' } else { '1' }).collect();
    for pattern in [
        "1[01]{50}[a-c]",
        "1[01]{1000}[a-c]",
        "(?:0|.?){2500}[a-c]",
        "(((((a{99}){99}){99}){99}){99}){99}",
        "^[\\p{L}\\p{N}]{1,1000}$",
    ] {
        message(&json!({ "properties": { "x": { "pattern": pattern } } }), &json!({ "x": noise }));
    }
    let controls = "\\cA".repeat(80_000);
    let brackets = format!("{}{}", "(".repeat(2000), ")".repeat(2000));
    let classes = "[".repeat(4000);
    for pattern in [controls, brackets, classes, "a|".repeat(2000), "\\cA".repeat(1365), "(?=a)".repeat(800)]
    {
        message(&json!({ "properties": { "x": { "pattern": pattern } } }), &json!({ "x": "a" }));
    }
    let many: Map<String, Value> = (0..3000)
        .map(|number| (format!("x{number}"), json!({ "pattern": format!("^(\\w{{100}}){{10}}{number}$") })))
        .collect();
    assert_eq!(message(&json!({ "properties": many }), &json!({ "x2999": "b" })), "");
    let names: Map<String, Value> =
        (0..60).map(|number| (format!("^[01]*1[01]{{{number}}}x"), json!(false))).collect();
    let arguments: Map<String, Value> =
        (0..500).map(|number| (format!("{noise}{number}"), json!(1))).collect();
    message(&json!({ "patternProperties": names }), &Value::Object(arguments));
}

#[test]
fn large_choices_and_arrays_end() {
    let choices: Vec<String> = (0..20_000).map(|number| format!("choice-{number}")).collect();
    let numbers: Vec<u32> = (0..100_000).collect();
    let schema = json!({ "properties": { "x": { "enum": choices }, "y": { "uniqueItems": true }, "z": { "items": { "enum": choices } } } });
    assert!(message(&schema, &json!({ "x": "choice" })).ends_with("more"));
    assert_eq!(message(&schema, &json!({ "y": numbers })), "");
    assert_eq!(message(&schema, &json!({ "y": vec![0; 10_000] })), "at .y: has the same item more than once");
    assert!(message(&schema, &json!({ "z": numbers })).starts_with("they do not match"));
    let objects: Vec<Value> = (0..5_000).map(|number| json!({ "a": [number, { "b": [] }] })).collect();
    assert_eq!(message(&schema, &json!({ "y": objects })), "");
}

#[test]
fn wide_schemas_against_wide_arguments_end() {
    let wide: Map<String, Value> =
        (0..10_000).map(|number| (format!("property_{number}"), json!({ "type": "string" }))).collect();
    let schema = json!({ "properties": { "x": { "items": { "properties": wide, "required": ["a"] } } } });
    let rows: Vec<Value> = (0..40_000).map(|_| json!({})).collect();
    assert_eq!(message(&schema, &json!({ "x": rows })), "");
    let errors: Vec<Value> = (0..500).map(|number| json!({ "minimum": number })).collect();
    let schema = json!({ "properties": { "x": { "items": { "allOf": errors } } } });
    let message_for_all = message(&schema, &json!({ "x": vec![-1; 15_000] }));
    assert_eq!(
        message_for_all,
        "they do not match the tool's input schema; they are too large to report where"
    );
    assert!(message(&schema, &json!({ "x": [-1, -1] })).ends_with("… and 997 more"));
}

#[test]
fn long_names_end() {
    let wide: Map<String, Value> =
        (0..5_000).map(|number| (format!("p{number}"), json!({ "type": "string" }))).collect();
    let schema = json!({ "properties": { "n".repeat(128 * 1024): { "properties": wide } } });
    assert_eq!(message(&schema, &json!({})), "unchecked: the schema has names that are too long");
    let schema = json!({ "additionalProperties": { "items": { "type": "string" } } });
    let arguments = json!({ "n".repeat(1024 * 1024): vec![1; 10_000] });
    assert_eq!(
        message(&schema, &arguments),
        "they do not match the tool's input schema; they are too large to report where"
    );
}

#[test]
fn large_arguments_pass_unchecked() {
    let schema = json!({ "maxProperties": 0, "additionalProperties": false });
    assert_eq!(message(&schema, &json!({ "text": "x".repeat(3_000_000) })), "");
    assert_eq!(message(&schema, &json!({ "list": vec![json!({}); 200_000] })), "");
    // A long text alone is checked.
    let schema = json!({ "properties": { "n": { "maximum": 5 } } });
    assert_eq!(
        message(&schema, &json!({ "n": 6, "text": "x".repeat(1_000_000) })),
        "at .n: 6 is more than the maximum 5"
    );
}

#[test]
fn extreme_numbers_are_compared() {
    let schema =
        json!({ "properties": { "x": { "multipleOf": 1e-300, "maximum": 1e308, "minimum": -1e308 } } });
    for number in [
        "1e308",
        "-1e308",
        "1e-320",
        "18446744073709551615",
        "-9223372036854775808",
        "123456789012345678901234567890",
    ] {
        let text = RawValue::from_string(format!("{{\"x\":{number}}}")).unwrap();
        message_for_text(&schema, &text);
    }
    assert_eq!(message_for_text(&schema, &RawValue::from_string("{\"x\":1e999}".to_owned()).unwrap()), "");
}

#[test]
fn a_large_schema_is_built() {
    let property = |number: usize| {
        let of = json!({ "type": "object", "description": "x".repeat(60), "properties": {
            "name": { "type": "string", "minLength": 1 }, "next": { "$ref": format!("#/$defs/d{}", number % 200) },
            "list": { "type": "array", "items": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }] } },
        }, "required": ["name"], "additionalProperties": false });
        (format!("d{number}"), of)
    };
    let properties: Map<String, Value> = (0..600).map(property).collect();
    let definitions: Map<String, Value> = (0..200).map(property).collect();
    let schema = json!({ "type": "object", "properties": properties, "$defs": definitions });
    assert!(schema.to_string().len() > 200_000);
    assert_eq!(
        message(&schema, &json!({ "d5": { "name": "a", "next": { "name": "" } } })),
        "at .d5.next.name: \"\" is shorter than 1 character"
    );
}

#[test]
fn one_check_serves_many_threads() {
    let check = InputCheck::new(&json!({ "$ref": "#/$defs/a", "$defs": { "a": { "properties": { "a": { "$ref": "#" } }, "maxProperties": 1 } } })).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for depth in 1..30 {
                    let bad = to_raw_value(&chain(depth, json!({ "b": 1, "c": 2 }))).unwrap();
                    assert!(
                        check.check(&bad).unwrap_err().to_string().ends_with("has 2 properties, more than 1")
                    );
                    assert_eq!(check.check(&to_raw_value(&chain(depth, json!({}))).unwrap()), Ok(()));
                }
            });
        }
    });
}
