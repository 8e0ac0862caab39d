//! Arguments against input schemas: what is rejected and with which message, and what passes.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use mcp::InputCheck;
use serde_json::{Value, json, value::to_raw_value};

/// The message of the check, empty if the arguments pass.
fn message(schema: &Value, arguments: &Value) -> String {
    let check = InputCheck::new(schema).unwrap();
    check
        .check(&to_raw_value(arguments).unwrap())
        .map_or_else(|invalid| invalid.to_string(), |()| String::new())
}

/// The message of the check for a property `x` with the schema.
fn message_of_property(schema: &Value, value: &Value) -> String {
    message(&json!({ "type": "object", "properties": { "x": schema } }), &json!({ "x": value }))
}

#[track_caller]
fn passes(schema: &Value, values: &[Value]) {
    for value in values {
        assert_eq!(message_of_property(schema, value), "", "{schema} should allow {value}");
    }
}

#[track_caller]
fn refuses(schema: &Value, values: &[Value]) {
    for value in values {
        assert_ne!(message_of_property(schema, value), "", "{schema} should not allow {value}");
    }
}

#[test]
fn messages_name_the_violated_bound() {
    let cases = [
        (json!({ "maximum": 100 }), json!(500), "at .x: 500 is more than the maximum 100"),
        (json!({ "minimum": 1 }), json!(0), "at .x: 0 is less than the minimum 1"),
        (json!({ "exclusiveMaximum": 5 }), json!(5), "at .x: 5 is not less than 5"),
        (json!({ "exclusiveMinimum": 0.5 }), json!(0.5), "at .x: 0.5 is not more than 0.5"),
        (json!({ "multipleOf": 5 }), json!(7), "at .x: 7 is not a multiple of 5"),
        (json!({ "maxLength": 3 }), json!("äöüß"), "at .x: \"äöüß\" is longer than 3 characters"),
        (json!({ "minLength": 1 }), json!(""), "at .x: \"\" is shorter than 1 character"),
        (json!({ "maxItems": 1 }), json!([1, 2]), "at .x: has 2 items, more than 1"),
        (json!({ "minItems": 1 }), json!([]), "at .x: has 0 items, fewer than 1"),
        (json!({ "maxProperties": 0 }), json!({ "a": 1 }), "at .x: has 1 properties, more than 0"),
        (json!({ "minProperties": 1 }), json!({}), "at .x: has 0 properties, fewer than 1"),
        (json!({ "uniqueItems": true }), json!([1, 1]), "at .x: has the same item more than once"),
        (json!({ "pattern": "^[a-z]+$" }), json!("A1"), "at .x: \"A1\" does not match the pattern ^[a-z]+$"),
        (
            json!({ "pattern": "^(?!x)\\w+$" }),
            json!("xy"),
            "at .x: \"xy\" does not match the pattern ^(?!x)\\w+$",
        ),
        (
            json!({ "format": "date-time" }),
            json!("tomorrow"),
            "at .x: \"tomorrow\" is not a date and time such as 2024-05-31T12:00:00Z",
        ),
        (json!({ "type": "integer" }), json!("5"), "at .x: \"5\" is a string, not an integer"),
        (json!({ "type": "integer" }), json!(5.5), "at .x: 5.5 is not an integer"),
        (json!({ "type": "string" }), json!([1]), "at .x: is an array, not a string"),
        (
            json!({ "type": ["string", "integer", "null"] }),
            json!(true),
            "at .x: true is a boolean, not null, an integer or a string",
        ),
        (json!({ "enum": ["a", "b", 3] }), json!("c"), "at .x: \"c\" is not one of \"a\", \"b\", 3"),
        (json!({ "const": "a" }), json!("b"), "at .x: \"b\" is not \"a\""),
        (
            json!({ "contains": { "const": 1 } }),
            json!([2]),
            "at .x: has not enough of the items that it must contain",
        ),
        (json!({ "not": { "const": 1 } }), json!(1), "at .x: 1 is what the schema forbids here"),
        (json!({ "properties": { "a": false } }), json!({ "a": 1 }), "at .x.a: is not allowed here"),
        (
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "ab": 1 }),
            "at .x: has a property with a name that is not allowed: \"ab\" is longer than 1 character",
        ),
        (json!({ "dependentRequired": { "a": ["b"] } }), json!({ "a": 1 }), ".x.b is required, but missing"),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(message_of_property(&schema, &value), expected, "{schema}");
    }
}

