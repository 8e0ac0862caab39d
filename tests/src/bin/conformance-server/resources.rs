//! The resources, their template and its completions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{content, state::ServerState};

/// The resource that clients subscribe to.
pub(crate) const WATCHED: &str = "test://watched-resource";
/// The number of calls cancelled so far.
pub(crate) const CANCELLED: &str = "test://cancelled-calls";

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const TEMPLATE: (&str, &str) = ("test://template/", "/data");

/// All resources.
pub(crate) fn list() -> Value {
    let resource = |uri: &str, name: &str, description: &str, kind: &str| json!({ "uri": uri, "name": name, "description": description, "mimeType": kind });
    let mut text = resource(TEXT, "static-text", "A text that never changes.", "text/plain");
    text["title"] = json!("Static text");
    text["annotations"] = json!({ "audience": ["user"], "priority": 0.5 });
    json!([
        text,
        resource(BINARY, "static-binary", "A picture that never changes.", "image/png"),
        resource(WATCHED, "watched-resource", "A text to subscribe to.", "text/plain"),
        resource(CANCELLED, "cancelled-calls", "How many calls were cancelled.", "text/plain"),
    ])
}

/// All templates.
pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "The data of an id.",
        "mimeType": "application/json",
    }])
}

/// The contents at a URI; `None` if there is no such resource.
pub(crate) fn read(uri: &str, world: &ServerState) -> Option<Value> {
    let plain = |text: String| json!({ "uri": uri, "mimeType": "text/plain", "text": text });
    match uri {
        TEXT => Some(plain("This is the content of the static text resource.".to_owned())),
        BINARY => Some(content::picture_at(uri)),
        WATCHED => Some(plain("This resource is watched.".to_owned())),
        CANCELLED => Some(plain(world.cancelled().to_string())),
        _ => {
            let id = uri.strip_prefix(TEMPLATE.0)?.strip_suffix(TEMPLATE.1)?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Some(json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() }))
        }
    }
}

/// Completions for an argument of a prompt or template.
pub(crate) fn completions(argument: &str, beginning: &str) -> Vec<String> {
    let known = BTreeMap::from([
        ("arg1", ["paris", "park", "party", "test one", "test two"].as_slice()),
        ("arg2", ["left", "right"].as_slice()),
        ("id", ["123", "124", "200"].as_slice()),
    ]);
    let values = known.get(argument).copied().unwrap_or_default();
    values.iter().filter(|value| value.starts_with(beginning)).map(|value| (*value).to_owned()).collect()
}
