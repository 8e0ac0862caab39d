//! Repairs the responses to `initialize` and `server/discover` member by member: only the protocol version is needed.
//!
//! Missing members and `null` are common and are replaced silently. For any other member that is not in MCP's form, a
//! sentence says what was replaced.

use serde_json::{Map, Value, json};

/// The member of `_meta` with the server's name and version (MCP 2026-07-28).
const SERVER_INFO_META: &str = "io.modelcontextprotocol/serverInfo";

/// The extension for tasks (SEP-2663), as it is named in capabilities.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The request that a server introduces itself in response to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Introduction {
    /// `initialize`.
    Initialize,
    /// `server/discover`.
    Discover,
}

/// Puts the members of a response into MCP's form; returns what was replaced.
pub(super) fn repair(members: &mut Map<String, Value>, introduction: Introduction) -> Vec<String> {
    let mut repair = Repair::default();
    let capabilities = members.remove("capabilities").unwrap_or_default();
    members.insert("capabilities".to_owned(), repair.capabilities(capabilities));
    if let Some(instructions) = members.remove("instructions").and_then(|given| repair.instructions(given)) {
        members.insert("instructions".to_owned(), Value::String(instructions));
    }
    match members.get_mut("_meta") {
        None | Some(Value::Object(_)) => {}
        Some(other) => {
            repair.note_unless_null(other, "`_meta` is not an object");
            members.remove("_meta");
        }
    }
    match introduction {
        Introduction::Initialize => {
            let info = members.remove("serverInfo").unwrap_or_default();
            members.insert("serverInfo".to_owned(), repair.server_info(info));
            if let Some(Value::String(version)) = members.get_mut("protocolVersion") {
                *version = version.trim().to_owned();
            }
        }
        Introduction::Discover => repair.discovery(members),
    }
    repair.changes
}

#[derive(Default)]
struct Repair {
    changes: Vec<String>,
}

impl Repair {
    fn capabilities(&mut self, given: Value) -> Value {
        let mut capabilities = Map::new();
        match given {
            Value::Object(members) => {
                for (name, value) in members {
                    if let Some(value) = self.capability(&name, value) {
                        capabilities.insert(name, value);
                    }
                }
            }
            Value::Array(names) => {
                self.note("`capabilities` is not an object");
                let names = names.into_iter().filter_map(|name| name.as_str().map(str::to_owned));
                capabilities.extend(names.map(|name| (name, json!({}))));
            }
            other => {
                self.note_unless_null(&other, "`capabilities` is not an object");
                let names =
                    other.as_str().unwrap_or_default().split([',', ' ']).filter(|name| !name.is_empty());
                capabilities.extend(names.map(|name| (name.to_owned(), json!({}))));
            }
        }
        // Tasks were part of the protocol in 2025-11-25 and are an extension since then; one place for both.
        if let Some(tasks @ Value::Object(_)) = capabilities.remove("tasks") {
            let extensions = capabilities.entry("extensions").or_insert_with(|| json!({}));
            if let Some(extensions) = extensions.as_object_mut() {
                extensions.entry(TASKS).or_insert(tasks);
            }
        }
        Value::Object(capabilities)
    }

    /// One capability; `None` if the server does not have it.
    fn capability(&mut self, name: &str, value: Value) -> Option<Value> {
        let is_map = matches!(name, "experimental" | "extensions");
        let is_known =
            is_map || matches!(name, "tools" | "resources" | "prompts" | "logging" | "completions");
        match value {
            _ if !is_known => Some(value),
            Value::Null | Value::Bool(false) => None,
            Value::Object(members) => {
                let entry = |(key, value)| Some((key, if is_map { setting(value)? } else { flag(value)? }));
                Some(Value::Object(members.into_iter().filter_map(entry).collect()))
            }
            _ => {
                self.note(&format!("`capabilities.{name}` is not an object"));
                (!is_map).then(|| json!({}))
            }
        }
    }