#[test]
fn messages_name_up_to_three_places() {
    let schema = json!({
        "type": "object",
        "properties": {
            "edits": { "type": "array", "items": { "$ref": "#/$defs/Edit" } },
            "two words": { "type": "string" },
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": { "Edit": {
            "type": "object",
            "properties": { "line": { "type": "integer", "minimum": 1 }, "next": { "$ref": "#/$defs/Edit" } },
            "required": ["line"],
        } },
    });
    assert_eq!(message(&schema, &json!({ "path": "a", "edits": [{ "line": 1 }] })), "");
    assert_eq!(
        message(
            &schema,
            &json!({ "path": "a", "edits": [{ "line": 1 }, { "line": 2, "next": { "line": 0 } }] })
        ),
        "at .edits[1].next.line: 0 is less than the minimum 1"
    );
    assert_eq!(message(&schema, &json!([])), "at the top: is an array, not an object");
    assert_eq!(
        message(&schema, &json!({ "paht": "a", "two words": 1, "edits": [{}, { "line": 0 }, 3] })),
        "at [\"two words\"]: 1 is a number, not a string; .paht is not a known property; \
         .path is required, but missing; … and 3 more"
    );
    assert_eq!(
        message(&schema, &json!({ "path": "a", "two words": 1 })),
        "at [\"two words\"]: 1 is a number, not a string"
    );
    assert_eq!(message(&schema, &json!({ "path": "a", "paht": "a" })), ".paht is not a known property");
}

#[test]
fn messages_name_the_likely_alternative() {
    let optional = json!({ "anyOf": [{ "type": "integer", "maximum": 9 }, { "type": "null" }] });
    assert_eq!(message_of_property(&optional, &json!(10)), "at .x: 10 is more than the maximum 9");
    assert_eq!(
        message_of_property(&optional, &json!("a")),
        "at .x: \"a\" is a string, not null or an integer"
    );
    let choice = json!({ "anyOf": [{ "enum": ["a", "b"], "type": "string" }, { "type": "null" }] });
    assert_eq!(message_of_property(&choice, &json!("c")), "at .x: \"c\" is not one of \"a\", \"b\"");
    let tagged = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } }, "required": ["kind", "radius"] },
        { "type": "object", "properties": { "kind": { "const": "square" }, "side": { "type": "number" } }, "required": ["kind", "side"] },
        { "$ref": "#/$defs/Dot" },
    ] });
    let schema = json!({
        "properties": { "x": tagged },
        "$defs": { "Dot": { "type": "object", "properties": { "kind": { "const": "dot" } }, "required": ["kind"] } },
    });
    assert_eq!(
        message(&schema, &json!({ "x": { "kind": "square", "side": "3" } })),
        "at .x.side: \"3\" is a string, not a number"
    );
    assert_eq!(message(&schema, &json!({ "x": { "kind": "dot" } })), "");
    assert_eq!(
        message(&schema, &json!({ "x": { "kind": "line" } })),
        "at .x: matches none of the 3 alternatives; of the closest, .kind \"line\" is not \"dot\""
    );
    let required = json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert_eq!(
        message_of_property(&required, &json!({})),
        "at .x: matches none of the 2 alternatives; of the closest, .a is required, but missing"
    );
}

#[test]
fn messages_are_bounded_and_printable() {
    let long = "x\u{1b}[31m\u{202e}\n".repeat(10_000);
    let names: Vec<String> = (0..10).map(|number| format!("{number}{long}")).collect();
    let schema = json!({
        "properties": { "x": { "enum": names, "pattern": "a".repeat(3000), "maxLength": 3 } },
        "required": names,
        "additionalProperties": false,
    });
    let text = message(&schema, &json!({ "x": long, long.clone(): 1 }));
    assert!(text.len() < 1500, "{}", text.len());
    assert!(!text.chars().any(|character| character.is_control() || character == '\u{202e}'), "{text:?}");
    let deep = (0..100).fold(json!("a"), |inner, _| json!({ "some_name": inner }));
    let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": {
        "type": "object", "additionalProperties": { "$ref": "#/$defs/a" },
    } } });
    let text = message(&schema, &deep);
    assert!(text.len() < 500 && text.starts_with("at …"), "{text}");
}

