//! What of a configuration holds, and where each part of it comes from, for people to look at.
//!
//! Secrets are masked, and variables stay as they are written.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::layers::Layers;
use super::schema;
use super::source::{Document, masked};
use super::tree::{Node, Value};

/// What holds. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The layers, the weakest first.
    pub layers: Vec<ShownLayer>,
    /// The servers, by name.
    pub servers: Vec<ShownServer>,
    /// Everything else, with the defaults of what is not set, by names such as `codeMode.timeout`.
    pub settings: BTreeMap<String, ShownValue>,
}

/// A layer.
#[derive(Debug, Serialize)]
pub struct ShownLayer {
    /// The layer that says so.
    pub layer: &'static str,
    /// Its file, where it is one.
    pub file: Option<String>,
}

/// A server, as the strongest layer has it.
#[derive(Debug, Serialize)]
pub struct ShownServer {
    /// Its name.
    pub name: String,
    /// The layer that says so.
    pub layer: &'static str,
    /// File and line.
    pub place: String,
    /// `enabled`, `disabled` or `broken`.
    pub state: &'static str,
    /// Its entry, with secrets masked.
    pub entry: Json,
    /// What is wrong with it.
    pub wrong: Option<String>,
}

/// A value and where it comes from.
#[derive(Debug, Serialize)]
pub struct ShownValue {
    /// The value in force.
    pub value: Json,
    /// `default` where no layer sets it.
    pub layer: &'static str,
    /// File and line, where a layer sets it.
    pub place: Option<String>,
}

/// What holds of these layers.
pub fn shown(layers: &Layers) -> Shown {
    let layer = |document: &Document| ShownLayer {
        layer: document.source.layer.name(),
        file: document.source.layer.file().map(|file| file.display().to_string()),
    };
    let servers = layers.entries().into_iter().map(|(document, entry)| {
        let is_disabled = entry.is_disabled();
        let wrong = if is_disabled { None } else { layers.wrong(document, entry) };
        ShownServer {
            name: entry.name.clone(),
            layer: document.source.layer.name(),
            place: document.source.at(entry.place),
            state: match &wrong {
                _ if is_disabled => "disabled",
                Some(_) => "broken",
                None => "enabled",
            },
            entry: masked(&entry.name, &entry.node),
            wrong,
        }
    });
    let mut values = BTreeMap::new();
    let schema = schema::schema();
    if let Some(keys) = schema["properties"].as_object() {
        defaults(&schema, keys, "", &mut values);
    }
    for document in &layers.documents {
        // A null is as nothing.
        let stated = settings(document).into_iter().filter(|(_, node)| !matches!(node.value, Value::Null(_)));
        for (name, node) in stated {
            let mut value = masked(&name, node);
            // What any layer denies is denied.
            if name == "globalSettings.deny"
                && let Some(ShownValue { value: Json::Array(weaker), .. }) = values.get(&name)
                && let Json::Array(stronger) = &mut value
            {
                stronger.splice(0..0, weaker.iter().cloned());
            }
            let (layer, place) = (document.source.layer.name(), document.source.at(node.place));
            values.insert(name, ShownValue { value, layer, place: Some(place) });
        }
    }
    Shown {
        layers: layers.documents.iter().map(layer).collect(),
        servers: servers.collect(),
        settings: values,
    }
}

/// What a document sets outside its servers, by name.
pub fn settings(document: &Document) -> Vec<(String, &Node)> {
    let schema = schema::schema();
    let mut found = Vec::new();
    for (key, node) in document.tree.entries() {
        match key.text.as_str() {
            "mcpServers" | "version" | "$schema" => {}
            "models" => {
                let Value::List(items) = &node.value else { continue };
                for item in items {
                    let name = item.get("ref").and_then(Node::text).unwrap_or("?");
                    found.push((format!("models.{name}"), item));
                }
            }
            name => set(&schema, &schema["properties"][name], name, node, &mut found),
        }
    }
    found
}

/// What is set of a key, and of those below it.
fn set<'a>(schema: &Json, key: &Json, name: &str, node: &'a Node, found: &mut Vec<(String, &'a Node)>) {
    match section(schema, key) {
        Some(keys) if !node.entries().is_empty() => {
            for (key, node) in node.entries() {
                let name = format!("{name}.{}", key.text);
                set(schema, keys.get(&key.text).unwrap_or(&Json::Null), &name, node, found);
            }
        }
        _ => found.push((usual(name).to_owned(), node)),
    }
}

/// What holds where no layer says anything, by name.
fn defaults(schema: &Json, keys: &Map<String, Json>, name: &str, found: &mut BTreeMap<String, ShownValue>) {
    for (key, of) in keys {
        let name = format!("{name}{key}");
        if let Some(keys) = section(schema, of) {
            defaults(schema, keys, &format!("{name}."), found);
        } else if let Some(value) = of.get("default") {
            let default = ShownValue { value: value.clone(), layer: "default", place: None };
            found.insert(usual(&name).to_owned(), default);
        }
    }
}

/// The keys of a section. What a stronger layer replaces as a whole, such as a subagent, is none.
fn section<'a>(schema: &'a Json, key: &Json) -> Option<&'a Map<String, Json>> {
    let form = key.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    schema["$defs"][form].get("properties")?.as_object()
}

/// The one name of what has several.
fn usual(name: &str) -> &str {
    let name = name.strip_prefix("defaults.").filter(|rest| rest.starts_with("codeMode")).unwrap_or(name);
    match name {
        "codeMode.timeout" => "codeMode.sandbox.wallClock",
        "codeMode.memory" => "codeMode.sandbox.memory",
        name => name,
    }
}
