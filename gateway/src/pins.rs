//! Tools are held to what a person has accepted, as `toolsmith mcp lock` has written it: what a server changes later, its
//! descriptions included, is held back and told with the difference.
//!
//! Each lock file in force holds every server that it pins, whichever layer defines the server: a stronger layer adds
//! pins and never releases any. Writing the files is left to the commands.

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

/// Most lines of one server's difference that are told.
const LINES_TOLD: usize = 60;

/// What the lock files of a configuration say of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// Output schemas that were inferred.
    pub observed: ObservedOutputs,
    /// What tools are held to.
    pub pins: Pins,
}

impl Known {
    /// That of a configuration's lock files.
    ///
    /// # Errors
    /// Where one of them is not what it must be.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        Ok(Locks::of(config)?.known(config))
    }
}

/// The lock files of a configuration, read.
#[derive(Debug)]
pub struct Locks(Vec<(PathBuf, Lock)>);

impl Locks {
    /// # Errors
    /// Where one of them is not what it must be.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let read = |file: &LockFile| Ok((file.path.clone(), file.lock()?));
        let locks: Result<Vec<_>, mcp::LockError> = config.locks.iter().map(read).collect();
        locks.map(Locks).map_err(Failure::configuration)
    }

    /// What these files say of the configured servers.
    pub fn known(&self, config: &Config) -> Known {
        Known { observed: ObservedOutputs::of(&self.own(config)), pins: self.pins() }
    }

    /// What all of them pin.
    pub fn pins(&self) -> Pins {
        let mut pins = Pins::default();
        self.0.iter().for_each(|(file, lock)| pins.add(file, lock));
        pins
    }

    /// Each server as the lock file beside its own entry has it: what was observed of it counts from there alone.
    pub fn own(&self, config: &Config) -> Lock {
        let locked = |server: &config::Server| {
            let (_, lock) = self.0.get(config.lock_of(&server.layer)?)?;
            let name = &server.connection.name;
            Some((name.clone(), lock.servers.get(name)?.clone()))
        };
        config.servers.iter().filter_map(locked).collect()
    }
}

/// The tools of servers as they were accepted. A server that is not here is held to nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins(Arc<BTreeMap<String, Vec<Pin>>>);

/// The tools of a server as a lock file has them.
#[derive(Debug, Clone, PartialEq)]
struct Pin {
    file: PathBuf,
    server: LockedServer,
}

/// How a server's tools differ from those that were accepted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Difference {
    pub(crate) server: String,
    /// The lock file that they differ from.
    pub file: PathBuf,
    /// Tools that were not there.
    pub(crate) new: Vec<String>,
    /// Tools that are not the same, with what has changed, one line each.
    pub(crate) changed: Vec<(String, Vec<String>)>,
    /// Tools that are no longer there.
    pub(crate) gone: Vec<String>,
}

impl Pins {
    /// Holds servers to the lock of a further file as well.
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

    /// The names of the tools among `offered` that are held back.
    pub fn held(&self, server: &str, offered: &ToolList) -> BTreeSet<String> {
        let pins = self.of(server);
        let is_held = |raw: &&Value| pins.iter().any(|pin| !pin.accepts(raw));
        offered.tools().iter().filter(is_held).filter_map(name).map(str::to_owned).collect()
    }

    /// Why a tool is held back, if it is; in words for a model or a person.
    pub(crate) fn holds_back(&self, server: &str, tool: &str, offered: &ToolList) -> Option<String> {
        let raw = offered.tool(tool)?;
        let pin = self.of(server).iter().find(|pin| !pin.accepts(raw))?;
        let what = if pin.server.tools.contains_key(tool) { "has changed" } else { "is new" };
        Some(format!(
            "the tool {what} since its server was locked, and is held back; {}",
            how_to_accept(server)
        ))
    }

    /// How the tools that `admits` lets through differ from the accepted ones, for each lock file that pins the server.
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
            let Some(name) = name(raw).filter(|name| admits(name)) else { continue };
            match pinned.tools.get(name) {
                Some(locked) if locked.is(raw) => {}
                Some(LockedTool { tool, .. }) => {
                    difference.changed.push((name.to_owned(), wording::changes(tool, raw)));
                }
                None => difference.new.push(name.to_owned()),
            }
        }
        let gone = pinned.tools.keys().filter(|name| offered.tool(name).is_none());
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.holds_back() && self.gone.is_empty()
    }

    /// In lines, without what to do.
    pub fn lines(&self) -> Vec<String> {
        let name = |tool: &String| printable::name(&format!("{}.{tool}", self.server));
        let mut lines: Vec<String> =
            self.new.iter().map(|tool| format!("  + {} is new", name(tool))).collect();
        for (tool, changes) in &self.changed {
            lines.push(format!("  ~ {} has changed:", name(tool)));
            lines.extend(changes.iter().map(|change| format!("      {change}")));
        }
        lines.extend(self.gone.iter().map(|tool| format!("  - {} is gone", name(tool))));
        if let Some(more) = lines.len().checked_sub(LINES_TOLD).filter(|more| *more > 0) {
            lines.truncate(LINES_TOLD);
            lines.push(format!("  and {more} more lines"));
        }
        lines
    }

    /// What to tell a person, if anything.
    pub fn note(&self) -> Option<String> {
        let lines = self.lines().join("\n");
        let (server, file) = (&self.server, self.file.display());
        if self.holds_back() {
            let how = how_to_accept(server);
            Some(format!(
                "{server}: tools that are not as they were locked in {file} are held back:\n{lines}\n{how}"
            ))
        } else if self.gone.is_empty() {
            None
        } else {
            Some(format!("{server}: tools that were locked in {file} are gone:\n{lines}"))
        }
    }
}

