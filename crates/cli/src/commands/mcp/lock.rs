//! `toolsmith mcp lock`: writes the servers' tools into lock files, and accepts changes.
//!
//! Each server is locked next to the configuration that defines it. A lock file may also pin a server of another layer;
//! it is updated when the user accepts a change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{Config, LoadOptions};
use execution::setup;
use gateway::cache;
use gateway::catalog::ToolLists;
use gateway::discovery::Discovery;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::{Known, Pins};
use gateway::terminal_host::TerminalHost;
use mcp::Lock;
use report::{Kind, Report};
use serde_json::{Value, json};
use terminal::Terminal;

use crate::arguments::PinArguments;
use crate::commands::mcp::lock_writer::{self, LockWriter, no_lock_file};
use crate::commands::mcp::support::print_json;

/// Runs the command and returns the exit code.
pub(crate) async fn lock(arguments: &PinArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = work(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::output)?;
    done
}

async fn work(arguments: &PinArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = setup::configure(&arguments.place.place.options())?;
    let targets = targets(&config, arguments.place.lock.as_ref())?;
    let accepted = Accepted(arguments.accept.as_deref());
    for name in accepted.0.unwrap_or_default() {
        if config.server(name).is_none() {
            return Err(Failure::command_line(format!("there is no server {name:?}"))
                .hint("`toolsmith mcp list` lists the servers"));
        }
    }
    let lists = ask(&config, &config.servers.iter().collect::<Vec<_>>(), terminal).await?;
    let opened: Result<Vec<LockWriter>, Failure> =
        targets.iter().map(|target| lock_writer::open(&target.file)).collect();
    let mut opened = opened?;
    let mut pins = Pins::default();
    targets.iter().zip(&opened).for_each(|(target, held)| pins.add(&target.file, &held.lock));
    let differing = differences(&config, &lists, &pins, &accepted, terminal);
    if !differing.is_empty() {
        let names: Vec<&str> = differing.iter().map(String::as_str).collect();
        let message =
            format!("the tools of {} differ from the lock file, which is unchanged", names.join(", "));
        return Err(Failure::new(Kind::Lock, message).with_code(exit_code::RUNTIME).hint(format!(
            "check the changes, and accept them with `toolsmith mcp lock --accept {}`",
            names.join(" ")
        )));
    }
    for (target, held) in targets.iter().zip(&mut opened) {
        target.update(&mut held.lock, &config, &lists, &accepted);
    }
    let names = config.servers.iter().map(|server| server.connection.name.as_str());
    let locked: Vec<(&str, usize)> =
        names.filter_map(|name| Some((name, admitted(&config, &lists, name)?.len()))).collect();
    save(&locked, targets.iter().zip(opened), arguments.place.output.json, terminal)?;
    Ok(exit_code::OK)
}

/// Pins a server that was just added to a file to its tools, and reports that, or why not: the entry stays in either case.
pub(crate) async fn pin_added(name: &str, file: &Path) {
    let terminal = Terminal::new(false, false);
    match pin(name, file, &terminal).await {
        Ok(Some(lock)) => terminal.note(&format!("pinned {name} to its tools in {}", lock.display())),
        Ok(None) => {}
        Err(failure) => {
            terminal.note(&format!("warning: {name} is not pinned: {}", failure.report.for_terminal()));
            terminal.note("help: once it answers: toolsmith mcp lock");
        }
    }
    // The file is changed already.
    let _ = terminal.flush().await;
}

/// Writes the tools of one server into the lock file beside its configuration, which is returned. `None` if another entry
/// is used instead of the one in this file.
async fn pin(name: &str, file: &Path, terminal: &Terminal) -> Result<Option<PathBuf>, Failure> {
    let config = setup::configure(&LoadOptions::default())?;
    let Some(server) = config.server(name).filter(|server| server.layer.file() == Some(file)) else {
        return Ok(None);
    };
    let index = config.lock_of(&server.layer).ok_or_else(|| no_lock_file(&config))?;
    let Some(target) = config.locks.get(index) else { return Err(no_lock_file(&config)) };
    let lists = ask(&config, &[server], terminal).await?;
    let mut held = lock_writer::open(&target.path)?;
    held.lock.pin(name, admitted(&config, &lists, name).unwrap_or_default());
    held.save()?;
    Ok(Some(target.path.clone()))
}

/// Writes the lock files, and prints the servers with the numbers of their tools.
fn save<'a>(
    locked: &[(&str, usize)],
    targets: impl Iterator<Item = (&'a Target, LockWriter)>,
    as_json: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if !as_json {
        locked
            .iter()
            .for_each(|(name, tools)| terminal.print(&format!("{name}: {}", report::count(*tools, "tool"))));
    }
    let mut files = Vec::new();
    for (target, held) in targets {
        let file = target.file.display();
        let is_written = held.save()?;
        if is_written {
            terminal.note(&format!("wrote {file}"));
        } else if !target.servers.is_empty() {
            terminal.note(&format!("{file} is up to date"));
        }
        files.push(json!({ "file": target.file, "written": is_written }));
    }
    if as_json {
        let servers: Vec<Value> =
            locked.iter().map(|(name, tools)| json!({ "id": name, "tools": tools })).collect();
        print_json(&json!({ "servers": servers, "files": files }), terminal);
    }
    Ok(())
}