#[test]
fn types_and_keywords_of_other_dialects_are_understood() {
    passes(&json!({ "type": "string", "nullable": true }), &[json!("a"), json!(null)]);
    refuses(&json!({ "type": "string", "nullable": true }), &[json!(1)]);
    passes(&json!({ "type": "string", "enum": ["a"], "nullable": true }), &[json!(null)]);
    passes(&json!({ "type": "string", "enum": ["a", null] }), &[json!(null)]);
    passes(&json!({ "type": "any", "minLength": 1 }), &[json!(1), json!(null), json!("a")]);
    passes(&json!({ "type": "file" }), &[json!(1), json!("a")]);
    passes(&json!({ "type": "STRING" }), &[json!("a")]);
    refuses(&json!({ "type": "STRING" }), &[json!(1)]);
    passes(&json!({ "type": [] }), &[json!(1)]);
    passes(&json!({ "type": "integer" }), &[json!(5), json!(5.0), json!(u64::MAX)]);
    passes(&json!({ "type": "integer", "format": "uint32" }), &[json!(-1)]);
    passes(&json!({ "type": "string", "format": "path" }), &[json!("???")]);
    passes(&json!({ "enum": [] }), &[json!(1)]);
    passes(
        &json!({ "maximum": "5", "minLength": -1, "maxItems": 1.5, "pattern": 3, "multipleOf": 0 }),
        &[json!(6)],
    );
    passes(&json!({ "maxLength": 2.0 }), &[json!("ab")]);
    refuses(&json!({ "maxLength": 2.0 }), &[json!("abc")]);
    passes(&json!({ "multipleOf": 0.01 }), &[json!(19.99), json!(0.07), json!(1e15), json!(3)]);
}

#[test]
fn exclusive_bounds_of_draft_4_are_bounds() {
    let schema = json!({ "minimum": 0, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false });
    passes(&schema, &[json!(1), json!(5)]);
    refuses(&schema, &[json!(0), json!(6)]);
    passes(&json!({ "exclusiveMinimum": true }), &[json!(-1)]);
}

#[test]
fn a_boolean_required_of_draft_3_is_ignored() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "required": true } } });
    assert_eq!(message(&schema, &json!({})), "");
    assert_eq!(message(&schema, &json!({ "a": 1 })), "at .a: 1 is a number, not a string");
}

#[test]
fn required_properties_with_a_default_may_be_missing() {
    let schema = json!({ "properties": { "a": { "default": 1 }, "b": {} }, "required": ["a", "b"] });
    assert_eq!(message(&schema, &json!({})), ".b is required, but missing");
}

#[test]
fn lists_of_items_are_tuples_in_every_draft() {
    for draft in
        [json!(null), json!("http://json-schema.org/draft-07/schema#"), json!("https://example.com/x")]
    {
        let schema = json!({ "$schema": draft, "properties": { "x": {
            "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": { "type": "null" },
        } } });
        assert_eq!(message(&schema, &json!({ "x": ["a", 1, null] })), "");
        assert_eq!(
            message(&schema, &json!({ "x": ["a", "b"] })),
            "at .x[1]: \"b\" is a string, not an integer"
        );
        assert_eq!(message(&schema, &json!({ "x": ["a", 1, 2] })), "at .x[2]: 2 is a number, not null");
    }
    refuses(&json!({ "prefixItems": [true], "items": false }), &[json!([1, 2])]);
}

#[test]
fn keywords_next_to_a_reference_count_from_2019() {
    let schema = |draft: &str| {
        json!({ "$schema": draft, "properties": { "x": { "$ref": "#/definitions/a", "maximum": 5 } },
            "definitions": { "a": { "type": "integer" } } })
    };
    let (old, new) =
        ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(message(&schema(old), &json!({ "x": 6 })), "");
    assert_eq!(message(&schema(old), &json!({ "x": "a" })), "at .x: \"a\" is a string, not an integer");
    assert_eq!(message(&schema(new), &json!({ "x": 6 })), "at .x: 6 is more than the maximum 5");
    let nullable = json!({ "$schema": old, "properties": { "x": { "$ref": "#/definitions/a", "nullable": true } },
        "definitions": { "a": { "type": "integer" } } });
    assert_eq!(message(&nullable, &json!({ "x": null })), "");
}

