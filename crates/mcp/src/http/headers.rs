//! The headers of requests and responses. Some repeat parts of a request's body, so that intermediaries can route
//! without reading it (MCP 2026-07-28, basic/transports: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`).

use std::{collections::HashSet, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{
    Response,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use crate::wire::RawRequest;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// The schema annotation that requests a header.
const ANNOTATION: &str = "x-mcp-header";

/// The depth to which schemas are searched for annotations; deeper ones count as misplaced.
const MAX_DEPTH: usize = 64;

/// The arguments of a tool that are also sent in headers: the path of each, and the header's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParameterHeaders(Vec<(Vec<String>, String)>);

/// An annotation that breaks the rules of `x-mcp-header` (MCP 2026-07-28, server/tools).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnnotationError {
    #[error("{ANNOTATION} `{0}` appears more than once")]
    Repeated(String),
    #[error("{ANNOTATION} is not on a property")]
    Misplaced,
    #[error("{ANNOTATION} is not a header name{}", .0.as_ref().map(|name| format!(": {name:?}")).unwrap_or_default())]
    Name(Option<String>),
    #[error("{ANNOTATION} `{0}` is on a property that is not a string, integer or boolean")]
    Type(String),
}

/// Reads the annotations of an input schema. Fails with the annotation that breaks the rules; the specification says to
/// leave out such a tool.
pub(crate) fn parameter_headers(schema: &Value) -> Result<ParameterHeaders, AnnotationError> {
    let mut found = ParameterHeaders::default();
    search(schema, Some(&mut Vec::new()), &mut found, MAX_DEPTH)?;
    let mut names = HashSet::new();
    for (_, header) in &found.0 {
        if !names.insert(header.to_ascii_lowercase()) {
            return Err(AnnotationError::Repeated(header.clone()));
        }
    }
    Ok(found)
}

/// Searches `schema` for annotations. `path` is its path if that consists of `properties` alone, otherwise `None`.
fn search(
    schema: &Value,
    path: Option<&mut Vec<String>>,
    found: &mut ParameterHeaders,
    depth: usize,
) -> Result<(), AnnotationError> {
    let (Some(members), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
        return match schema.as_array() {
            Some(items) if depth > 0 => {
                items.iter().try_for_each(|item| search(item, None, found, depth.saturating_sub(1)))
            }
            _ => Ok(()),
        };
    };
    if let Some(header) = members.get(ANNOTATION) {
        let place = path.as_ref().filter(|path| !path.is_empty());
        let place = place.ok_or(AnnotationError::Misplaced)?;
        found.0.push((place.to_vec(), header_name(members, header)?));
    }
    search_members(members, path, found, depth)
}

fn search_members(
    members: &Map<String, Value>,
    mut path: Option<&mut Vec<String>>,
    found: &mut ParameterHeaders,
    depth: usize,
) -> Result<(), AnnotationError> {
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            // These are values, not schemas.
            ("default" | "const" | "enum" | "examples", _) | (ANNOTATION, _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Some(path) = path.as_deref_mut() {
                        path.push(name.clone());
                        let searched = search(property, Some(path), found, depth);
                        path.pop();
                        searched?;
                    } else {
                        search(property, None, found, depth)?;
                    }
                }
            }
            ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| search(schema, None, found, depth))?;
            }
            (_, value) => search(value, None, found, depth)?,
        }
    }
    Ok(())
}

/// The name of a header: a token (RFC 9110, section 5.6.2), on a property whose values fit on one line.
fn header_name(schema: &Map<String, Value>, header: &Value) -> Result<String, AnnotationError> {
    let Some(name) = header.as_str().filter(|name| !name.is_empty()) else {
        return Err(AnnotationError::Name(None));
    };
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)) {
        return Err(AnnotationError::Name(Some(name.to_owned())));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(name.to_owned()),
        _ => Err(AnnotationError::Type(name.to_owned())),
    }
}