/// The servers whose changes the user accepts: none, the named ones, or all if the list is empty.
struct Accepted<'a>(Option<&'a [String]>);

impl Accepted<'_> {
    fn has(&self, server: &str) -> bool {
        self.0.is_some_and(|names| names.is_empty() || names.iter().any(|name| name == server))
    }
}

/// A lock file to write.
struct Target {
    file: PathBuf,
    /// The servers to lock in it.
    servers: BTreeSet<String>,
    /// All servers that it keeps, including those that are disabled, invalid, or overridden by a higher layer.
    kept: BTreeSet<String>,
}

/// The named file for all servers, or else the lock files of all layers, each for its own servers.
fn targets(config: &Config, named: Option<&PathBuf>) -> Result<Vec<Target>, Failure> {
    let name = |server: &config::Server| server.connection.name.clone();
    let absent = config.absent.iter().map(|absent| absent.name.clone());
    let kept: BTreeSet<String> = config.servers.iter().map(name).chain(absent).collect();
    if let Some(file) = named {
        let servers = config.servers.iter().map(name).collect();
        return Ok(vec![Target { file: file.clone(), servers, kept }]);
    }
    let target = |(index, file): (usize, &config::LockFile)| {
        let own = config.servers.iter().filter(|server| config.lock_of(&server.layer) == Some(index));
        let kept = kept.union(&file.names).cloned().collect();
        Target { file: file.path.clone(), servers: own.map(name).collect(), kept }
    };
    let targets: Vec<Target> = config.locks.iter().enumerate().map(target).collect();
    let has_place = |server: &config::Server| config.lock_of(&server.layer).is_some();
    if config.servers.iter().all(has_place) { Ok(targets) } else { Err(no_lock_file(config)) }
}

impl Target {
    /// Updates a lock to the servers' current tools.
    fn update(&self, lock: &mut Lock, config: &Config, lists: &ToolLists, accepted: &Accepted<'_>) {
        lock.servers.retain(|name, _| self.kept.contains(name));
        for server in &config.servers {
            let name = &server.connection.name;
            let is_pinned = lock.servers.get(name).is_some_and(|locked| locked.pinned);
            let is_written = self.servers.contains(name) || (is_pinned && accepted.has(name));
            if let Some(tools) = admitted(config, lists, name).filter(|_| is_written) {
                lock.pin(name, tools);
            }
        }
    }
}

/// The tools of a server that the configuration admits.
fn admitted(config: &Config, lists: &ToolLists, server: &str) -> Option<Vec<Value>> {
    let admits = |raw: &Value| config.admits(server, raw["name"].as_str().unwrap_or(""));
    Some(lists.list(server)?.tools().filter(admits).collect())
}

/// Lists the tools of these servers, and fails if one does not answer.
async fn ask(
    config: &Arc<Config>,
    servers: &[&config::Server],
    terminal: &Terminal,
) -> Result<ToolLists, Failure> {
    let cache = cache::open(&config.cache)?;
    let mut discovery = Discovery::new(config, TerminalHost::at(terminal), cache, Known::default());
    let failures = discovery.ask(servers).await;
    let lists = discovery.lists().clone();
    discovery.sessions.close().await;
    let failures = failures?;
    if failures.is_empty() {
        return Ok(lists);
    }
    let unchanged = Report::new(Kind::Server, "the lock file is unchanged");
    Report::joined(std::iter::once(unchanged).chain(failures)).map_or(Ok(lists), |all| Err(all.into()))
}

/// Reports how tools differ from the locked ones, and returns the servers whose changes are not `accepted`.
fn differences(
    config: &Config,
    lists: &ToolLists,
    pins: &Pins,
    accepted: &Accepted<'_>,
    terminal: &Terminal,
) -> BTreeSet<String> {
    let mut differing = BTreeSet::new();
    for server in &config.servers {
        let name = &server.connection.name;
        let Some(list) = lists.list(name) else { continue };
        let found = pins.differences(name, list, |tool| config.admits(name, tool));
        for difference in found.iter().filter(|difference| !difference.is_empty()) {
            let state = if accepted.has(name) { "accepted changes" } else { "tools differ from those" };
            let (file, lines) = (difference.file.display(), difference.lines().join("\n"));
            terminal.eprint(&format!("{name}: {state} in {file}:\n{lines}"));
            if !accepted.has(name) {
                differing.insert(name.clone());
            }
        }
    }
    differing
}
