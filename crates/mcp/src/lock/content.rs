//! The content of a lock: servers, their tools, and observations.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The tools of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    /// The servers by their names in the configuration.
    pub servers: BTreeMap<String, LockedServer>,
}

/// The tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LockedServer {
    /// Whether these are all tools that the server may have, as accepted by the user: a tool that differs or is not
    /// listed is withheld. Otherwise these are only the tools with observations. Files written before this member
    /// existed pin nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// The tools by name.
    pub tools: BTreeMap<String, LockedTool>,
}

/// A tool as last seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LockedTool {
    /// `blake3:` and 64 hexadecimal digits: the hash of the tool as JSON with sorted keys and without spaces.
    pub hash: String,
    /// The tool as its server sent it.
    pub tool: Value,
    /// The observations of its results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// Observations of the results of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observed {
    /// Their shape.
    #[serde(flatten)]
    pub shape: Shape,
    /// The types of content blocks that results have besides what the shape describes, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<String>,
    /// The number of results observed.
    pub samples: u64,
}

/// The shape of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// A JSON Schema that all results match.
    OutputSchema(Value),
    /// The results are not JSON: the beginning of the first one, without secrets.
    Text(String),
}

impl Lock {
    /// Sets the tools of a server and pins them. Observations are kept as in [`Lock::set`].
    pub fn pin(&mut self, server: &str, tools: Vec<Value>) {
        self.set(server, tools);
        if let Some(locked) = self.servers.get_mut(server) {
            locked.pinned = true;
        }
    }

    /// Sets the tools of a server without pinning them. Observations of a tool are kept unless it declares another output
    /// schema.
    pub fn set(&mut self, server: &str, tools: Vec<Value>) {
        let mut fresh = LockedServer::new(tools);
        if let Some(known) = self.servers.remove(server) {
            for (name, locked) in known.tools {
                let is_same = |tool: &&mut LockedTool| {
                    let now = tool.tool.get("outputSchema");
                    now.is_none() || now == locked.tool.get("outputSchema")
                };
                if let Some(tool) = fresh.tools.get_mut(&name).filter(is_same) {
                    tool.observed = locked.observed;
                }
            }
        }
        self.servers.insert(server.to_owned(), fresh);
    }
}

impl FromIterator<(String, LockedServer)> for Lock {
    fn from_iter<T: IntoIterator<Item = (String, LockedServer)>>(servers: T) -> Self {
        Lock { servers: servers.into_iter().collect() }
    }
}

impl LockedServer {
    /// Creates the entry from tools as a server sent them; tools without a name are left out.
    #[must_use]
    pub fn new(tools: Vec<Value>) -> Self {
        let named = |tool: Value| Some((tool.get("name")?.as_str()?.to_owned(), LockedTool::new(tool)));
        LockedServer { pinned: false, tools: tools.into_iter().filter_map(named).collect() }
    }
}

impl LockedTool {
    /// Creates the entry of a tool as its server sent it.
    #[must_use]
    pub fn new(mut tool: Value) -> Self {
        sort(&mut tool);
        LockedTool { hash: hash(&tool), tool, observed: None }
    }

    /// Whether a tool that the server sends now is unchanged.
    #[must_use]
    pub fn is(&self, tool: &Value) -> bool {
        self.hash == hash(tool)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Sorts the keys of all objects, so that the same tools give the same bytes; but not those of `properties`: arguments are
/// in the order in which a schema declares them.
pub(super) fn sort(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.sort_keys();
            for (key, member) in members {
                match (key.as_str(), member) {
                    ("properties", Value::Object(properties)) => properties.values_mut().for_each(sort),
                    (_, member) => sort(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// The hash of a tool.
fn hash(tool: &Value) -> String {
    let mut canonical = tool.clone();
    canonical.sort_all_objects();
    format!("blake3:{}", blake3::hash(canonical.to_string().as_bytes()).to_hex())
}
