//! Reads one layer of a configuration: its text, its tree, and its servers' entries.
//!
//! `validation` checks the values; `layers` decides which layer wins.

use std::path::{Path, PathBuf};

use super::decode::Problem;
use super::tree::{self, Key, Node, Place, Value};
use super::{ConfigLayer, Error, syntax};

pub(crate) use super::origin::Source;

/// A layer as read.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) source: Source,
    /// The whole document.
    pub tree: Node,
    /// The entries of servers, in the order of the file.
    pub entries: Vec<Entry>,
}

/// The entry of a server.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name of the server.
    pub name: String,
    pub(crate) place: Place,
    /// Its contents.
    pub node: Node,
}

/// The variable with a list of servers.
pub(crate) const SERVERS_VARIABLE: &str = "TOOLSMITH_MCP_SERVERS";

/// Reads the text of a layer.
pub fn read(layer: &ConfigLayer, text: &str) -> Result<Document, Error> {
    // Before places are counted.
    let text = strict_json::without_mark(text);
    let path = layer.file();
    let name = path.map_or_else(|| SERVERS_VARIABLE.to_owned(), |path| path.display().to_string());
    let folder = folder(path).map_err(|error| {
        Error::new(format!("the folder of the configuration {name} can't be determined: {error}"))
            .caused_by(error)
    })?;
    let tree = parse(path, &name, text)?;
    let masked_text = masked_text(&tree, text);
    let source = Source { layer: layer.clone(), name, text: masked_text, folder };
    let tree = if path.is_none() { listed(tree, &source)? } else { tree };
    let entries = tree.get("mcpServers").map_or(&[][..], Node::entries).iter().map(Entry::new).collect();
    Ok(Document { source, tree, entries })
}

fn folder(path: Option<&Path>) -> std::io::Result<PathBuf> {
    match path {
        Some(path) => {
            Ok(std::path::absolute(path)?.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned))
        }
        None => std::env::current_dir(),
    }
}

fn parse(path: Option<&Path>, name: &str, text: &str) -> Result<Node, Error> {
    let is_json = path.and_then(Path::extension).is_some_and(|end| end == "json" || end == "jsonc");
    if is_json {
        return tree::json(text).map_err(|(place, message)| {
            let place = syntax::place(name, &syntax::keys_only(text), place);
            Error::of(vec![report::Problem::at(place, message)])
        });
    }
    // The lines of a variable are not shown: before parsing it is unknown which parts are secret.
    let shown = if path.is_some() { text } else { "" };
    let tree = tree::yaml(text)
        .map_err(|error| Error::of(vec![syntax::explain(&error, name, shown)]).caused_by(error))?;
    match tree.value {
        Value::Null(_) | Value::Map(_) | Value::List(_) => Ok(tree),
        _ => {
            let place = report::Place { file: name.to_owned(), line: 1, column: Some(1), excerpt: None };
            let message = "expected a mapping; write `mcpServers:` and the servers below it";
            Err(Error::of(vec![report::Problem::at(place, message)]))
        }
    }
}

/// The variable's servers as a configuration: from a list of objects with names, or an object of entries by name.
fn listed(tree: Node, source: &Source) -> Result<Node, Error> {
    let wrong = |place, message: &str| {
        Err(Error::of(vec![source.located(&Problem { place, message: message.to_owned() })]))
    };
    let (place, bytes) = (tree.place, tree.bytes);
    let servers = match tree.value {
        Value::Map(entries) => entries,
        Value::List(items) => {
            let mut servers: Vec<(Key, Node)> = Vec::new();
            for mut item in items {
                let Value::Map(entries) = &mut item.value else {
                    return wrong(item.place, "expected an object with a server's `name`");
                };
                let name =
                    entries.iter().position(|(key, _)| key.text == "name").map(|at| entries.remove(at).1);
                let Some((text, named)) = name.as_ref().and_then(|name| Some((name.text()?, name.place)))
                else {
                    return wrong(item.place, "the server has no name; write \"name\": \"…\"");
                };
                if servers.iter().any(|(key, _)| key.text == text) {
                    return wrong(named, "another server in the list has this name; keep one of them");
                }
                servers.push((Key { place: named, text: text.to_owned() }, item));
            }
            servers
        }
        _ => {
            return wrong(place, "expected a list of servers; write [{ \"name\": …, \"command\": … }]");
        }
    };
    // These IDs only need to differ from those of the nodes below.
    let node = |id, value| Node { id, place, bytes, value };
    let key = Key { place, text: "mcpServers".to_owned() };
    let servers = node(u32::MAX, Value::Map(servers));
    Ok(node(u32::MAX - 1, Value::Map(vec![(key, servers)])))
}

impl Entry {
    fn new((key, node): &(Key, Node)) -> Self {
        Entry { name: key.text.clone(), place: key.place, node: node.clone() }
    }

    /// Whether the server is disabled.
    pub(crate) fn is_disabled(&self) -> bool {
        self.node.get("enabled").is_some_and(|enabled| matches!(enabled.value, Value::Bool(false, _)))
    }

    /// Whether the entry only disables a server.
    pub(super) fn only_disables(&self) -> bool {
        self.node.entries().len() == 1 && self.is_disabled()
    }
}

