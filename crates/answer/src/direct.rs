//! Makes a direct tool's result one that every client reads: repairs its content blocks, cuts a large result to the limit
//! for answers, and stores the whole as a resource.

use runner::size;
use serde_json::{Value, json};

use crate::IMAGES_ROOM;
use crate::cut::{Keep, head_and_tail, whole_at};

/// The member of a result's `_meta` that names what was cut.
const TRUNCATED: &str = "io.toolsmith/truncated";

/// The smallest room for a text that is cut, in bytes, so that a part of it is shown in any case.
const MIN_TEXT: usize = 512;

/// Limits a `CallToolResult` to about `limit` bytes of text and [`IMAGES_ROOM`] of other content. What is cut is stored
/// with `keep`.
///
/// Structured content of a tool with an output schema is not cut, because clients check it against the schema.
pub fn direct(mut result: Value, limit: usize, has_schema: bool, keep: Keep<'_>) -> Value {
    if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
        content.iter_mut().for_each(|block| *block = runner::presentable(block.take()));
    }
    let content = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = cut_content(content, limit, keep);
    let structured = result.get("structuredContent").filter(|_| !has_schema).map(text_of);
    let structured = structured.filter(|text| text.len() > limit);
    let has_text = content.iter().any(|part| text(part).is_some());
    let note = structured.map(|text| {
        let address = keep("structured_content", &text);
        let note = if has_text {
            let (bytes, more) = (size(text.len()), whole_at(&address));
            format!("[… {bytes} of structured content are left out{more} …]")
        } else {
            head_and_tail(&text, limit, &whole_at(&address))
        };
        [
            json!({ "type": "text", "text": note }),
            link(&address, "structured_content", "application/json", &text),
        ]
    });
    if shown.is_none() && note.is_none() {
        return result;
    }
    let links = [shown.as_ref().and_then(|parts| parts.last()), note.as_ref().map(|[_, link]| link)];
    let truncated = truncated(links.into_iter().flatten());
    let mut parts = shown.unwrap_or_else(|| content.to_vec());
    if let Some(note) = note {
        parts.extend(note);
        result.as_object_mut().map(|members| members.remove("structuredContent"));
    }
    result["content"] = Value::Array(parts);
    if !result["_meta"].is_object() {
        result["_meta"] = json!({});
    }
    result["_meta"][TRUNCATED] = truncated;
    result
}

/// Describes the cut, and the place of the whole: as in an outcome.
fn truncated<'a>(links: impl Iterator<Item = &'a Value>) -> Value {
    let members = links.flat_map(|link| {
        let part = link["name"].as_str().unwrap_or_default();
        [(part.to_owned(), json!(true)), (format!("{part}_resource"), link["uri"].clone())]
    });
    Value::Object(members.collect())
}

