//! The form of a tool's arguments, made of its schema, and the arguments that a filled form says.
//!
//! Strings, numbers, booleans, enums of strings, and arrays of these have a field each. Everything else is written as
//! JSON, perhaps behind a byte order mark. A field that is left empty is left out of the arguments, except a required string.

use maud::{Markup, html};
use mcp::tool_members::Members;
use serde_json::{Map, Number, Value};
use strict_json::without_mark;

use crate::access::Visitor;
use crate::error::PageError;
use crate::query::Query;
use crate::schema::resolved;
use crate::text::line;

/// Maximum number of fields; further members are written as JSON.
const FIELDS: usize = 40;

/// Maximum number of values in a selection.
const VALUES: usize = 200;

/// The field with further members as JSON.
const REST: &str = "rest";

/// A field of the form.
#[derive(Debug, PartialEq)]
struct Field<'a> {
    /// The name of the member.
    name: &'a str,
    about: &'a str,
    is_required: bool,
    kind: Kind,
}

/// The notation for the value of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    Choice(Vec<String>),
    Integer,
    Number,
    Flag,
    /// One value on each line.
    List(Box<Kind>),
    Json,
}

/// The fields of a schema; none if it does not describe the members of an object.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let members = Members::of(schema);
    members
        .named
        .iter()
        .take(FIELDS)
        .map(|&(name, property)| Field {
            name,
            about: property["description"].as_str().unwrap_or_default(),
            is_required: members.required.contains(name),
            kind: kind(resolved(schema, property), schema),
        })
        .collect()
}

fn kind(property: &Value, root: &Value) -> Kind {
    if let Some(values) = property["enum"].as_array() {
        let texts: Option<Vec<String>> =
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
        return texts.filter(|texts| texts.len() <= VALUES).map_or(Kind::Json, Kind::Choice);
    }
    match property["type"].as_str() {
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Flag,
        Some("array") => match kind(resolved(root, &property["items"]), root) {
            Kind::List(_) | Kind::Json => Kind::Json,
            plain => Kind::List(Box::new(plain)),
        },
        _ => Kind::Json,
    }
}

/// The name of the field at a place. Names of members can be anything, and are not in the form.
fn field_name(place: usize) -> String {
    format!("argument-{place}")
}

/// The server and the name of a tool.
#[derive(Clone, Copy)]
pub(crate) struct ToolPath<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
}

/// The form.
pub(crate) fn form(path: ToolPath<'_>, schema: &Value, visitor: &Visitor) -> Markup {
    let fields = fields(schema);
    let rest =
        if fields.is_empty() { "Arguments as a JSON object" } else { "Further arguments as a JSON object" };
    html! {
        form.try action="try" method="post" {
            (visitor.field())
            input type="hidden" name="server" value=(path.server);
            input type="hidden" name="name" value=(path.tool);
            @for (place, field) in fields.iter().enumerate() {
                label {
                    span { bdi { (line(field.name)) } (hint(field)) }
                    (input(&field_name(place), &field.kind))
                    @if !field.about.is_empty() { small { bdi { (line(field.about)) } } }
                }
            }
            label {
                span { (rest) }
                textarea name=(REST) rows="2" spellcheck="false" {}
            }
            div.actions { button type="submit" { "Call it" } " Empty fields are left out." }
        }
    }
}

fn hint(field: &Field<'_>) -> String {
    let kind = match &field.kind {
        Kind::Text | Kind::Choice(_) | Kind::Flag => "",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::List(_) => "one value on each line",
        Kind::Json => "JSON",
    };
    let required = if field.is_required { "required" } else { "" };
    let parts: Vec<&str> = [kind, required].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn input(name: &str, kind: &Kind) -> Markup {
    let select = |values: &[&str]| {
        html! {
            select name=(name) {
                option value="" { "–" }
                @for value in values { option value=(value) { (line(value)) } }
            }
        }
    };
    match kind {
        Kind::Choice(values) => select(&values.iter().map(String::as_str).collect::<Vec<_>>()),
        Kind::Flag => select(&["true", "false"]),
        Kind::Text | Kind::Integer | Kind::Number => html! {
            input type="text" name=(name) autocomplete="off" spellcheck="false"
                inputmode=[(*kind != Kind::Text).then_some("decimal")];
        },
        Kind::List(_) | Kind::Json => html! { textarea name=(name) rows="2" spellcheck="false" {} },
    }
}

/// The arguments that a filled form says.
///
/// # Errors
/// If a value has another form than its field.
pub(crate) fn arguments(schema: &Value, form: &Query) -> Result<Map<String, Value>, PageError> {
    let rest =
        form.get(REST).map(|rest| without_mark(rest).trim()).filter(|rest| !rest.is_empty()).unwrap_or("{}");
    let rest: Value = serde_json::from_str(rest)
        .map_err(|error| PageError::wrong(format!("the JSON object is wrong: {error}")))?;
    let Value::Object(mut arguments) = rest else {
        return Err(PageError::wrong("the arguments must be a JSON object, such as {\"limit\": 3}"));
    };
    for (place, field) in fields(schema).iter().enumerate() {
        let given = form.get(&field_name(place)).unwrap_or_default();
        let is_kept = !given.is_empty() || (field.is_required && field.kind == Kind::Text);
        // A member that is in the JSON object and left empty in its field keeps its value.
        if is_kept && (!given.is_empty() || !arguments.contains_key(field.name)) {
            let value = value(&field.kind, given).ok_or_else(|| {
                PageError::wrong(format!("{} is {given:?}, and not {}", field.name, words(&field.kind)))
            })?;
            arguments.insert(field.name.to_owned(), value);
        }
    }
    Ok(arguments)
}

fn words(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Choice(_) => "one of the values",
        Kind::Integer => "an integer",
        Kind::Number => "a number",
        Kind::Flag => "true or false",
        Kind::List(_) => "a list with one value on each line",
        Kind::Json => "JSON",
    }
}

