use serde_json::{Value, json};

use super::{is_block, presentable};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn png() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

#[test]
fn valid_blocks_are_unchanged() {
    for block in [
        json!({ "type": "text", "text": "a", "annotations": { "audience": ["user"] }, "_meta": { "b": 1 }, "c": 1 }),
        json!({ "type": "image", "data": PNG, "mimeType": "image/png", "url": "https://a.b/c.png" }),
        json!({ "type": "image", "data": "AAAA", "mimeType": "image/apng" }),
        json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }),
        json!({ "type": "resource", "resource": { "uri": "x://1", "text": "a" } }),
        json!({ "type": "resource", "resource": { "uri": "x://2", "blob": "AAEC", "mimeType": "a/b" } }),
        json!({ "type": "resource_link", "uri": "x://1", "name": "a", "size": 1, "description": "b" }),
    ] {
        assert_eq!(presentable(block.clone()), block);
    }
}

#[test]
fn data_and_type_of_an_image_are_repaired() {
    for block in [
        json!({ "type": "image", "data": format!("data:image/png;base64,{PNG}"), "mimeType": "image/png" }),
        json!({ "type": "image", "data": format!("data:image/png;base64,{PNG}") }),
        json!({ "type": "image", "data": "iVBORw0KGgoAAAAN\nSUhEUg", "mimeType": "image/png" }),
        json!({ "type": "image", "data": PNG }),
        json!({ "type": "image", "data": PNG, "mimeType": null }),
        json!({ "type": "image", "data": PNG, "mimeType": "png" }),
        json!({ "type": "image", "data": PNG, "mimeType": "image/jpeg" }),
        json!({ "type": "image", "data": PNG, "mime_type": "image/png" }),
        json!({ "type": "Image", "data": PNG, "mimeType": "image/png" }),
        json!({ "type": "image", "base64": PNG }),
        json!({ "data": PNG, "mimeType": "image/png" }),
        json!({ "data": PNG }),
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG } }),
        json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{PNG}") } }),
    ] {
        assert_eq!(presentable(block.clone()), png(), "{block}");
    }
    let unknown = json!({ "type": "image", "data": "AAAA", "mimeType": "tiff" });
    assert_eq!(presentable(unknown)["mimeType"], "image/tiff");
    let pdf = json!({ "type": "resource", "resource": { "uri": "x://1", "blob": "JVBERi0xLjc" } });
    let resource = json!({ "uri": "x://1", "blob": "JVBERi0xLjc=", "mimeType": "application/pdf" });
    assert_eq!(presentable(pdf)["resource"], resource);
}

#[test]
fn texts_are_repaired() {
    for (block, text) in [
        (json!({ "type": "text", "text": null }), ""),
        (json!({ "type": "text" }), ""),
        (json!({ "type": "text", "text": 5 }), "5"),
        (json!({ "type": "text", "text": { "a": [1] } }), r#"{"a":[1]}"#),
        (json!({ "text": "a", "annotations": null }), "a"),
        (json!("a"), "a"),
        (json!(5), "5"),
        (json!(null), "null"),
        (json!({ "type": "markdown", "text": "a" }), "a"),
    ] {
        assert_eq!(presentable(block.clone()), json!({ "type": "text", "text": text }), "{block}");
    }
}

#[test]
fn resources_and_links_are_repaired() {
    for (block, repaired) in [
        (
            json!({ "type": "resource_link", "uri": "file:///a b.txt", "name": "a" }),
            json!({ "type": "resource_link", "uri": "file:///a%20b.txt", "name": "a" }),
        ),
        (
            json!({ "type": "resource_link", "uri": "x://h/a.txt", "mimeType": null }),
            json!({ "type": "resource_link", "uri": "x://h/a.txt", "name": "a.txt" }),
        ),
        (
            json!({ "uri": "x://h/a.txt", "text": "b" }),
            json!({ "type": "resource", "resource": { "uri": "x://h/a.txt", "text": "b" } }),
        ),
        (
            json!({ "type": "resource", "resource": { "text": "b" } }),
            json!({ "type": "resource", "resource": { "uri": "resource:unnamed", "text": "b" } }),
        ),
        (
            json!({ "type": "resource", "uri": "x://1", "resource": { "text": "b" } }),
            json!({ "type": "resource", "resource": { "uri": "x://1", "text": "b" } }),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "a.txt", "text": "b", "blob": null } }),
            json!({ "type": "resource", "resource": { "uri": "resource:a.txt", "text": "b" } }),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "x://1", "blob": "data:a/b;base64,AAEC" } }),
            json!({ "type": "resource", "resource": { "uri": "x://1", "blob": "AAEC", "mimeType": "a/b" } }),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "x://h/1" } }),
            json!({ "type": "resource_link", "uri": "x://h/1", "name": "1" }),
        ),
        (
            json!({ "type": "resource", "resource": { "contents": [{ "uri": "x://1", "text": "b" }] } }),
            json!({ "type": "resource", "resource": { "uri": "x://1", "text": "b" } }),
        ),
    ] {
        assert_eq!(presentable(block.clone()), repaired, "{block}");
    }
}

#[test]
fn blocks_without_one_meaning_become_texts_with_the_reason() {
    for (block, why) in [
        (
            json!({ "type": "image", "data": "https://a.b/c.png", "mimeType": "image/png" }),
            "its data is an address",
        ),
        (json!({ "type": "image", "url": "https://a.b/c.png" }), "its data is an address"),
        (json!({ "type": "image", "data": "AAAA" }), "it has no `mimeType`"),
        (json!({ "type": "image", "data": "a.png", "mimeType": "image/png" }), "its data is not Base64"),
        (json!({ "type": "image", "mimeType": "image/png" }), "it has no data"),
        (json!({ "type": "text", "value": "a" }), "it has no `text`"),
        (json!({ "type": "video", "data": "AAAA", "mimeType": "video/mp4" }), "the type \"video\""),
        (json!({ "type": "order", "text": "a", "id": 1 }), "the type \"order\""),
        (json!({ "a": 1 }), "it has no `type`"),
        (json!({ "type": "resource", "resource": {} }), "neither `text` nor `blob`"),
        (json!({ "type": "resource_link", "name": "a" }), "it has no `uri`"),
        (json!({ "type": "resource_link", "uri": "a.txt", "name": "a" }), "not an absolute URI"),
    ] {
        let text = presentable(block.clone());
        assert_eq!(text["type"], "text", "{block}");
        let text = text["text"].as_str().unwrap();
        assert!(text.starts_with("[a content block as text, because ") && text.contains(why), "{text}");
        assert!(text.ends_with(&block.to_string()), "{text}");
    }
    let long = presentable(json!({ "type": "image", "data": "é".repeat(1 << 20), "mimeType": "image/png" }));
    let text = long["text"].as_str().unwrap();
    assert!(text.len() < 3_000 && text.contains("(2095152 bytes more)"), "{text}");
}

#[test]
fn blocks_are_recognised_among_other_values() {
    assert!(is_block(&json!({ "type": "text" })) && is_block(&json!({ "data": PNG })));
    for other in [
        json!({ "a": 1 }),
        json!({ "type": "order", "id": 1 }),
        json!({ "text": "a", "author": "b" }),
        json!("a"),
        json!([1]),
        json!(null),
    ] {
        assert!(!is_block(&other), "{other}");
    }
}
