//! The effective configuration and the source of each value, for display.
//!
//! Secrets are masked, and variables are not expanded.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::layers::Layers;
use super::schema;
use super::source::{Document, masked};
use super::tree::{Node, Value};

/// The effective configuration. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The layers, weakest first.
    pub layers: Vec<ShownLayer>,
    /// The servers, by name.
    pub servers: Vec<ShownServer>,
    /// All other settings including defaults, by names such as `codeMode.timeout`.
    pub settings: BTreeMap<String, ShownValue>,
}

/// A layer.
#[derive(Debug, Serialize)]
pub struct ShownLayer {
    /// The layer's name.
    pub layer: &'static str,
    /// Its file, if it has one.
    pub file: Option<String>,
}

/// A server, as the strongest layer has it.
#[derive(Debug, Serialize)]
pub struct ShownServer {
    /// Its name.
    pub name: String,
    /// The layer that contains the entry.
    pub layer: &'static str,
    /// File and line.
    pub place: String,
    /// `enabled`, `disabled` or `broken`.
    pub state: &'static str,
    /// Its entry, with secrets masked.
    pub entry: Json,
    /// The error in its entry.
    pub wrong: Option<String>,
}

/// A value and its source.
#[derive(Debug, Serialize)]
pub struct ShownValue {
    /// The value in force.
    pub value: Json,
    /// The layer that sets it; `default` if none does.
    pub layer: &'static str,
    /// File and line, if a layer sets it.
    pub place: Option<String>,
}

/// The effective configuration of these layers.
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
            wrong: wrong.as_deref().map(report::problems),
        }
    });
    let mut values = BTreeMap::new();
    let schema = schema::schema();
    if let Some(keys) = schema["properties"].as_object() {
        defaults(&schema, keys, "", &mut values);
    }
    for document in &layers.documents {
        // A null means not set.
        let stated = settings(document).into_iter().filter(|(_, node)| !matches!(node.value, Value::Null(_)));
        for (name, node) in stated {
            let mut value = masked(&name, node);
            // `deny` accumulates over the layers.
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

/// The settings of a document outside its servers, by name.
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

/// Collects what is set for a key and the keys below it.
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

/// The defaults, by name.
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

/// The keys of a section. Values that a stronger layer replaces as a whole, such as a subagent, are not sections.
fn section<'a>(schema: &'a Json, key: &Json) -> Option<&'a Map<String, Json>> {
    let form = key.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    schema["$defs"][form].get("properties")?.as_object()
}

/// The canonical name of a setting with aliases.
fn usual(name: &str) -> &str {
    let name = name.strip_prefix("defaults.").filter(|rest| rest.starts_with("codeMode")).unwrap_or(name);
    match name {
        "codeMode.timeout" => "codeMode.sandbox.wallClock",
        "codeMode.memory" => "codeMode.sandbox.memory",
        name => name,
    }
}