#[test]
fn references_within_the_document_are_resolved() {
    let leads = [
        ("#/$defs/a", "a"),
        ("#/%24defs/a", "a"),
        ("#named", "a"),
        ("https://example.com/schema#/$defs/a", "a"),
        ("#/$defs/with~1slash%20", "with/slash "),
    ];
    for (reference, name) in leads {
        let schema = json!({ "$id": "https://example.com/schema", "properties": { "x": { "$ref": reference } },
            "$defs": { name: { "$anchor": "named", "type": "integer" } } });
        assert_eq!(
            message(&schema, &json!({ "x": "a" })),
            "at .x: \"a\" is a string, not an integer",
            "{reference}"
        );
    }
    let dynamic = json!({ "$dynamicAnchor": "node", "type": "object", "properties": { "x": { "$dynamicRef": "#node" } } });
    assert_eq!(message(&dynamic, &json!({ "x": { "x": 1 } })), "at .x.x: 1 is a number, not an object");
    let recursive = json!({ "type": "object", "properties": { "x": { "$recursiveRef": "#" } } });
    assert_eq!(message(&recursive, &json!({ "x": 1 })), "at .x: 1 is a number, not an object");
}

#[test]
fn unresolvable_references_are_skipped_and_the_rest_is_checked() {
    let nowhere = [
        "#/nowhere",
        "http://127.0.0.1:1/schema",
        "file:///etc/passwd",
        "#nothing",
        "other.json",
        "#/$defs/a/type",
        "#/%zz",
        "\0",
    ];
    for reference in nowhere {
        let schema = json!({
            "properties": { "x": { "$ref": reference }, "y": { "type": "string" } },
            "$defs": { "a": { "type": "integer" } },
        });
        let found = message(&schema, &json!({ "x": [1], "y": 1 }));
        assert_eq!(found, "at .y: 1 is a number, not a string", "{reference}");
    }
    // The same reference would mean something else inside the inner document.
    let schema = json!({ "properties": { "x": { "$id": "inner", "$ref": "#/$defs/a" } }, "$defs": { "a": { "type": "integer" } } });
    assert_eq!(message(&schema, &json!({ "x": "a" })), "");
}

#[test]
fn several_schemas_of_one_object_do_not_exclude_each_other() {
    let closed = |name: &str| json!({ "type": "object", "properties": { name: { "type": "integer" } }, "additionalProperties": false });
    passes(&json!({ "allOf": [closed("a"), closed("b")] }), &[json!({ "a": 1, "b": 1 })]);
    refuses(&json!({ "allOf": [closed("a"), closed("b")] }), &[json!({ "a": 1, "b": "1" })]);
    refuses(&json!({ "allOf": [closed("a")] }), &[json!({ "b": 1 })]);
    let schema = json!({ "properties": { "own": {}, "x": closed("a") }, "allOf": [{ "$ref": "#/$defs/base" }], "additionalProperties": false,
        "$defs": { "base": closed("b") } });
    assert_eq!(message(&schema, &json!({ "own": 1, "b": 2 })), "");
    assert_eq!(
        message(&schema, &json!({ "b": "2", "x": { "b": 1 } })),
        "at .b: \"2\" is a string, not an integer; .x.b is not a known property"
    );
    passes(&json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] }), &[json!(5)]);
    passes(&json!({ "allOf": [closed("a")], "unevaluatedProperties": false }), &[json!({ "a": 1 })]);
}

#[test]
fn property_names_are_not_keywords() {
    let schema = json!({ "type": "object", "properties": {
        "$ref": { "type": "string" }, "type": { "type": "integer" }, "required": { "type": "boolean" },
        "~part": { "type": "integer" }, "$id": { "type": "integer" }, "enum": { "const": { "$ref": "#/nowhere", "~part": 7 } },
    } });
    let fine = json!({ "$ref": "a", "type": 1, "required": true, "~part": 1, "$id": 1, "enum": { "$ref": "#/nowhere", "~part": 7 } });
    assert_eq!(message(&schema, &fine), "");
    assert_eq!(message(&schema, &json!({ "$ref": 1 })), "at .$ref: 1 is a number, not a string");
    passes(
        &json!({ "~part": 5, "~pattern": 0, "~format": "uri", "discriminator": { "propertyName": "x" } }),
        &[json!("a")],
    );
}

