//! Holds tools to the versions that the user accepted with `toolsmith mcp lock`: a tool that its server changes
//! later, including its description, is held back and reported with the difference.
//!
//! Each lock file in force applies to every server that it pins, whichever layer defines the server: a stronger layer
//! can add pins but not remove any. The commands write the files.

mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{Config, LockFile};
use mcp::{Lock, LockedServer, LockedTool};
use serde_json::Value;

use crate::failure::Failure;
use crate::observed::ObservedOutputs;
use crate::tool_list::ToolList;

/// Maximum lines shown of one server's difference.
const LINES_SHOWN: usize = 60;

/// The entries of a configuration's lock files for tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// Inferred output schemas.
    pub observed: ObservedOutputs,
    /// The accepted tools.
    pub pins: Pins,
}

impl Known {
    /// Reads a configuration's lock files.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        Ok(Locks::of(config)?.known(config))
    }
}

/// The parsed lock files of a configuration.
#[derive(Debug)]
pub struct Locks(Vec<(PathBuf, Lock)>);

impl Locks {
    /// # Errors
    /// If one of them is invalid.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let read = |file: &LockFile| Ok((file.path.clone(), file.lock()?));
        let locks: Result<Vec<_>, mcp::LockError> = config.locks.iter().map(read).collect();
        Ok(Locks(locks?))
    }

    /// Returns these files' entries for the configured servers.
    pub fn known(&self, config: &Config) -> Known {
        Known { observed: ObservedOutputs::of(&self.own(config)), pins: self.pins() }
    }

    /// The pins of all files.
    pub fn pins(&self) -> Pins {
        let mut pins = Pins::default();
        self.0.iter().for_each(|(file, lock)| pins.add(file, lock));
        pins
    }

    /// Each server from the lock file next to its entry: only there are its observations valid.
    pub fn own(&self, config: &Config) -> Lock {
        let locked = |server: &config::Server| {
            let (_, lock) = self.0.get(config.lock_of(&server.layer)?)?;
            let name = &server.connection.name;
            Some((name.clone(), lock.servers.get(name)?.clone()))
        };
        config.servers.iter().filter_map(locked).collect()
    }
}

/// The accepted tools of servers. A server without an entry is not pinned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins(Arc<BTreeMap<String, Vec<Pin>>>);

/// The tools of a server in one lock file.
#[derive(Debug, Clone, PartialEq)]
struct Pin {
    file: PathBuf,
    server: LockedServer,
}

/// The difference between a server's tools and the accepted ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Difference {
    pub(crate) server: String,
    /// The lock file with the accepted tools.
    pub file: PathBuf,
    /// New tools.
    pub(crate) new: Vec<String>,
    /// Changed tools, with one line for each change.
    pub(crate) changed: Vec<(String, Vec<String>)>,
    /// Tools that no longer exist.
    pub(crate) gone: Vec<String>,
}

impl Pins {
    /// Adds the pins of another lock file.
    pub fn add(&mut self, file: &Path, lock: &Lock) {
        let pins = Arc::make_mut(&mut self.0);
        for (name, server) in lock.servers.iter().filter(|(_, server)| server.pinned) {
            let pin = Pin { file: file.to_owned(), server: server.clone() };
            pins.entry(name.clone()).or_default().push(pin);
        }
    }

    fn of(&self, server: &str) -> &[Pin] {
        self.0.get(server).map(Vec::as_slice).unwrap_or_default()
    }

    /// The names of the tools in `offered` that are held back.
    pub fn held(&self, server: &str, offered: &ToolList) -> BTreeSet<String> {
        let pins = self.of(server);
        if pins.is_empty() {
            return BTreeSet::new();
        }
        let is_held = |raw: &Value| pins.iter().any(|pin| !pin.accepts(raw));
        offered.tools().filter(is_held).filter_map(|raw| name(&raw).map(str::to_owned)).collect()
    }

    /// Returns the reason why a tool is held back, if it is; for a model or a user.
    pub(crate) fn holds_back(&self, server: &str, tool: &str, offered: &ToolList) -> Option<String> {
        let pins = self.of(server);
        if pins.is_empty() {
            return None;
        }
        let raw = offered.tool(tool)?;
        let pin = pins.iter().find(|pin| !pin.accepts(&raw))?;
        let what = if pin.server.tools.contains_key(tool) { "has changed" } else { "is new" };
        Some(format!(
            "the tool {what} since its server was locked, and is held back; {}",
            how_to_accept(server)
        ))
    }

    /// Compares the tools that `admits` accepts with the locked ones, for each lock file that pins the server.
    pub fn differences(
        &self,
        server: &str,
        offered: &ToolList,
        admits: impl Fn(&str) -> bool,
    ) -> Vec<Difference> {
        self.of(server).iter().map(|pin| pin.difference(server, offered, &admits)).collect()
    }
}

impl Pin {
    fn accepts(&self, raw: &Value) -> bool {
        name(raw).and_then(|name| self.server.tools.get(name)).is_some_and(|locked| locked.is(raw))
    }

    fn difference(&self, server: &str, offered: &ToolList, admits: impl Fn(&str) -> bool) -> Difference {
        let pinned = &self.server;
        let (server, file) = (server.to_owned(), self.file.clone());
        let mut difference = Difference { server, file, ..Difference::default() };
        for raw in offered.tools() {
            let Some(name) = name(&raw).filter(|name| admits(name)) else { continue };
            match pinned.tools.get(name) {
                Some(locked) if locked.is(&raw) => {}
                Some(LockedTool { tool, .. }) => {
                    difference.changed.push((name.to_owned(), wording::changes(tool, &raw)));
                }
                None => difference.new.push(name.to_owned()),
            }
        }
        let gone = pinned.tools.keys().filter(|name| !offered.has(name));
        difference.gone = gone.cloned().collect();
        difference.new.sort();
        difference.changed.sort();
        difference
    }
}

impl Difference {
    /// Whether any tool is held back.
    pub(crate) fn holds_back(&self) -> bool {
        !self.new.is_empty() || !self.changed.is_empty()
    }

    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        !self.holds_back() && self.gone.is_empty()
    }

    /// The difference as lines, without instructions.
    pub fn lines(&self) -> Vec<String> {
        let name = |tool: &String| printable::name(&format!("{}.{tool}", self.server));
        let mut lines: Vec<String> =
            self.new.iter().map(|tool| format!("  + {} is new", name(tool))).collect();
        for (tool, changes) in &self.changed {
            lines.push(format!("  ~ {} has changed:", name(tool)));
            lines.extend(changes.iter().map(|change| format!("      {change}")));
        }
        lines.extend(self.gone.iter().map(|tool| format!("  - {} is gone", name(tool))));
        if let Some(more) = lines.len().checked_sub(LINES_SHOWN).filter(|more| *more > 0) {
            lines.truncate(LINES_SHOWN);
            lines.push(format!("  and {}", report::count(more, "more line")));
        }
        lines
    }

    /// The note for the user, if there is a difference.
    pub fn note(&self) -> Option<String> {
        let lines = self.lines().join("\n");
        let (server, file) = (&self.server, self.file.display());
        if self.holds_back() {
            let how = how_to_accept(server);
            Some(format!("{server}: tools that differ from {file} are held back:\n{lines}\n{how}"))
        } else if self.gone.is_empty() {
            None
        } else {
            Some(format!("{server}: tools in {file} no longer exist:\n{lines}"))
        }
    }
}

fn how_to_accept(server: &str) -> String {
    format!("review the change, and accept it with `toolsmith mcp lock --accept {server}`")
}

fn name(raw: &Value) -> Option<&str> {
    raw.get("name").and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
