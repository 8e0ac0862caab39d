//! The tools of the configured servers: remembered, or asked for.
//!
//! A list that was remembered is good enough to compile against; before a program runs, each server that it
//! can call is asked again (see [`crate::sessions`]), and a list that has changed replaces the old one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use runner::{Bucket, Cache};
use serde_json::Value;

use crate::config::{Config, Permission, Server};
use crate::terminal::Terminal;

/// The tool lists of servers, as the servers sent them, by server name.
#[derive(Debug, Default)]
pub(crate) struct ToolLists {
    lists: BTreeMap<String, Vec<Value>>,
}

/// The remembered list of a server; it is kept under everything that the server's identity depends on.
pub(crate) fn remembered(cache: &Cache, server: &Server) -> Option<Vec<Value>> {
    let text = cache.read(Bucket::Catalogs, &identity(server))?;
    serde_json::from_slice(&text).ok()
}

/// Remembers the list of a server.
pub(crate) fn remember(cache: &Cache, server: &Server, tools: &[Value]) -> std::io::Result<()> {
    cache.write(Bucket::Catalogs, &identity(server), &serde_json::to_vec(tools)?)
}

/// A hash of how the server is started, and of the program that is started: a rebuilt server is another one.
fn identity(server: &Server) -> String {
    let mcp::Transport::Stdio { command, args, env, cwd } = &server.connection.transport else {
        return "unknown".to_owned();
    };
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(server.connection.name.as_bytes());
    part(command.as_bytes());
    args.iter().for_each(|argument| part(argument.as_bytes()));
    for (name, value) in env {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    part(cwd.as_ref().map_or(&b""[..], |folder| folder.as_os_str().as_encoded_bytes()));
    part(&stamp(Path::new(command)).to_le_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Size and time of a program's file, where the command is a path.
fn stamp(program: &Path) -> u64 {
    let Ok(metadata) = fs_err::metadata(program) else { return 0 };
    let mut hasher = DefaultHasher::new();
    (metadata.len(), metadata.modified().ok()).hash(&mut hasher);
    hasher.finish()
}

impl ToolLists {
    /// Sets the list of a server.
    pub(crate) fn insert(&mut self, server: &str, tools: Vec<Value>) {
        self.lists.insert(server.to_owned(), tools);
    }

    /// Whether the list of a server is there.
    pub(crate) fn has(&self, server: &str) -> bool {
        self.lists.contains_key(server)
    }

    /// The bindings of all tools that the configuration admits; warnings about schemas are told once.
    pub(crate) fn generate(&self, cache: &Cache, config: &Config, terminal: &Terminal) -> runner::Catalog {
        let servers: Vec<codegen::Server> = config
            .servers
            .iter()
            .filter_map(|server| {
                let tools = self.lists.get(&server.connection.name)?;
                Some(codegen::Server {
                    name: server.connection.name.clone(),
                    tools: tools
                        .iter()
                        .filter_map(tool)
                        .filter(|tool| server.filter.admits(&tool.name))
                        .collect(),
                })
            })
            .collect();
        let denied = |name: &str, _tool: &str| {
            let server = config.servers.iter().find(|server| server.connection.name == name);
            server.is_none_or(|server| server.permission == Permission::Deny)
        };
        let catalog = runner::Catalog::generate(cache, &servers, denied);
        for module in catalog.modules().values() {
            for warning in &module.bindings.warnings {
                terminal.note(&format!(
                    "{}.{}: the schema at {:?} becomes serde_json::Value: {}",
                    module.server, warning.tool, warning.path, warning.reason
                ));
            }
        }
        catalog
    }
}

/// A tool from the JSON that the server sent.
fn tool(raw: &Value) -> Option<codegen::Tool> {
    Some(codegen::Tool {
        name: raw.get("name")?.as_str()?.to_owned(),
        description: raw.get("description").and_then(Value::as_str).map(str::to_owned),
        input_schema: raw.get("inputSchema").cloned().unwrap_or(Value::Bool(true)),
        output_schema: raw.get("outputSchema").cloned(),
    })
}