    fn instructions(&mut self, given: Value) -> Option<String> {
        match given {
            Value::String(text) => Some(text),
            Value::Array(lines) if lines.iter().all(Value::is_string) => {
                self.note("`instructions` is a list");
                Some(lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
            }
            other => {
                self.note_unless_null(&other, "`instructions` is not a text");
                None
            }
        }
    }

    fn server_info(&mut self, given: Value) -> Value {
        let mut info = Map::new();
        let given = match given {
            Value::Object(given) => given,
            other => {
                self.note_unless_null(&other, "`serverInfo` is not an object");
                let name = if other.is_string() { other } else { json!("") };
                Map::from_iter([("name".to_owned(), name)])
            }
        };
        for (name, value) in given {
            let value = match name.as_str() {
                "icons" => Some(icons(value)),
                "name" | "version" | "title" | "description" | "websiteUrl" => self.text(&name, value),
                _ => Some(value),
            };
            info.extend(value.map(|value| (name, value)));
        }
        for name in ["name", "version"] {
            info.entry(name).or_insert_with(|| json!(""));
        }
        Value::Object(info)
    }

    fn text(&mut self, name: &str, value: Value) -> Option<Value> {
        match value {
            Value::String(_) => Some(value),
            Value::Null => None,
            Value::Number(number) => Some(json!(number.to_string())),
            _ => {
                self.note(&format!("`serverInfo.{name}` is not a text"));
                None
            }
        }
    }

    /// The members that only a response to `server/discover` has. Without versions, it is none.
    fn discovery(&mut self, members: &mut Map<String, Value>) {
        if let Some(given) = members.get_mut("supportedVersions") {
            let versions = match given.take() {
                Value::Array(versions) => versions,
                version @ Value::String(_) => {
                    self.note("`supportedVersions` is not a list");
                    vec![version]
                }
                _ => Vec::new(),
            };
            *given = versions.into_iter().filter(Value::is_string).collect();
        }
        if !members.get("resultType").is_some_and(Value::is_string) {
            members.insert("resultType".to_owned(), json!("complete"));
        }
        if !members.get("ttlMs").is_some_and(Value::is_u64) {
            members.insert("ttlMs".to_owned(), json!(0));
        }
        if !matches!(members.get("cacheScope").and_then(Value::as_str), Some("public" | "private")) {
            members.insert("cacheScope".to_owned(), json!("private"));
        }
        let beside = members.remove("serverInfo");
        let given = members.get_mut("_meta").and_then(|meta| meta.get_mut(SERVER_INFO_META)).map(Value::take);
        if let Some(info) = given.or(beside) {
            let info = self.server_info(info);
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            meta[SERVER_INFO_META] = info;
        }
    }

    fn note_unless_null(&mut self, value: &Value, change: &str) {
        if !value.is_null() {
            self.note(change);
        }
    }

    fn note(&mut self, change: &str) {
        self.changes.push(change.to_owned());
    }
}

/// The settings of an extension or experimental capability; `None` if the server does not have it.
fn setting(value: Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Object(_) => Some(value),
        _ => Some(json!({})),
    }
}

/// A detail of a capability, such as `listChanged`; `None` if it says nothing.
fn flag(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(json!(text.eq_ignore_ascii_case("true"))),
        Value::Number(number) => Some(json!(number.as_f64() != Some(0.0))),
        Value::Array(_) => Some(json!(true)),
        other => Some(other),
    }
}

/// The icons that have an address.
fn icons(given: Value) -> Value {
    let list = match given {
        Value::Array(list) => list,
        one => vec![one],
    };
    list.into_iter().filter_map(icon).collect()
}