fn how_to_accept(server: &str) -> String {
    format!("look at the change, and accept it with `toolsmith mcp lock --accept {server}`")
}

fn name(raw: &Value) -> Option<&str> {
    raw.get("name").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Value {
        json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": {} } })
    }

    fn pins(tools: Vec<Value>) -> Pins {
        let mut lock = Lock::default();
        lock.pin("s", tools);
        lock.set("loose", vec![tool("a", "x")]);
        let mut pins = Pins::default();
        pins.add(Path::new("/l"), &lock);
        pins
    }

    #[test]
    fn what_is_as_it_was_passes_whatever_the_order_of_its_members() {
        let pins = pins(vec![tool("a", "x")]);
        let text =
            r#"{ "inputSchema": { "properties": {}, "type": "object" }, "description": "x", "name": "a" }"#;
        let list = ToolList::new(vec![serde_json::from_str(text).unwrap()]);
        assert!(pins.held("s", &list).is_empty() && pins.holds_back("s", "a", &list).is_none());
        assert!(pins.differences("s", &list, |_| true)[0].is_empty());
    }

    #[test]
    fn what_is_new_or_changed_is_held_back_and_what_is_gone_is_told() {
        let pins = pins(vec![tool("a", "x"), tool("b", "x"), tool("gone", "x")]);
        let mut typed = tool("b", "x");
        typed["inputSchema"]["properties"]["path"] = json!({ "type": "string" });
        let list =
            ToolList::new(vec![tool("a", "y\u{1b}[2J"), typed, tool("new\n", "x"), tool("filtered", "x")]);
        let [difference] = &pins.differences("s", &list, |name| name != "filtered")[..] else { panic!() };
        assert_eq!(
            (&difference.new[..], &difference.gone[..]),
            (&["new\n".to_owned()][..], &["gone".to_owned()][..])
        );
        let text = difference.note().unwrap();
        for phrase in [
            "~ s.a has",
            "\"x\"",
            "y\\u001b[2J",
            "input.path",
            "s.new\\u{a} is new",
            "- s.gone",
            "--accept s",
        ] {
            assert!(text.contains(phrase), "{phrase} in {text}");
        }
        assert!(["a", "b", "new\n", "filtered"].iter().all(|name| pins.held("s", &list).contains(*name)));
        assert!(pins.holds_back("s", "a", &list).unwrap().contains("has changed"));
        assert!(pins.holds_back("s", "new\n", &list).unwrap().contains("is new"));
    }

    #[test]
    fn what_one_of_two_files_does_not_have_is_held_back() {
        let mut pins = pins(vec![tool("a", "x"), tool("b", "x")]);
        let mut lock = Lock::default();
        lock.pin("s", vec![tool("a", "x"), tool("b", "y"), tool("c", "x")]);
        pins.add(Path::new("/other"), &lock);
        let list = ToolList::new(vec![tool("a", "x"), tool("b", "x"), tool("c", "x")]);
        assert_eq!(pins.held("s", &list).into_iter().collect::<Vec<_>>(), ["b", "c"]);
        assert!(pins.holds_back("s", "a", &list).is_none());
        assert!(pins.holds_back("s", "b", &list).unwrap().contains("has changed"));
        assert!(pins.holds_back("s", "c", &list).unwrap().contains("is new"));
        let notes: Vec<_> =
            pins.differences("s", &list, |_| true).iter().filter_map(Difference::note).collect();
        assert!(notes[0].contains("locked in /l are") && notes[0].contains("s.c is new"), "{notes:?}");
        assert!(notes[1].contains("locked in /other are") && notes[1].contains("s.b has"), "{notes:?}");
    }

    #[test]
    fn a_server_of_which_something_was_observed_is_held_to_nothing() {
        let pins = pins(Vec::new());
        let list = ToolList::new(vec![tool("a", "other"), tool("b", "x")]);
        assert!(pins.held("loose", &list).is_empty() && pins.held("unknown", &list).is_empty());
        assert_eq!(pins.differences("loose", &list, |_| true), []);
        assert!(pins.holds_back("loose", "a", &list).is_none());
        // One that was locked without a tool is.
        assert_eq!(pins.held("s", &list).len(), 2);
    }
}