impl ParameterHeaders {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers of a call with these arguments.
    pub(crate) fn of(&self, arguments: &Value) -> Vec<(String, String)> {
        let texts =
            self.0.iter().filter_map(|(path, header)| Some((header, argument_text(arguments, path)?)));
        texts.map(|(header, text)| (format!("Mcp-Param-{header}"), header_value(&text))).collect()
    }
}

/// The text of the argument at a path; `None` if it is missing, null, an array or an object.
fn argument_text(arguments: &Value, path: &[String]) -> Option<String> {
    match path.iter().try_fold(arguments, |value, name| value.get(name))? {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Bool(_) | Value::Number(_)) => Some(value.to_string()),
        _ => None,
    }
}

/// Encodes a value for a header: in Base64 if it has characters other than printable ASCII, or blanks at its ends.
pub(crate) fn header_value(value: &str) -> String {
    let printable = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if printable && value.trim() == value && !looks_encoded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

/// The headers that the protocol requires.
pub(super) fn protocol_headers(
    given: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    session: Option<&str>,
    raw: Option<&Arc<RawRequest>>,
) -> HeaderMap {
    let mut headers: HeaderMap = given.into_iter().collect();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if let Some(session) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
        headers.insert(SESSION, session);
    }
    // The library does not see the parameters of a raw request, so it omits the headers that repeat them.
    if let (Some(raw), true) = (raw, headers.contains_key(METHOD) && headers.contains_key(VERSION)) {
        let mut insert = |name: Result<HeaderName, _>, value: &str| {
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                headers.insert(name, value);
            }
        };
        if let Some(name) = raw.name() {
            insert(Ok(NAME), &header_value(name));
        }
        for (name, value) in raw.headers() {
            insert(HeaderName::try_from(name), value);
        }
    }
    headers
}

/// Whether a content type is `essence`, ignoring parameters and case (RFC 9110, section 8.3.1).
pub(super) fn is_type(content_type: &str, essence: &str) -> bool {
    let named = content_type.split(';').next().unwrap_or_default();
    named.trim().eq_ignore_ascii_case(essence)
}

pub(super) fn text_header(response: &Response, name: &HeaderName) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{header_value, parameter_headers};

    #[test]
    fn annotated_arguments_travel_in_headers() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "nested": { "type": "object", "properties": { "dry": { "type": "boolean", "x-mcp-header": "Dry" } } },
            "free": { "type": "string", "default": { "x-mcp-header": "a value, not an annotation" } },
        } });
        let headers = parameter_headers(&schema).unwrap();
        let mut sent = headers.of(&json!({ "region": "Ω", "nested": { "dry": true }, "free": "x" }));
        sent.sort();
        let expected = [("Mcp-Param-Dry", "true"), ("Mcp-Param-Region", "=?base64?zqk=?=")];
        assert_eq!(sent, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(headers.of(&json!({ "region": null })).is_empty());
    }

    #[test]
    fn annotations_that_break_the_rules_are_refused() {
        let property = |schema| json!({ "properties": { "a": schema } });
        for schema in [
            json!({ "x-mcp-header": "Root" }),
            property(json!({ "type": "string", "x-mcp-header": "" })),
            property(json!({ "type": "string", "x-mcp-header": "two words" })),
            property(json!({ "type": "string", "x-mcp-header": 7 })),
            property(json!({ "type": "number", "x-mcp-header": "Number" })),
            property(json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "Item" } })),
            json!({ "anyOf": [property(json!({ "type": "string", "x-mcp-header": "Choice" }))] }),
            json!({ "properties": {
                "a": { "type": "string", "x-mcp-header": "Same" }, "b": { "type": "string", "x-mcp-header": "SAME" },
            } }),
        ] {
            assert!(parameter_headers(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn values_that_headers_cannot_carry_are_encoded() {
        assert_eq!(header_value("plain value"), "plain value");
        assert_eq!(header_value(""), "");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
        assert_eq!(header_value("=?base64?IGE=?="), "=?base64?PT9iYXNlNjQ/SUdFPT89?=");
    }
}
