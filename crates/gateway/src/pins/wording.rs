//! The changes of a tool as lines of text: types in words, texts before and after.

use std::collections::BTreeSet;

use printable::exact;
use serde_json::Value;

use crate::tool_list::as_declared;

/// Maximum lines for one tool, and characters of an excerpt of a changed text.
const LINES: usize = 20;
const EXCERPT: usize = 200;

/// Characters shown before the first difference.
const BEFORE: usize = 30;

/// The changes, at least one line.
pub(super) fn changes(before: &Value, after: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    texts("", before, after, false, &mut lines);
    let schemas = codegen::diff(as_declared(before).as_slice(), as_declared(after).as_slice());
    let of_schemas = schemas.changed.into_iter().flat_map(|changed| changed.changes);
    // Already listed above, with the text.
    lines.extend(of_schemas.filter(|change| !change.is_description).map(|change| exact(&change.line)));
    if lines.is_empty() {
        lines.push("in a part that affects neither types nor descriptions".to_owned());
    }
    if let Some(more) = lines.len().checked_sub(LINES).filter(|more| *more > 0) {
        lines.truncate(LINES);
        lines.push(format!("and {}", report::count(more, "more change")));
    }
    lines
}

/// Adds the differences: within schemas only descriptions and titles, elsewhere everything.
fn texts(path: &str, before: &Value, after: &Value, in_schema: bool, lines: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (before, after) else { return };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let (was, is) = (old.get(key).unwrap_or(&Value::Null), new.get(key).unwrap_or(&Value::Null));
        if was == is {
            continue;
        }
        let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let is_schema = in_schema || matches!(key.as_str(), "inputSchema" | "outputSchema");
        let is_text = matches!(key.as_str(), "description" | "title") && !(was.is_object() || is.is_object());
        if is_text || !is_schema {
            let (was, is) = excerpts(&shown(was), &shown(is));
            lines.push(format!("{}: was {was}", exact(&place)));
            lines.push(format!("{}  is {is}", " ".repeat(exact(&place).chars().count())));
        } else {
            texts(&place, was, is, true, lines);
        }
    }
}

fn shown(value: &Value) -> String {
    if value.is_null() { "nothing".to_owned() } else { value.to_string() }
}

/// Excerpts of both texts around their first difference.
fn excerpts(before: &str, after: &str) -> (String, String) {
    let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
    let start = same.saturating_sub(BEFORE);
    let excerpt = |text: &str| {
        let end = start + EXCERPT;
        let head = if start > 0 { "…" } else { "" };
        let tail = if text.chars().nth(end).is_some() { "…" } else { "" };
        let part: String = text.chars().skip(start).take(EXCERPT).collect();
        format!("{head}{}{tail}", exact(&part))
    };
    (excerpt(before), excerpt(after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{BEFORE, EXCERPT, LINES, changes, excerpts};

    #[test]
    fn texts_are_shown_before_and_after_and_types_in_words() {
        let long = "x".repeat(500);
        let before = json!({ "name": "a", "description": format!("{long} reads a file"), "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": { "path": { "type": "string", "description": "the path" } } } });
        let after = json!({ "name": "a", "description": format!("{long} sends a file\u{202e}"), "annotations": { "readOnlyHint": false },
            "inputSchema": { "type": "object", "properties": { "path": { "type": "integer", "description": "also the key" } } } });
        let text = changes(&before, &after).join("\n");
        for phrase in [
            "reads a file",
            "sends a file\\u{202e}",
            "readOnlyHint",
            "the path",
            "also the key",
            "input.path",
        ] {
            assert!(text.contains(phrase), "{phrase} in {text}");
        }
        assert!(text.len() < 2_000, "{text}");
    }

    #[test]
    fn the_number_of_lines_is_bounded_and_never_zero() {
        let with = |schema| json!({ "name": "a", "inputSchema": schema });
        assert!(
            !changes(&with(json!({ "type": "object" })), &with(json!({ "type": "object", "x-y": 1 })))
                .is_empty()
        );
        let many: serde_json::Map<_, _> =
            (0..500).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
        let lines = changes(
            &with(json!({ "type": "object" })),
            &with(json!({ "type": "object", "properties": many })),
        );
        assert!(lines.len() <= 21, "{lines:?}");
    }

    #[test]
    fn texts_of_schemas_are_shown_with_their_place_and_types_are_not() {
        let with =
            |schema, title| json!({ "name": "a", "inputSchema": schema, "annotations": { "title": title } });
        let properties = |properties| json!({ "type": "object", "properties": properties });
        let lines = |before, after| changes(&with(properties(before), "x"), &with(properties(after), "x"));
        let text = |place: &str, was: &str, is: &str| {
            let indent = place.len() + "  is".len();
            [format!("{place}: was {was}"), format!("{:>indent$} {is}", "is")]
        };
        // A property may have the name of a text.
        let described = |text: &str| json!({ "title": { "type": "string", "description": text } });
        let place = "inputSchema.properties.title.description";
        assert_eq!(lines(described("x"), described("y")), text(place, "\"x\"", "\"y\""));
        for name in ["title", "description"] {
            let added = lines(json!({}), json!({ name: { "type": "string" } }));
            assert!(added.len() == 1 && !added[0].contains(" was "), "{added:?}");
        }
        let whole = |title| with(properties(json!({})), title);
        let annotations = text("annotations", "{\"title\":\"x\"}", "{\"title\":\"y\"}");
        assert_eq!(changes(&whole("x"), &whole("y")), annotations);
        let (without, with) = (json!({ "name": "a" }), json!({ "name": "a", "b": 1 }));
        assert_eq!(changes(&without, &with), text("b", "nothing", "1"));
    }

    #[test]
    fn further_changes_are_counted_only_if_there_are_some() {
        let with = |count: usize, value: usize| {
            (0..count)
                .map(|number| (format!("k{number}"), json!(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let lines = |count| changes(&with(count, 1), &with(count, 2));
        assert_eq!(lines(LINES / 2).len(), LINES);
        assert!(lines(LINES / 2).iter().all(|line| !line.contains("more")));
        assert_eq!(lines(LINES / 2 + 1).last().unwrap(), "and 2 more changes");
    }

    #[test]
    fn an_excerpt_begins_before_the_first_difference() {
        let text = |same: usize, after: usize| format!("{}x{}", "a".repeat(same), "b".repeat(after));
        for (same, after, expected) in [
            (BEFORE, 9, text(BEFORE, 9)),
            (BEFORE + 1, 9, format!("…{}", text(BEFORE, 9))),
            (BEFORE, EXCERPT - BEFORE - 1, text(BEFORE, EXCERPT - BEFORE - 1)),
            (BEFORE, EXCERPT - BEFORE, format!("{}…", text(BEFORE, EXCERPT - BEFORE - 1))),
            (100, EXCERPT, format!("…{}…", text(BEFORE, EXCERPT - BEFORE - 1))),
        ] {
            assert_eq!(excerpts(&text(same, after), &"a".repeat(same)).0, expected);
        }
    }
}
