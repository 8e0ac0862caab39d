//! Results in the forms that servers send.

use serde_json::{Value, json};

use super::*;

fn read(sent: &Value) -> (Value, bool, usize) {
    read_as(sent, Structure::Object)
}

/// The result in MCP's form without the list of changes, whether it is a failure, and the number of changes.
fn read_as(sent: &Value, structure: Structure) -> (Value, bool, usize) {
    let (raw, is_error) = in_form(to_raw_value(sent).unwrap(), structure);
    let mut result: Value = serde_json::from_str(raw.get()).unwrap();
    let changes = result["_meta"][REPAIRED_META].as_array().map_or(0, Vec::len);
    if result["_meta"].as_object().is_none_or(|meta| meta.keys().all(|name| name == REPAIRED_META)) {
        result.as_object_mut().unwrap().remove("_meta");
    }
    (result, is_error, changes)
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn results_in_mcps_form_are_not_changed() {
    for sent in [
        r#"{"content": [ {"type":"text","text":"a"} ]}"#,
        r#"{"content":[],"structuredContent":{"n":1e400},"isError":false,"_meta":{"a":1},"odd":[1.50]}"#,
        r#"{"content":[{"type":"hologram","data":"x"}],"isError":true}"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":""}}],"structuredContent":["a"]}"#,
        r#"{"content":[]}"#,
        r#"{"content":[],"ttlMs":5,"resultType":"complete"}"#,
    ] {
        let raw = RawValue::from_string(sent.to_owned()).unwrap();
        let (read, is_error) = in_form(raw, Structure::Object);
        assert_eq!((read.get(), is_error), (sent, sent.contains("true")));
    }
}

#[test]
fn null_stands_for_an_absent_member() {
    let empty = json!({ "content": [] });
    for sent in [
        json!({ "content": null }),
        json!({ "content": [], "isError": null, "structuredContent": null, "_meta": null }),
        json!({ "_meta": null, "isError": false }),
    ] {
        assert_eq!(read(&sent), (empty.clone(), false, 0), "{sent}");
    }
    let structured = json!({ "content": [], "structuredContent": { "a": null } });
    assert_eq!(read(&json!({ "structuredContent": { "a": null } })), (structured.clone(), false, 0));
    assert_eq!(read(&json!({ "content": null, "structuredContent": { "a": null } })), (structured, false, 0));
    let block = json!({ "type": "text", "text": "a", "annotations": null, "_meta": null });
    assert_eq!(read(&json!({ "content": [block] })), (json!({ "content": [text("a")] }), false, 0));
    let resource = |contents: Value| json!({ "content": [{ "type": "resource", "resource": contents }] });
    let sent = resource(json!({ "uri": "a:b", "text": "c", "mimeType": null }));
    assert_eq!(read(&sent), (resource(json!({ "uri": "a:b", "text": "c" })), false, 0));
}

#[test]
fn content_of_any_form_is_read() {
    let items = json!([{ "id": 1, "type": "bug" }, { "id": 2, "type": "wish" }]);
    let item_texts = json!([text(r#"{"id":1,"type":"bug"}"#), text(r#"{"id":2,"type":"wish"}"#)]);
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    for (sent, content, structured) in [
        (json!("just text"), json!([text("just text")]), None),
        (json!({ "type": "text", "text": "one" }), json!([text("one")]), None),
        (json!({ "text": "one" }), json!([text("one")]), None),
        (json!({ "a": 1 }), json!([text(r#"{"a":1}"#)]), Some(json!({ "a": 1 }))),
        (json!(7), json!([text("7")]), Some(json!(7))),
        (json!(["a", "b"]), json!([text("a"), text("b")]), None),
        (json!(["a", image]), json!([text("a"), image]), None),
        (items.clone(), item_texts, Some(items)),
        (json!([1, null]), json!([text("1"), text("null")]), Some(json!([1, null]))),
        (json!([[text("a")]]), json!([text(r#"[{"text":"a","type":"text"}]"#)]), Some(json!([[text("a")]]))),
        (json!([{ "type": "text", "text": null }]), json!([text("null")]), None),
        (json!([{ "type": "text", "text": 5 }]), json!([text("5")]), Some(json!(5))),
        (
            json!([{ "type": "text", "text": { "a": [] } }]),
            json!([text(r#"{"a":[]}"#)]),
            Some(json!({ "a": [] })),
        ),
        (json!([text("a"), { "type": "text", "text": 5 }]), json!([text("a"), text("5")]), None),
        (json!([{ "type": "text", "value": "a" }]), json!([text(r#"{"type":"text","value":"a"}"#)]), None),
        (json!([{ "text": "untyped" }]), json!([text("untyped")]), None),
        (json!([{ "type": null, "text": "untyped" }]), json!([text("untyped")]), None),
        (json!([{ "data": "AAAA", "mimeType": "image/png" }]), json!([image]), None),
    ] {
        let mut expected = json!({ "content": content });
        if let Some(structured) = structured {
            expected["structuredContent"] = structured;
        }
        // The order of members in quoted JSON is that of the value.
        let (result, is_error, changes) = read(&json!({ "content": sent }));
        let unordered = |value: &Value| value.to_string().len();
        assert_eq!(unordered(&result), unordered(&expected), "{sent}: {result}");
        assert_eq!(result["structuredContent"], expected["structuredContent"], "{sent}");
        assert!(!is_error && changes > 0, "{sent}: {result}");
    }
}

#[test]
fn data_without_any_member_of_mcp_is_structured_content() {
    let data = |value: &Value| json!({ "content": [text(&value.to_string())], "structuredContent": value });
    for sent in [
        json!({ "count": 14, "next": null, "results": [{ "id": 1 }] }),
        json!({}),
        json!({ "task": { "taskId": "1" } }),
        json!([]),
        json!([{ "id": 1 }]),
        json!(7),
        json!(false),
    ] {
        assert_eq!(read(&sent), (data(&sent), false, 1), "{sent}");
    }
    assert_eq!(read(&json!("plain")), (json!({ "content": [text("plain")] }), false, 1));
    assert_eq!(read(&json!(null)), (json!({ "content": [text("null")] }), false, 1));
    assert_eq!(read(&json!([text("a")])), (json!({ "content": [text("a")] }), false, 1));
    let old = |value: Value| read(&json!({ "toolResult": value }));
    assert_eq!(old(json!("old style")), (json!({ "content": [text("old style")] }), false, 1));
    assert_eq!(old(json!({ "a": 1 })), (data(&json!({ "a": 1 })), false, 1));
    // Members beside empty content are not lost; beside other content they are no answer.
    assert_eq!(read(&json!({ "content": [], "rows": [1] })), (data(&json!({ "rows": [1] })), false, 1));
    let both = json!({ "content": [text("a")], "rows": [1] });
    assert_eq!(read(&both), (both.clone(), false, 0));
    // A long value is not repeated as text.
    let long = json!({ "rows": "x".repeat(MAX_COPIED_BYTES) });
    assert_eq!(read(&long), (json!({ "content": [], "structuredContent": long }), false, 1));
}

#[test]
fn numbers_keep_their_digits() {
    let sent = r#"{"total":12345678901234567890123,"rate":1.10}"#;
    let (raw, _) = in_form(RawValue::from_string(sent.to_owned()).unwrap(), Structure::Object);
    assert!(raw.get().contains(&format!("\"structuredContent\":{sent}")), "{raw}");
}

#[test]
fn structured_content_that_is_json_text_is_parsed_unless_texts_are_allowed() {
    let sent = json!({ "content": [], "structuredContent": " {\"a\":1}" });
    let expected = json!({ "content": [], "structuredContent": { "a": 1 } });
    assert_eq!(read(&sent), (expected, false, 1));
    assert_eq!(read_as(&sent, Structure::Any), (sent.clone(), false, 0));
    for text in ["plain", "{", "{\"a\":1,\"a\":2}", "7"] {
        let sent = json!({ "content": [], "structuredContent": text });
        assert_eq!(read(&sent), (sent.clone(), false, 0), "{text}");
    }
}

#[test]
fn is_error_of_any_form_is_read() {
    let fine = |is_error: Value| read(&json!({ "content": [text("a")], "isError": is_error }));
    for (sent, is_error) in [
        (json!("false"), false),
        (json!("False"), false),
        (json!(""), false),
        (json!(0), false),
        (json!(0.0), false),
        (json!([]), false),
        (json!("true"), true),
        (json!(1), true),
        (json!({ "code": 1 }), true),
    ] {
        let (result, found, changes) = fine(sent.clone());
        assert_eq!((found, result.get("isError").is_some(), changes), (is_error, is_error, 1), "{sent}");
    }
}

#[test]
fn a_failure_says_what_its_structured_content_says() {
    let failed = |content: Value, structured: Value| {
        let (result, is_error, changes) =
            read(&json!({ "content": content, "structuredContent": structured, "isError": true }));
        assert_eq!((is_error, changes, &result["structuredContent"]), (true, 0, &structured), "{structured}");
        let texts = result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    let none = json!([]);
    assert_eq!(failed(none.clone(), json!({ "message": "quota exceeded" })), ["quota exceeded"]);
    assert_eq!(failed(none.clone(), json!({ "detail": "no", "ok": false })), ["no"]);
    assert_eq!(failed(none.clone(), json!({ "error": "disk full" })), ["disk full"]);
    assert_eq!(failed(none.clone(), json!({ "error": { "message": "a" } })), ["a"]);
    assert_eq!(failed(none.clone(), json!({ "errors": [{ "reason": "b" }] })), ["b"]);
    assert_eq!(failed(none.clone(), json!({ "code": 7 })), [r#"{"code":7}"#]);
    assert_eq!(failed(json!([text(" ")]), json!({ "message": "a" })), [" ", "a"]);
    let consent = json!({ "error": { "code": "RISK", "interaction_url": "http://127.0.0.1:1/once/abc" } });
    assert_eq!(failed(none, consent.clone()), [consent.to_string()]);
    assert_eq!(failed(json!([text("needs admin")]), consent.clone()), ["needs admin", &consent.to_string()]);
    // Nothing is said twice.
    let known = text("RISK: open http://127.0.0.1:1/once/abc");
    assert_eq!(failed(json!([known]), consent).len(), 1);
    let (result, ..) = read(&json!({ "isError": true, "error": "quota exceeded" }));
    assert_eq!(result["content"], json!([text(r#"{"error":"quota exceeded"}"#)]));
}

#[test]
fn meta_that_is_not_an_object_is_dropped_and_other_meta_kept() {
    assert_eq!(read(&json!({ "content": [], "_meta": "a" })), (json!({ "content": [] }), false, 1));
    let (raw, _) =
        in_form(to_raw_value(&json!({ "content": "a", "_meta": { "b": 1 } })).unwrap(), Structure::Any);
    let result: Value = serde_json::from_str(raw.get()).unwrap();
    let changes = json!(["its `content` is a text instead of a list"]);
    assert_eq!(result["_meta"], json!({ "b": 1, REPAIRED_META: changes }));
}