fn value(kind: &Kind, given: &str) -> Option<Value> {
    match kind {
        Kind::Text => Some(Value::from(given)),
        Kind::Choice(values) => values.iter().any(|value| value == given).then(|| Value::from(given)),
        Kind::Integer => {
            let given = given.trim();
            given.parse::<i64>().map(Value::from).or_else(|_| given.parse::<u64>().map(Value::from)).ok()
        }
        Kind::Number => {
            let given = given.trim();
            value(&Kind::Integer, given).or_else(|| Number::from_f64(given.parse().ok()?).map(Value::Number))
        }
        Kind::Flag => given.trim().parse::<bool>().ok().map(Value::from),
        Kind::List(kind) => given
            .lines()
            .filter(|one| !one.is_empty())
            .map(|one| value(kind, one))
            .collect::<Option<Vec<_>>>()
            .map(Value::from),
        Kind::Json => serde_json::from_str(without_mark(given)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({ "type": "object", "required": ["name"], "properties": {
            "count": { "type": "integer" }, "flag": { "type": "boolean" }, "name": { "type": "string" },
            "rate": { "type": "number" }, "status": { "enum": ["open", "paid"] },
            "tags": { "type": "array", "items": { "$ref": "#/$defs/Tag" } }, "where": { "type": "object" } },
            "$defs": { "Tag": { "type": "string" } } })
    }

    /// The arguments of a form with these values by member.
    fn filled(values: &[(&str, &str)], rest: &str) -> Result<Value, PageError> {
        let schema = schema();
        let places = fields(&schema);
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in values {
            let place = places.iter().position(|field| field.name == *name).unwrap();
            form.append_pair(&field_name(place), value);
        }
        form.append_pair(REST, rest);
        arguments(&schema, &Query::of_form(form.finish().as_bytes())).map(Value::Object)
    }

    #[test]
    fn fields_become_values_of_their_types() {
        let values = [
            ("count", "3"),
            ("flag", "false"),
            ("name", " a\"b "),
            ("rate", "0.5"),
            ("status", "open"),
            ("tags", "x\r\ny z\n"),
            ("where", "{\"a\": [1]}"),
        ];
        let expected = json!({ "count": 3, "flag": false, "name": " a\"b ", "rate": 0.5, "status": "open",
            "tags": ["x", "y z"], "where": { "a": [1] }, "more": null });
        assert_eq!(filled(&values, "{ \"more\": null, \"count\": 7 }").unwrap(), expected);
        assert_eq!(filled(&[("count", ""), ("flag", "")], "").unwrap(), json!({ "name": "" }));
        assert_eq!(filled(&[("rate", "2")], "{\"name\": \"x\"}").unwrap(), json!({ "name": "x", "rate": 2 }));
    }

    #[test]
    fn values_of_another_type_are_refused() {
        for (name, wrong) in
            [("count", "1.5"), ("flag", "yes"), ("rate", "NaN"), ("status", "other"), ("where", "{")]
        {
            assert!(filled(&[(name, wrong)], "").is_err(), "{name}");
        }
        assert!(filled(&[], "[1]").is_err() && filled(&[], "{").is_err());
    }

    #[test]
    fn members_of_alternatives_have_fields() {
        let member = |name: &str| json!({ "properties": { name: { "type": "string" } }, "required": [name] });
        let schema = json!({ "allOf": [member("a")], "anyOf": [member("b"), member("c")] });
        let found: Vec<_> =
            fields(&schema).into_iter().map(|field| (field.name, field.is_required)).collect();
        assert_eq!(found, [("a", true), ("b", false), ("c", false)]);
    }

    #[test]
    fn a_schema_without_members_has_one_field() {
        for schema in [json!(true), json!({ "anyOf": [] }), json!({ "$ref": "#" })] {
            let page = form(ToolPath { server: "s", tool: "t" }, &schema, &Visitor::default()).into_string();
            assert_eq!(page.matches("<textarea").count(), 1, "{page}");
            let form = Query::of_form(b"rest=%7B%22a%22%3A1%7D");
            assert_eq!(Value::Object(arguments(&schema, &form).unwrap()), json!({ "a": 1 }));
        }
    }

    #[test]
    fn nothing_of_a_schema_is_markup_in_the_form() {
        let hostile = "\"><script>alert(1)</script>";
        let schema = json!({ "properties": { hostile: { "enum": [hostile], "description": hostile } } });
        let page =
            form(ToolPath { server: hostile, tool: hostile }, &schema, &Visitor::default()).into_string();
        assert!(!page.contains("<script") && page.matches("&lt;script&gt;").count() >= 5, "{page}");
    }
}