fn icon(given: Value) -> Option<Value> {
    let address = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let Value::Object(given) = given else { return address(&given).map(|src| json!({ "src": src })) };
    let src = ["src", "url", "uri", "href"].iter().find_map(|name| address(given.get(*name)?))?;
    let mut icon = json!({ "src": src });
    if let Some(media) = given.get("mimeType").filter(|media| media.is_string()) {
        icon["mimeType"] = media.clone();
    }
    let sizes: Vec<&Value> = match given.get("sizes") {
        Some(Value::Array(sizes)) => sizes.iter().filter(|size| size.is_string()).collect(),
        Some(size @ Value::String(_)) => vec![size],
        _ => Vec::new(),
    };
    if !sizes.is_empty() {
        icon["sizes"] = json!(sizes);
    }
    if let Some(theme @ ("light" | "dark")) = given.get("theme").and_then(Value::as_str) {
        icon["theme"] = json!(theme);
    }
    Some(icon)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{DiscoverResult, InitializeResult};

    use super::*;

    fn initialized(members: &Value) -> (InitializeResult, Vec<String>) {
        let mut members = members.as_object().unwrap().clone();
        members.insert("protocolVersion".to_owned(), json!("2025-11-25"));
        let changes = repair(&mut members, Introduction::Initialize);
        let text = json!(members);
        let result = serde_json::from_value(text.clone());
        (result.unwrap_or_else(|error| panic!("{error}: {text}")), changes)
    }

    #[test]
    fn capabilities_of_any_form_are_read() {
        for (given, expected, changes) in [
            (json!(null), json!({}), 0),
            (json!(["tools", "logging", 7]), json!({ "tools": {}, "logging": {} }), 1),
            (json!("tools, prompts"), json!({ "tools": {}, "prompts": {} }), 1),
            (json!(true), json!({}), 1),
            (json!({ "tools": true, "prompts": false, "resources": null }), json!({ "tools": {} }), 1),
            (json!({ "tools": [], "logging": "yes" }), json!({ "tools": {}, "logging": {} }), 2),
            (
                json!({ "tools": { "listChanged": "true" }, "resources": { "subscribe": 0, "listChanged": null } }),
                json!({ "tools": { "listChanged": true }, "resources": { "subscribe": false } }),
                0,
            ),
            (json!({ "experimental": { "a": true, "b": false } }), json!({ "experimental": { "a": {} } }), 0),
            (json!({ "experimental": [1], "tasks": 7 }), json!({}), 1),
        ] {
            let (result, noted) = initialized(&json!({ "capabilities": given }));
            assert_eq!(json!(result.capabilities), expected, "{given}");
            assert_eq!(noted.len(), changes, "{given}: {noted:?}");
        }
        let (result, noted) = initialized(&json!({}));
        assert_eq!((json!(result.capabilities), noted.len()), (json!({}), 0));
    }

    #[test]
    fn server_info_of_any_form_is_read() {
        let named = |name: &str, version: &str| json!({ "name": name, "version": version });
        for (given, expected, changes) in [
            (json!(null), named("", ""), 0),
            (json!("a"), named("a", ""), 1),
            (json!([]), named("", ""), 1),
            (json!({ "name": "a" }), named("a", ""), 0),
            (json!({ "name": "a", "version": null, "title": null }), named("a", ""), 0),
            (json!({ "name": null, "version": 1.5 }), named("", "1.5"), 0),
            (json!({ "name": "a", "version": ["1"], "title": {} }), named("a", ""), 2),
            (
                json!({ "name": "a", "version": "1", "websiteUrl": 7, "icons": [
                    { "url": "https://e.example/i.png", "sizes": "any", "theme": "blue" }, "data:,", {}, null,
                ] }),
                json!({ "name": "a", "version": "1", "websiteUrl": "7", "icons": [
                    { "src": "https://e.example/i.png", "sizes": ["any"] }, { "src": "data:," },
                ] }),
                0,
            ),
            (
                json!({ "name": "a", "icons": { "src": "x", "mimeType": null } }),
                json!({ "name": "a", "version": "", "icons": [{ "src": "x" }] }),
                0,
            ),
        ] {
            let (result, noted) = initialized(&json!({ "serverInfo": given }));
            assert_eq!(json!(result.server_info), expected, "{given}");
            assert_eq!(noted.len(), changes, "{given}: {noted:?}");
        }
    }

    #[test]
    fn instructions_are_texts_or_left_out() {
        for (given, expected, changes) in [
            (json!(null), None, 0),
            (json!(["One.", "Two."]), Some("One.\nTwo."), 1),
            (json!({ "text": "a" }), None, 1),
            (json!(7), None, 1),
        ] {
            let (result, noted) = initialized(&json!({ "instructions": given, "_meta": null }));
            assert_eq!((result.instructions.as_deref(), noted.len()), (expected, changes), "{given}");
        }
        assert_eq!(initialized(&json!({ "_meta": [] })).1, ["`_meta` is not an object"]);
    }

    #[test]
    fn a_discovery_needs_only_versions() {
        let discovered = |members: Value| {
            let Value::Object(mut members) = members else { panic!("{members}") };
            let changes = repair(&mut members, Introduction::Discover);
            (serde_json::from_value::<DiscoverResult>(json!(members)).ok(), changes)
        };
        let (result, changes) = discovered(json!({ "supportedVersions": ["2026-07-28", null] }));
        assert_eq!((result.unwrap().supported_versions.len(), changes.len()), (1, 0));
        let odd = json!({
            "supportedVersions": "2026-07-28", "capabilities": ["tools"], "resultType": null, "ttlMs": -1,
            "cacheScope": "mine", "instructions": null, "serverInfo": { "name": "a", "icons": [{ "url": "x" }] },
        });
        let (result, changes) = discovered(odd);
        let result = result.unwrap();
        assert!(result.capabilities.tools.is_some());
        assert_eq!(result.server_info().unwrap().name, "a");
        assert_eq!(changes, ["`capabilities` is not an object", "`supportedVersions` is not a list"]);
        assert!(discovered(json!({ "protocolVersion": "2025-11-25", "capabilities": {} })).0.is_none());
    }
}