/// The parts that fit, the beginning and the end of the first text that does not, and a link to the whole; `None` if
/// all parts fit.
fn cut_content(content: &[Value], limit: usize, keep: Keep<'_>) -> Option<Vec<Value>> {
    let texts: usize = content.iter().filter_map(|part| text(part).map(str::len)).sum();
    let others: usize =
        content.iter().filter(|part| text(part).is_none()).map(|part| text_of(part).len()).sum();
    if texts <= limit && others <= IMAGES_ROOM {
        return None;
    }
    let (name, kind, whole) = match content {
        [only] if text(only).is_some() => ("text", "text/plain", text(only).unwrap_or_default().to_owned()),
        _ => ("content", "application/json", text_of(&json!(content))),
    };
    let address = keep(name, &whole);
    let (mut room, mut room_for_others) = (limit, IMAGES_ROOM);
    let (mut parts, mut left_out, mut is_cut) = (Vec::new(), 0_usize, false);
    for part in content {
        let (fits, left) = match text(part) {
            Some(text) => (text.len() <= room, &mut room),
            None => (text_of(part).len() <= room_for_others, &mut room_for_others),
        };
        if fits {
            *left -= text(part).map_or_else(|| text_of(part).len(), str::len);
            parts.push(part.clone());
        } else if let Some(text) = text(part).filter(|_| !is_cut) {
            is_cut = true;
            let text = head_and_tail(text, room.max(MIN_TEXT), &whole_at(&address));
            room = 0;
            parts.push(json!({ "type": "text", "text": text }));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let more = whole_at(&address);
        let note = format!("[… {left_out} of {} content parts are left out{more} …]", content.len());
        parts.push(json!({ "type": "text", "text": note }));
    }
    parts.push(link(&address, name, kind, &whole));
    Some(parts)
}

/// The text of a part, if it is one.
fn text(part: &Value) -> Option<&str> {
    part["text"].as_str().or_else(|| part["resource"]["text"].as_str())
}

/// A value as JSON whose numbers have their text.
fn text_of(value: &Value) -> String {
    strict_json::with_numbers(&value.to_string()).into_owned()
}

fn link(address: &str, name: &str, kind: &str, whole: &str) -> Value {
    json!({
        "type": "resource_link", "uri": address, "name": name, "mimeType": kind, "size": whole.len(),
        "description": format!("the whole, {}", size(whole.len())),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// The result cut to 1 000 bytes, and the stored texts by name.
    fn cut(result: Value, has_schema: bool) -> (Value, Vec<(String, String)>) {
        let kept = RefCell::new(Vec::new());
        let keep = |part: &str, text: &str| {
            kept.borrow_mut().push((part.to_owned(), text.to_owned()));
            format!("toolsmith://executions/1/{part}")
        };
        let shown = direct(result, 1_000, has_schema, &keep);
        (shown, kept.into_inner())
    }

    fn part(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    #[test]
    fn a_small_result_is_unchanged() {
        let results = [
            json!({ "content": [part("short"), { "type": "image", "data": "A".repeat(2_000), "mimeType": "image/png" }], "isError": true }),
            json!({ "structuredContent": { "n": 1 }, "_meta": { "a": 1 } }),
            json!({ "resultType": "input_required", "inputRequests": {} }),
        ];
        for result in results {
            assert_eq!(cut(result.clone(), false), (result, Vec::new()));
        }
    }

    #[test]
    fn content_blocks_are_repaired() {
        let image = |data: &str| json!({ "type": "image", "data": data, "mimeType": "image/png" });
        let sent = [
            image("data:image/png;base64,AAAA"),
            json!({ "type": "text", "text": null }),
            image("https://a.b/c"),
        ];
        let (shown, _) = cut(json!({ "content": sent }), false);
        assert_eq!((&shown["content"][0], &shown["content"][1]), (&image("AAAA"), &part("")));
        assert!(shown["content"][2]["text"].as_str().unwrap().contains("its data is an address"), "{shown}");
    }

    #[test]
    fn a_long_text_is_cut_to_head_and_tail_and_stored_as_text() {
        let long = format!("begin{}end", "ä".repeat(5_000));
        let (shown, kept) = cut(json!({ "content": [part(&long)], "isError": true }), false);
        let text = shown["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("beginä") && text.ends_with("äend") && text.len() < 1_300, "{text}");
        assert!(text.contains("the whole is the resource toolsmith://executions/1/text"), "{text}");
        assert_eq!(
            (&shown["content"][1]["type"], &shown["isError"]),
            (&json!("resource_link"), &json!(true))
        );
        assert_eq!(kept, [("text".to_owned(), long)]);
        let truncated = json!({ "text": true, "text_resource": "toolsmith://executions/1/text" });
        assert_eq!(shown["_meta"][TRUNCATED], truncated);
    }

    #[test]
    fn parts_beyond_the_limit_are_left_out_and_all_are_stored() {
        let image = json!({ "type": "image", "data": "A".repeat(IMAGES_ROOM), "mimeType": "image/png" });
        let parts = [part("first"), part(&"x".repeat(2_000)), part(&"y".repeat(2_000)), image, part("last")];
        let (shown, kept) = cut(json!({ "content": parts }), false);
        let content = shown["content"].as_array().unwrap();
        assert_eq!((content.len(), &content[0]), (4, &part("first")));
        assert!(content[1]["text"].as_str().unwrap().starts_with('x'));
        assert!(
            content[2]["text"].as_str().unwrap().contains("3 of 5 content parts are left out"),
            "{}",
            content[2]
        );
        assert_eq!(serde_json::from_str::<Value>(&kept[0].1).unwrap(), json!(parts));
        assert!(shown.to_string().len() < 3_000);
    }

    #[test]
    fn structured_content_is_cut_unless_the_tool_has_a_schema() {
        let structured = json!({ "n": "x".repeat(2_000) });
        let alone = json!({ "content": [], "structuredContent": structured });
        assert_eq!(cut(alone.clone(), true), (alone.clone(), Vec::new()));
        let (shown, kept) = cut(alone, false);
        assert!(shown.get("structuredContent").is_none());
        assert!(shown["content"][0]["text"].as_str().unwrap().starts_with("{\"n\":\"xx"));
        assert_eq!(kept[0], ("structured_content".to_owned(), structured.to_string()));
        let (shown, _) = cut(json!({ "content": [part("short")], "structuredContent": structured }), false);
        assert_eq!(shown["content"][0], part("short"));
        assert!(shown["content"][1]["text"].as_str().unwrap().contains("of structured content are left out"));
    }
}