/// Whether the values below the key are secrets. Includes unknown keys that users may mistake for real ones.
fn is_secret(key: &str) -> bool {
    let key = key.replace(['_', '-'], "").to_lowercase();
    matches!(
        key.as_str(),
        "env"
            | "environment"
            | "header"
            | "headers"
            | "clientsecret"
            | "privatekey"
            | "secret"
            | "token"
            | "accesstoken"
            | "apikey"
            | "authorization"
            | "password"
    )
}

/// Whether a text is a single variable, which may be shown. A default may be a secret.
fn is_variable(text: &str) -> bool {
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|name| !name.contains(['{', '}', '$']) && !name.contains(":-"))
}

/// Whether a text is an address with a user name, and so perhaps a password.
fn has_user(text: &str) -> bool {
    let behind = text.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    behind.is_some_and(|authority| authority.contains('@'))
}

/// An address without its query, which may contain a key; `None` if the text is no address with a query.
fn without_query(text: &str) -> Option<&str> {
    let (address, _) = text.split_once('?')?;
    address.contains("://").then_some(address)
}

/// Whether a scalar may not be shown.
fn hides(secret: bool, node: &Node) -> bool {
    let text = node.text().unwrap_or_default();
    (secret && !is_variable(text)) || has_user(text) || without_query(text).is_some()
}

/// A value of the tree with secrets masked.
pub fn masked(key: &str, node: &Node) -> serde_json::Value {
    masked_below(is_secret(key), node)
}

fn masked_below(secret: bool, node: &Node) -> serde_json::Value {
    use serde_json::Value as Json;
    match &node.value {
        Value::Map(entries) => {
            let entry = |(key, node): &(Key, Node)| {
                (key.text.clone(), masked_below(secret || is_secret(&key.text), node))
            };
            Json::Object(entries.iter().map(entry).collect())
        }
        Value::List(items) => items.iter().map(|item| masked_below(secret, item)).collect(),
        _ if hides(secret, node) => {
            let shown = node.text().filter(|text| !secret && !has_user(text)).and_then(without_query);
            Json::from(shown.map_or_else(|| "…".to_owned(), |address| format!("{address}?…")))
        }
        _ => node.to_json(),
    }
}

/// The text with each character of a secret replaced by one `*`.
fn masked_text(tree: &Node, text: &str) -> String {
    let mut ranges = Vec::new();
    secrets(false, tree, &mut ranges);
    if ranges.is_empty() {
        return text.to_owned();
    }
    let covers = |index: usize| ranges.iter().any(|(from, to)| (*from..*to).contains(&index));
    text.char_indices().map(|(index, c)| if c != '\n' && covers(index) { '*' } else { c }).collect()
}

fn secrets(secret: bool, node: &Node, ranges: &mut Vec<(usize, usize)>) {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().for_each(|(key, node)| secrets(secret || is_secret(&key.text), node, ranges));
        }
        Value::List(items) => items.iter().for_each(|item| secrets(secret, item, ranges)),
        _ if hides(secret, node) => ranges.push(node.bytes),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::{self, Merged};
    use super::{ConfigLayer, Document, read};
    use std::path::PathBuf;

    /// The first error of the first entry.
    fn first_problem(document: &Document) -> String {
        let checked = server::server(&document.source, &document.entries[0], &Merged::default(), |_| {
            Some(String::new())
        });
        report::problems(&[document.source.located(&checked.unwrap_err()[0])])
    }

    #[test]
    fn addresses_are_shown_without_user_and_query() {
        let text = "mcpServers:\n  a: { url: \"https://h/mcp?key=k3y\", timeout: 5 }\n  b: { url: \"https://u:p4ss@h/\" }\n  \
                    c: { url: \"https://h/mcp\" }\n";
        let document = read(&ConfigLayer::Named(PathBuf::from("/a.yaml")), text).unwrap();
        let shown: Vec<_> =
            document.entries.iter().map(|entry| super::masked("", &entry.node)["url"].clone()).collect();
        assert_eq!(shown, ["https://h/mcp?…", "…", "https://h/mcp"]);
        assert!(!document.source.text.contains("k3y") && !document.source.text.contains("p4ss"));
    }

    #[test]
    fn secrets_in_quoted_lines_are_masked() {
        let text = "mcpServers:\n  a: { command: x, env: { A: s3cr3t, B: \"${B}\" }, timeout: soon }\n";
        let document = read(&ConfigLayer::Named(PathBuf::from("/a.yaml")), text).unwrap();
        let problem = first_problem(&document);
        assert!(!problem.contains("s3cr3t") && problem.contains("******, B: \"${B}\""), "{problem}");
        assert!(problem.starts_with("/a.yaml:2:60: expected a number"), "{problem}");
        let misspelt = "mcpServers:\n  a: { command: x, Env: { A: s3cr3t }, api_key: s3cr3t }\n";
        let misspelt = read(&ConfigLayer::Named(PathBuf::from("/a.yaml")), misspelt).unwrap();
        let shown = super::masked("a", &misspelt.entries[0].node).to_string();
        let problem = first_problem(&misspelt);
        assert!(!shown.contains("s3cr3t") && !problem.contains("s3cr3t"), "{shown} {problem}");
        let shown = super::masked("a", &document.entries[0].node).to_string();
        assert!(!shown.contains("s3cr3t") && shown.contains("${B}"), "{shown}");
    }
}
