//! A JSON Schema as a table: the members with their types and descriptions.

use maud::{Markup, html};
use serde_json::Value;

use crate::text::{breakable, line, lines};

/// Maximum number of members in a table, and how deep it goes. The JSON below it has everything.
const ROWS: usize = 400;
const DEPTH: usize = 6;

/// Maximum number of alternatives and values in the words of a type, how deep they go, and their length in characters.
const LISTED: usize = 8;
const NESTED: usize = 3;
const WORDS: usize = 300;

/// A member of a value.
#[derive(Debug, PartialEq, Eq)]
struct Member {
    path: String,
    kind: String,
    is_required: bool,
    about: String,
}

/// A section about a schema, with a heading.
pub(crate) fn section(name: &str, schema: &Value) -> Markup {
    let mut members = Vec::new();
    collect(schema, schema, "", DEPTH, &mut members);
    let is_cut = members.len() > ROWS;
    members.truncate(ROWS);
    let json = serde_json::to_string_pretty(schema).unwrap_or_default();
    html! {
        h2 { (name) }
        @if members.is_empty() {
            p { "Its type: " bdi { (cut(&kind(schema, schema, NESTED))) } }
        } @else {
            div.wide tabindex="0" role="region" aria-label=(name) {
                table {
                    thead {
                        tr {
                            th scope="col" { "Member" }
                            th scope="col" { "Type" }
                            th scope="col" { "Required" }
                            th scope="col" { "Description" }
                        }
                    }
                    tbody {
                        @for member in &members {
                            tr {
                                th scope="row" { code { bdi { (line(&member.path)) } } }
                                td { bdi { (member.kind) } }
                                td { (if member.is_required { "yes" } else { "no" }) }
                                td.arguments { bdi { (breakable(&lines(&member.about))) } }
                            }
                        }
                    }
                }
            }
            @if is_cut { p { "Further members are only in the JSON." } }
        }
        details {
            summary { (name) " as JSON Schema" }
            pre tabindex="0" { bdi { (lines(&json)) } }
        }
    }
}

/// The schema that a local reference names; otherwise the schema itself.
pub(crate) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| root.pointer(place)).unwrap_or(schema)
}

/// Adds the members of a schema, and of their members.
fn collect(root: &Value, schema: &Value, path: &str, depth: usize, members: &mut Vec<Member>) {
    let schema = resolved(root, schema);
    if depth == 0 || members.len() > ROWS {
        return;
    }
    if schema["items"].is_object() {
        collect(root, &schema["items"], &format!("{path}[]"), depth - 1, members);
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let text = |of: &Value| of["description"].as_str().unwrap_or_default().to_owned();
        let about = Some(text(property)).filter(|about| !about.is_empty());
        members.push(Member {
            kind: cut(&kind(root, property, NESTED)),
            is_required: required.contains(&name.as_str()),
            about: about.unwrap_or_else(|| text(resolved(root, property))),
            path: path.clone(),
        });
        collect(root, property, &path, depth - 1, members);
    }
}

/// The type of a schema in words.
fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolved(root, schema);
    if depth == 0 {
        return "…".to_owned();
    }
    if let Some(values) = schema["enum"].as_array() {
        return listed(values.iter().map(|value| line(&value.to_string())), values.len());
    }
    if !schema["const"].is_null() {
        return line(&schema["const"].to_string());
    }
    for member in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[member].as_array() {
            return listed(choices.iter().map(|choice| kind(root, choice, depth - 1)), choices.len());
        }
    }
    let one = |name: &str| match name {
        "array" if schema["items"].is_object() => {
            format!("array of {}", kind(root, &schema["items"], depth - 1))
        }
        name => line(name),
    };
    let format = schema["format"].as_str().map(|format| format!(" ({})", line(format))).unwrap_or_default();
    match &schema["type"] {
        Value::String(name) => format!("{}{format}", one(name)),
        Value::Array(names) => listed(names.iter().filter_map(Value::as_str).map(one), names.len()) + &format,
        _ if schema["properties"].is_object() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

fn listed(words: impl Iterator<Item = String>, count: usize) -> String {
    let shown: Vec<String> = words.take(LISTED).collect();
    let more = if count > LISTED { " or …" } else { "" };
    format!("{}{more}", shown.join(" or "))
}

fn cut(words: &str) -> String {
    match words.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_listed_with_their_types() {
        let schema = json!({
            "type": "object",
            "required": ["status"],
            "properties": {
                "status": { "enum": ["open", "paid"], "description": "Which orders" },
                "page": { "$ref": "#/$defs/Page" },
                "tags": { "type": "array", "items": { "type": "string", "format": "uuid" } },
                "limit": { "type": ["integer", "null"] },
                "rest": true,
            },
            "$defs": { "Page": { "type": "object", "description": "A page", "properties": {
                "next": { "anyOf": [{ "$ref": "#/$defs/Page" }, { "const": 1 }] } } } },
        });
        let mut members = Vec::new();
        collect(&schema, &schema, "", 2, &mut members);
        let mut shown: Vec<String> = members
            .iter()
            .map(|member| format!("{} {} {} {}", member.path, member.kind, member.is_required, member.about))
            .collect();
        // The order of members is that of the schema, or of their names: a build may have either.
        shown.sort_unstable();
        let expected = [
            "limit integer or null false ",
            "page object false A page",
            "page.next object or 1 false ",
            "rest any false ",
            "status \"open\" or \"paid\" true Which orders",
            "tags array of string (uuid) false ",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_schema_that_refers_to_itself_or_is_large_is_bounded() {
        let own = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "object", "properties": {
            "a": { "$ref": "#/$defs/A" }, "b": { "anyOf": [{ "$ref": "#/$defs/A" }] } } } } });
        assert!(section("Arguments", &own).into_string().len() < 100_000);
        let circle = json!({ "$ref": "#" });
        assert!(section("Arguments", &circle).into_string().contains("any"));
        let many: serde_json::Map<String, Value> =
            (0..10_000).map(|n| (format!("m{n}"), json!({ "type": "string" }))).collect();
        let page = section("Arguments", &json!({ "properties": many })).into_string();
        assert!(
            page.matches("<tr>").count() <= ROWS + 1 && page.contains("Further members"),
            "{}",
            page.len()
        );
    }

    #[test]
    fn nothing_of_a_schema_is_markup() {
        let hostile = "<script>alert(1)</script>";
        let schema = json!({ "properties": { hostile: { "type": hostile, "description": hostile, "format": hostile } },
            "required": [hostile] });
        let page = section("Arguments", &schema).into_string();
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    }
}
