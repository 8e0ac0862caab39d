//! Reads the tools for `toolsmith codegen` from the configured servers, a lock file, or a saved list.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use codegen::{Server, Style, Tool};
use execution::setup;
use gateway::cache;
use gateway::discovery::Discovery;
use gateway::failure::Failure;
use gateway::observed::ObservedOutputs;
use gateway::pins::Locks;
use gateway::reference::DESCRIPTION_TOKENS;
use gateway::terminal_host::TerminalHost;
use gateway::tool_list::for_snippets;
use mcp::{Listing, Lock, LockedServer};
use report::Kind;
use serde_json::Value;
use terminal::Terminal;

use crate::arguments::CodegenArguments;

/// Servers with their tools.
pub(super) struct Found {
    pub(super) servers: Vec<Server>,
    /// The same tools as the servers sent them, with their observations.
    pub(super) lock: Lock,
    /// The module of every server, including those left out: module names depend on all servers.
    pub(super) modules: BTreeMap<String, String>,
    /// The style of signatures, unless the command line overrides it.
    pub(super) style: Style,
    /// Size of the description of `execute_code`, in tokens.
    pub(super) description_tokens: usize,
}

/// Reads the tools that the arguments select.
pub(super) async fn tools(arguments: &CodegenArguments, terminal: &Terminal) -> Result<Found, Failure> {
    let mut found = match (&arguments.tools, &arguments.lock) {
        (Some(file), _) => saved(file, arguments, terminal)?,
        (None, Some(file)) => locked(file)?,
        (None, None) => configured(arguments, terminal).await?,
    };
    select(&mut found, &arguments.servers)?;
    Ok(found)
}

/// A saved `tools/list`.
fn saved(file: &Path, arguments: &CodegenArguments, terminal: &Terminal) -> Result<Found, Failure> {
    let [name] = arguments.servers.as_slice() else {
        let message = "a saved list has the tools of one server: name it with exactly one --server NAME";
        return Err(Failure::command_line(message));
    };
    let listing = listing(&read(file)?, file)?;
    listing.warnings.iter().for_each(|warning| terminal.note(warning));
    let tools = listing.tools.iter().map(mcp::Tool::definition).collect();
    let lock = Lock::from_iter([(name.clone(), LockedServer::new(tools))]);
    Ok(from_lock(lock))
}

/// Parses a saved `tools/list` result that was read from `file`.
fn listing(text: &str, file: &Path) -> Result<Listing, Failure> {
    Listing::from_saved(text).map_err(|error| {
        let shown = file.display();
        Failure::command_line(format!("{shown} has no tools: {error}"))
            .hint("save a server's `tools/list` result, such as { \"tools\": [ … ] }")
    })
}

/// Reads the tools of a saved `tools/list` result, converted for the code generator.
pub(super) fn tools_in(text: &str, file: &Path) -> Result<Vec<Tool>, Failure> {
    let listing = listing(text, file)?;
    Ok(listing.tools.iter().filter_map(|tool| for_snippets(&tool.definition())).collect())
}

fn locked(file: &Path) -> Result<Found, Failure> {
    let lock = Lock::read(file)?;
    let missing = || Failure::new(Kind::Lock, format!("there is no lock file {}", file.display()));
    Ok(from_lock(lock.ok_or_else(missing)?))
}

/// The tools of a lock.
pub(super) fn from_lock(lock: Lock) -> Found {
    let modules = codegen::module_names(lock.servers.keys().map(String::as_str));
    Found {
        servers: servers(&lock),
        modules,
        lock,
        style: Style::default(),
        description_tokens: DESCRIPTION_TOKENS,
    }
}

/// The tools of a lock, converted for the code generator.
pub(super) fn servers(lock: &Lock) -> Vec<Server> {
    let observed = ObservedOutputs::of(lock);
    let server = |(name, server): (&String, &LockedServer)| Server {
        name: name.clone(),
        tools: server.tools.values().filter_map(|tool| observed.tool(name, &tool.tool)).collect(),
    };
    lock.servers.iter().map(server).collect()
}

/// Reads the tools of the configured servers, from the cache if possible.
async fn configured(arguments: &CodegenArguments, terminal: &Terminal) -> Result<Found, Failure> {
    let mut config = setup::configure(&arguments.place.options())?;
    let names = || config.servers.iter().map(|server| server.connection.name.as_str());
    let modules = codegen::module_names(names());
    if let Some(unknown) = arguments.servers.iter().find(|name| config.server(name).is_none()) {
        return Err(unknown_server(unknown, names()));
    }
    if !arguments.servers.is_empty() {
        Arc::make_mut(&mut config)
            .servers
            .retain(|server| arguments.servers.contains(&server.connection.name));
    }
    let locks = Locks::of(&config)?;
    let cache = cache::open(&config.cache)?;
    let mut discovery = Discovery::new(&config, TerminalHost::at(terminal), cache, locks.known(&config));
    let discovered = discovery.discover().await;
    let servers = discovery.lists().servers(&config);
    let lists: BTreeMap<String, Vec<Value>> = servers
        .iter()
        .filter_map(|server| {
            let list = discovery.lists().list(&server.name)?;
            let admitted = |raw: &Value| server.tools.iter().any(|tool| raw["name"] == *tool.name);
            Some((server.name.clone(), list.tools().filter(admitted).collect()))
        })
        .collect();
    discovery.sessions.close().await;
    discovered?;
    let mut lock = locks.own(&config);
    lock.servers.retain(|name, _| lists.contains_key(name));
    for (name, tools) in lists {
        lock.set(&name, tools);
    }
    let style = config.code_mode.style.clone();
    Ok(Found { servers, modules, lock, style, description_tokens: config.serve.description_tokens })
}

/// Keeps only the named servers, and fails if one is missing.
fn select(found: &mut Found, names: &[String]) -> Result<(), Failure> {
    for name in names {
        if !found.lock.servers.contains_key(name) {
            return Err(unknown_server(name, found.lock.servers.keys().map(String::as_str)));
        }
    }
    if !names.is_empty() {
        found.servers.retain(|server| names.contains(&server.name));
        found.lock.servers.retain(|name, _| names.contains(name));
    }
    Ok(())
}

fn unknown_server<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::command_line(format!("there is no server {name:?}")).hint(format!("available servers: {known}"))
}

/// Maximum size of a file with tools, in bytes (64 MiB): enough for several servers' [`mcp::MAX_LISTING_BYTES`].
pub(crate) const FILE_LIMIT: u64 = 64 << 20;

/// Reads a file's text, within a limit.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            kind => kind.to_string(),
        };
        let failure = Failure::command_line(format!("{} can't be read: {why}", path.display()));
        failure.hint("check the path of the file").caused_by(error)
    };
    let length = std::fs::metadata(path).map_err(failed)?;
    if length.is_file() && length.len() > FILE_LIMIT {
        let message = format!("{} has {} bytes; the limit is {FILE_LIMIT}", path.display(), length.len());
        return Err(Failure::command_line(message));
    }
    if !length.is_file() {
        return Err(Failure::command_line(format!("{} is not a file", path.display())));
    }
    std::fs::read_to_string(path).map_err(failed)
}