#[test]
fn conditions_count_if_they_can_be_decided() {
    let schema = json!({ "if": { "properties": { "mode": { "const": "file" } }, "required": ["mode"] },
        "then": { "required": ["path"] }, "else": { "required": ["url"] } });
    passes(&schema, &[json!({ "mode": "file", "path": 1 }), json!({ "url": 1 })]);
    assert_eq!(message_of_property(&schema, &json!({ "mode": "file" })), ".x.path is required, but missing");
    for vague in [
        json!({ "$ref": "#/nowhere" }),
        json!({ "type": "file" }),
        json!({ "pattern": "^\\w$" }),
        json!({ "pattern": "(?=a)" }),
        json!({ "unevaluatedProperties": false }),
        json!({ "oneOf": [true] }),
    ] {
        passes(&json!({ "not": vague }), &[json!({}), json!("a"), json!("ä")]);
        passes(&json!({ "if": vague, "then": false, "else": false }), &[json!({}), json!("a")]);
    }
    // An annotation forbids nothing, so its negation would forbid everything.
    passes(&json!({ "not": { "not": { "format": "email" } } }), &[json!("a")]);
}

#[test]
fn patterns_are_read_as_ecmascript_reads_them() {
    for (pattern, right, wrong) in [
        (r"^\<\w+\>$", "<div>", "div"),
        (r"^[\<\>]$", "<", "a"),
        (r"\>$", "a>", "a"),
        (r"^\-\_\@\/\'\#\%\ \,\!\:\;\=\~\&\`$", "-_@/'#% ,!:;=~&`", "-"),
        (r#"^\"a\"$"#, "\"a\"", "a"),
        (r"^a\–b$", "a–b", "a-b"),
        (r"^a\0b$", "a\0b", "a0b"),
        (r"^\cJ$", "\n", "cJ"),
        (r"^\uD83D\uDE00$", "😀", "😁"),
        (r"^{.*}$", "{a}", "a"),
        (r"^\{\{[a-z]+\}\}$", "{{a}}", "{a}"),
        (r"^a]$", "a]", "a"),
        (r"^[^]+$", "a\nb", ""),
        (r"^[\w-.]+$", "a-b.c", "a b"),
        (r"^[.-\d]+$", "1-2.3", "a"),
        (r"^[a&&b]+$", "a&b", "c"),
        (r"^[[a]+$", "[a", "b"),
        (r"^(?!\<)a", "a", "<a"),
        (r"(?<=\<)a\>$", "<a>", "a>"),
    ] {
        passes(&json!({ "pattern": pattern }), &[json!(right)]);
        refuses(&json!({ "pattern": pattern }), &[json!(wrong)]);
    }
    let names = json!({ "patternProperties": { "^\\<[a-z]\\>$": {} }, "additionalProperties": false });
    passes(&names, &[json!({ "<a>": 1 })]);
    refuses(&names, &[json!({ "a": 1 })]);
}

#[test]
fn patterns_read_shorthands_as_widely_as_servers_may() {
    passes(&json!({ "pattern": "^\\w+$" }), &[json!("Zoe"), json!("Zoë")]);
    refuses(&json!({ "pattern": "^\\w+$" }), &[json!("a b")]);
    refuses(&json!({ "pattern": "^[a-z]+$" }), &[json!("Zoë")]);
    passes(&json!({ "pattern": "(" }), &[json!("a")]);
    passes(&json!({ "pattern": "^[\\p{L}\\p{N} ]{1,50}$" }), &[json!("Zoë 1")]);
    refuses(&json!({ "pattern": "^[\\p{L}\\p{N} ]{1,50}$" }), &[json!("-")]);
    refuses(
        &json!({ "patternProperties": { "^n_": { "type": "integer" } }, "additionalProperties": false }),
        &[json!({ "n_a": "b" }), json!({ "a": 1 })],
    );
    // A skipped pattern makes it unknown which properties are additional.
    passes(
        &json!({ "patternProperties": { "(?=a)": true }, "additionalProperties": false }),
        &[json!({ "b": 1 })],
    );
}

#[test]
fn formats_apply_to_non_empty_texts_only() {
    refuses(&json!({ "type": "string", "format": "uuid" }), &[json!("1")]);
    passes(&json!({ "format": "uuid" }), &[json!(""), json!(1), json!("936da01f9abd4d9d80c702af85c822a8")]);
}

#[test]
fn the_root_may_be_empty_but_must_be_an_object() {
    for schema in [json!({}), json!({ "type": "object" }), json!({ "properties": null, "required": true })] {
        assert_eq!(message(&schema, &json!({ "a": 1 })), "");
    }
    assert!(InputCheck::new(&json!(true)).is_err());
    assert!(InputCheck::new(&json!(null)).is_err());
}
