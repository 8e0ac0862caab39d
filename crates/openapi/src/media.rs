//! Media types (RFC 9110, section 8.3.1): which are JSON, forms and texts, and which one to send.

use serde_json::Value;

/// The type and subtype, without parameters.
fn essence(name: &str) -> String {
    name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON. A range such as `*/*` includes it.
pub(crate) fn is_json(name: &str) -> bool {
    // A stream of JSON values is not one.
    if name.contains("stream=") {
        return false;
    }
    let name = essence(name);
    matches!(name.as_str(), "application/json" | "text/json" | "*/*" | "application/*")
        || name.ends_with("+json")
}

pub(crate) fn is_urlencoded(name: &str) -> bool {
    essence(name) == "application/x-www-form-urlencoded"
}

pub(crate) fn is_multipart(name: &str) -> bool {
    essence(name) == "multipart/form-data"
}

/// Whether a body of this type is a form.
pub(crate) fn is_form(name: &str) -> bool {
    is_urlencoded(name) || is_multipart(name)
}

/// Whether a body of this type is text.
pub(crate) fn is_text(name: &str) -> bool {
    let name = essence(name);
    let suffixes = ["+xml", "+yaml", "+json"];
    let texts = [
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/javascript",
        "application/graphql",
    ];
    name.starts_with("text/")
        || texts.contains(&name.as_str())
        || suffixes.iter().any(|suffix| name.ends_with(suffix))
}

/// The first media type of a `content` and its object.
pub(crate) fn first(content: &Value) -> (&str, &Value) {
    let first = content.as_object().and_then(|content| content.iter().next());
    first.map_or(("", &Value::Null), |(name, media)| (name.as_str(), media))
}

/// The media type of a request: JSON, then forms, then what the document names first.
pub(crate) fn preferred(content: &Value) -> Option<(&str, &Value)> {
    let content = content.as_object()?;
    let find = |fits: &dyn Fn(&str) -> bool| content.iter().find(|(name, _)| fits(name));
    let chosen = find(&is_json).or_else(|| find(&is_urlencoded)).or_else(|| find(&is_multipart));
    let (name, media) = chosen.or_else(|| content.iter().next())?;
    Some((if name.starts_with("*/") { "application/json" } else { name }, media))
}
