//! The tools of the configured servers: remembered, or asked for.
//!
//! A list that was remembered is good enough to compile against; before a program runs, each server that it
//! can call is asked again (see [`crate::sessions`]), and a list that has changed replaces the old one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use runner::{Bucket, Cache};

use crate::config::{Config, Filter, Permission, Server};
use crate::observed::Observed;
use crate::terminal::Terminal;
use crate::tool_list::{ToolList, digest};

/// The tool lists of servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolLists {
    lists: BTreeMap<String, Entry>,
    observed: Observed,
}

#[derive(Debug, Clone)]
struct Entry {
    tools: Arc<ToolList>,
    /// Bindings in place of those that would be generated.
    source: Option<String>,
}

/// The remembered list of a server; it is kept under everything that the server's identity depends on.
pub(crate) fn remembered(cache: &Cache, server: &Server) -> Option<ToolList> {
    ToolList::from_record(&cache.read(Bucket::Catalogs, &identity(server))?)
}

/// Remembers the list of a server.
pub(crate) fn remember(cache: &Cache, server: &Server, tools: &ToolList) -> std::io::Result<()> {
    cache.write(Bucket::Catalogs, &identity(server), &tools.record())
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
    /// No list yet; `observed` outputs are taken for those that tools don't declare.
    pub(crate) fn new(observed: Observed) -> Self {
        ToolLists { lists: BTreeMap::new(), observed }
    }

    /// Sets the list of a server.
    pub(crate) fn insert(&mut self, server: &str, tools: Arc<ToolList>) {
        self.lists.insert(server.to_owned(), Entry { tools, source: None });
    }

    /// Sets the list of a server, and bindings that were written for it.
    pub(crate) fn insert_with_source(&mut self, server: &str, tools: Arc<ToolList>, source: String) {
        self.lists.insert(server.to_owned(), Entry { tools, source: Some(source) });
    }

    /// Whether the list of a server is there.
    pub(crate) fn has(&self, server: &str) -> bool {
        self.lists.contains_key(server)
    }

    /// The bindings of all tools that the configuration admits; warnings about schemas are told once.
    pub(crate) fn generate(&self, cache: &Cache, config: &Config, terminal: &Terminal) -> runner::Catalog {
        let servers = self.lists.iter().map(|(name, entry)| self.server_tools(name, entry, config));
        let denied = |name: &str, _tool: &str| {
            config.server(name).is_some_and(|server| server.permission == Permission::Deny)
        };
        let style = &config.code_mode.style;
        let catalog = runner::Catalog::generate(cache, servers.collect(), style, denied);
        for module in catalog.modules().values() {
            for warning in module.warnings() {
                terminal.note(&format!(
                    "{}.{}: the schema at {:?} becomes serde_json::Value: {}",
                    module.server, warning.tool, warning.path, warning.reason
                ));
            }
        }
        catalog
    }

    fn server_tools<'a>(
        &'a self,
        name: &'a str,
        entry: &'a Entry,
        config: &'a Config,
    ) -> runner::ServerTools<'a> {
        let filter = config.server(name).map_or(&Filter::All, |server| &server.filter);
        let key = format!("{} {} {filter:?}", entry.tools.digest(), self.observed.digest(name));
        let tools = move || self.admitted(name, &entry.tools, filter);
        let source = entry.source.clone();
        runner::ServerTools { name, digest: digest(key.as_bytes()), tools: Box::new(tools), source }
    }

    fn admitted(&self, name: &str, list: &ToolList, filter: &Filter) -> Vec<codegen::Tool> {
        let tools = list.tools().iter().filter_map(|raw| self.observed.tool(name, raw));
        tools.filter(|tool| filter.admits(&tool.name)).collect()
    }

    /// All servers with their admitted tools.
    pub(crate) fn servers(&self, config: &Config) -> Vec<codegen::Server> {
        let server = |(name, entry): (&String, &Entry)| {
            let filter = config.server(name).map_or(&Filter::All, |server| &server.filter);
            codegen::Server { name: name.clone(), tools: self.admitted(name, &entry.tools, filter) }
        };
        self.lists.iter().map(server).collect()
    }

    /// The list of a server as it was sent.
    pub(crate) fn list(&self, server: &str) -> Option<&Arc<ToolList>> {
        self.lists.get(server).map(|entry| &entry.tools)
    }
}
