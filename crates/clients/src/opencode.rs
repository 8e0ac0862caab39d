//! The properties of opencode, whose second version has its servers one level deeper.

use serde_json::{Map, Value as Json, json};

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, Form, JSON, Key, Profile, SecondForm, Value, milliseconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["opencode"],
    is_versioned: true,
    client_info: "opencode",
    files: &[
        Location::new(Base::Config, "opencode", "opencode.json"),
        Location::new(Base::Config, "opencode", "opencode.jsonc"),
    ],
    project: &["opencode.json", "opencode.jsonc"],
    section: &["mcp"],
    form: Form { command: "command", args: None, env: "environment" },
    kind: Some("local"),
    keys: &[
        milliseconds("timeout", "calls, and so their snippets, end after a minute"),
        Key {
            since: Some([1, 18, 0]),
            ..Key::new("codemode", Value::Bool(false), "its own code mode shortens the description")
        },
    ],
    calls: Calls {
        default: "calls without asking, unless its `permission` says otherwise",
        are_allowed: true,
        ..ASKS
    },
    dialect: Dialect::Opencode,
    second_form: Some(SecondForm { section: &["mcp", "servers"], is_used, convert }),
    ..JSON
};

/// Whether a file has the form of the second version.
fn is_used(content: &Map<String, Json>) -> bool {
    let servers = content.get("mcp").and_then(|mcp| mcp.get("servers"));
    servers.is_some_and(|servers| servers.is_object() && servers.get("type").is_none_or(Json::is_object))
}

/// Converts an entry to the form of the second version.
fn convert(entry: &mut Map<String, Json>) {
    if let Some(timeout) = entry.get_mut("timeout") {
        *timeout = json!({ "request": timeout });
        entry.insert("codemode".to_owned(), json!(false));
    }
}
