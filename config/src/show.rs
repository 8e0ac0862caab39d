//! What of a configuration holds, and where each part of it comes from, for people to look at.
//!
//! Secrets are masked, and variables stay as they are written.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::layers::Layers;
use super::source::{Document, masked};
use super::tree::{Node, Value};

/// What holds. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The layers, the weakest first.
    pub layers: Vec<ShownLayer>,
    /// The servers, by name.
    pub servers: Vec<ShownServer>,
    /// Everything else that is set, by names such as `codeMode.timeout`.
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
    /// The layer that says so.
    pub layer: &'static str,
    /// File, line and column.
    pub place: String,
}

/// What holds of these layers.
pub fn shown(layers: &Layers) -> Shown {
    let layer = |document: &Document| ShownLayer {
        layer: document.source.layer.name(),
        file: document.source.layer.file().map(|file| file.display().to_string()),
    };
    let servers = layers.entries().into_iter().map(|(document, entry)| {
        let is_disabled = entry.node.get("enabled").is_some_and(|node| node.text() == Some("false"));
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
    for document in &layers.documents {
        for (name, node) in settings(document) {
            let mut value = masked(&name, node);
            // What any layer denies is denied.
            if name == "globalSettings.deny"
                && let Some(ShownValue { value: Json::Array(weaker), .. }) = values.get(&name)
                && let Json::Array(stronger) = &mut value
            {
                stronger.splice(0..0, weaker.iter().cloned());
            }
            let (layer, place) = (document.source.layer.name(), document.source.at(node.place));
            values.insert(name, ShownValue { value, layer, place });
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
            name => flatten(name, node, &mut found),
        }
    }
    found
}

fn flatten<'a>(name: &str, node: &'a Node, found: &mut Vec<(String, &'a Node)>) {
    // What stands under `defaults` means the same.
    let name = name.strip_prefix("defaults.").filter(|rest| rest.starts_with("codeMode")).unwrap_or(name);
    let is_group = matches!(
        name,
        "globalSettings" | "cache" | "codeMode" | "codeMode.sandbox" | "defaults" | "subagent"
    );
    if !is_group || node.entries().is_empty() {
        found.push((name.to_owned(), node));
        return;
    }
    for (key, node) in node.entries() {
        flatten(&format!("{name}.{}", key.text), node, found);
    }
}
