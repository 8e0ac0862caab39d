//! Tools are held to what a person has accepted, as `toolsmith mcp lock` has written it: what a server changes later, its
//! descriptions included, is held back and told with the difference.
//!
//! Writing the file is left to [`crate::locking`].

mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use mcp::{Lock, LockedServer, LockedTool};
use serde_json::Value;

use crate::failure::Failure;
use crate::observed::ObservedOutputs;
use crate::tool_list::ToolList;

/// Most lines of one server's difference that are told.
const LINES_TOLD: usize = 60;

/// What a lock file says of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Known {
    /// Output schemas that were inferred.
    pub(crate) observed: ObservedOutputs,
    /// What tools are held to.
    pub(crate) pins: Pins,
}

impl Known {
    /// That of a lock file; nothing where there is no file.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Known::default()) };
        let lock = Lock::read(file).map_err(Failure::configuration)?;
        Ok(lock.as_ref().map(Known::of).unwrap_or_default())
    }

    /// That of a lock.
    pub(crate) fn of(lock: &Lock) -> Self {
        Known { observed: ObservedOutputs::of(lock), pins: Pins::of(lock) }
    }
}

/// The tools of servers as they were accepted. A server that is not here is held to nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pins(Arc<BTreeMap<String, LockedServer>>);

/// How a server's tools differ from those that were accepted.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Difference {
    pub(crate) server: String,
    /// Tools that were not there.
    pub(crate) new: Vec<String>,
    /// Tools that are not the same, with what has changed, one line each.
    pub(crate) changed: Vec<(String, Vec<String>)>,
    /// Tools that are no longer there.
    pub(crate) gone: Vec<String>,
}

impl Pins {
    /// Those of a lock.
    pub(crate) fn of(lock: &Lock) -> Self {
        let pinned = lock.servers.iter().filter(|(_, server)| server.pinned);
        Pins(Arc::new(pinned.map(|(name, server)| (name.clone(), server.clone())).collect()))
    }

    /// The names of the tools among `offered` that are held back.
    pub(crate) fn held(&self, server: &str, offered: &ToolList) -> BTreeSet<String> {
        let Some(pinned) = self.0.get(server) else { return BTreeSet::new() };
        let names = offered.tools().iter().filter(|raw| !is_accepted(pinned, raw)).filter_map(name);
        names.map(str::to_owned).collect()
    }

    /// Why a tool is held back, if it is; in words for a model or a person.
    pub(crate) fn holds_back(&self, server: &str, tool: &str, offered: &ToolList) -> Option<String> {
        let pinned = self.0.get(server)?;
        let raw = offered.tool(tool)?;
        (!is_accepted(pinned, raw)).then(|| {
            let what = if pinned.tools.contains_key(tool) { "has changed" } else { "is new" };
            format!(
                "the tool {what} since its server was locked, and is held back; {}",
                how_to_accept(server)
            )
        })
    }

    /// How the tools that `admits` lets through differ from the accepted ones; `None` for a server that is held to
    /// nothing.
    pub(crate) fn difference(
        &self,
        server: &str,
        offered: &ToolList,
        admits: impl Fn(&str) -> bool,
    ) -> Option<Difference> {
        let pinned = self.0.get(server)?;
        let mut difference = Difference { server: server.to_owned(), ..Difference::default() };
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
        Some(difference)
    }
}

impl Difference {
    /// Whether any tool is held back.
    pub(crate) fn holds_back(&self) -> bool {
        !self.new.is_empty() || !self.changed.is_empty()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.holds_back() && self.gone.is_empty()
    }

    /// In lines, without what to do.
    pub(crate) fn lines(&self) -> Vec<String> {
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
    pub(crate) fn note(&self) -> Option<String> {
        let lines = self.lines().join("\n");
        let server = &self.server;
        if self.holds_back() {
            let how = how_to_accept(server);
            Some(format!("{server}: tools that are not as they were locked are held back:\n{lines}\n{how}"))
        } else if self.gone.is_empty() {
            None
        } else {
            Some(format!("{server}: tools that were locked are gone:\n{lines}"))
        }
    }
}

fn how_to_accept(server: &str) -> String {
    format!("look at the change, and accept it with `toolsmith mcp lock --accept {server}`")
}

fn name(raw: &Value) -> Option<&str> {
    raw.get("name").and_then(Value::as_str)
}

fn is_accepted(pinned: &LockedServer, raw: &Value) -> bool {
    name(raw).and_then(|name| pinned.tools.get(name)).is_some_and(|locked| locked.is(raw))
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
        Pins::of(&lock)
    }

    #[test]
    fn what_is_as_it_was_passes_whatever_the_order_of_its_members() {
        let pins = pins(vec![tool("a", "x")]);
        let text =
            r#"{ "inputSchema": { "properties": {}, "type": "object" }, "description": "x", "name": "a" }"#;
        let list = ToolList::new(vec![serde_json::from_str(text).unwrap()]);
        assert!(pins.held("s", &list).is_empty() && pins.holds_back("s", "a", &list).is_none());
        assert!(pins.difference("s", &list, |_| true).unwrap().is_empty());
    }

    #[test]
    fn what_is_new_or_changed_is_held_back_and_what_is_gone_is_told() {
        let pins = pins(vec![tool("a", "x"), tool("b", "x"), tool("gone", "x")]);
        let mut typed = tool("b", "x");
        typed["inputSchema"]["properties"]["path"] = json!({ "type": "string" });
        let list =
            ToolList::new(vec![tool("a", "y\u{1b}[2J"), typed, tool("new\n", "x"), tool("filtered", "x")]);
        let difference = pins.difference("s", &list, |name| name != "filtered").unwrap();
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
    fn a_server_of_which_something_was_observed_is_held_to_nothing() {
        let pins = pins(Vec::new());
        let list = ToolList::new(vec![tool("a", "other"), tool("b", "x")]);
        assert!(pins.held("loose", &list).is_empty() && pins.held("unknown", &list).is_empty());
        assert_eq!(pins.difference("loose", &list, |_| true), None);
        assert!(pins.holds_back("loose", "a", &list).is_none());
        // One that was locked without a tool is.
        assert_eq!(pins.held("s", &list).len(), 2);
    }
}
