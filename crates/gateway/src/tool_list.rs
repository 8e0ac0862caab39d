//! The tools of a server as it sent them, kept as text.
//!
//! Parsed, a list takes about eight times the memory, and parsing a list of a thousand tools takes longer than everything
//! else that a run does before it compiles. So a tool is parsed when it is needed; digests show whether two lists are
//! equal.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::audience::{is_for_apps, names_only_apps, view};

/// The tools of a server.
#[derive(Debug)]
pub struct ToolList {
    digest: String,
    /// A JSON array of MCP's `Tool`.
    text: Box<str>,
    /// The tools that have a name.
    places: OnceLock<Vec<Place>>,
}

/// A tool in the text of a list.
#[derive(Debug)]
struct Place {
    name: Box<str>,
    range: Range<usize>,
    /// Whether it is only for apps.
    is_for_apps: bool,
    /// Whether it runs only as a task (MCP 2025-11-25, `execution.taskSupport`).
    runs_only_as_task: bool,
    /// The address of its view (MCP Apps, "Resource Discovery").
    view: Option<Box<str>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default, rename = "_meta")]
    meta: Value,
    #[serde(default)]
    execution: Value,
}

impl ToolList {
    /// A list of tools.
    pub fn new(tools: &[Value]) -> Self {
        // Writing JSON values does not fail.
        Self::read(serde_json::to_string(tools).unwrap_or_default().into())
    }

    /// A list of tools from a session.
    pub fn of(tools: &[mcp::Tool]) -> Self {
        let tools: Vec<&str> = tools.iter().map(mcp::Tool::json).collect();
        Self::read(format!("[{}]", tools.join(",")).into())
    }

    fn read(text: Box<str>) -> Self {
        ToolList { digest: digest(text.as_bytes()), text, places: OnceLock::new() }
    }

    /// Reads a list written by [`ToolList::record`]; `None` if it is damaged.
    pub(crate) fn from_record(record: Vec<u8>) -> Option<Self> {
        let record = String::from_utf8(record).ok()?;
        let (known, text) = record.split_once('\n')?;
        Some(Self::read(text.into())).filter(|list| list.digest == known)
    }

    /// The list as text to store: its digest on a line, then the array.
    pub(crate) fn record(&self) -> Vec<u8> {
        [&self.digest, "\n", &*self.text].concat().into_bytes()
    }

    /// The digest, which is the same for equal lists.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The names of the tools, in the server's order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.places().iter().map(|place| &*place.name)
    }

    /// The names of the tools that are only for apps.
    pub fn for_apps(&self) -> impl Iterator<Item = &str> {
        self.places().iter().filter(|place| place.is_for_apps).map(|place| &*place.name)
    }

    /// Whether the tool with this name is only for apps.
    pub fn is_for_apps(&self, name: &str) -> bool {
        self.for_apps().any(|own| own == name)
    }

    /// Whether the tool with this name runs only as a task.
    pub fn runs_only_as_task(&self, name: &str) -> bool {
        self.places().iter().any(|place| place.runs_only_as_task && *place.name == *name)
    }

    /// The names of the tools with a view, and its address.
    pub fn views(&self) -> impl Iterator<Item = (&str, &str)> {
        self.places().iter().filter_map(|place| Some((&*place.name, place.view.as_deref()?)))
    }

    /// Whether a tool has this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// The tools that have a name, each parsed as it is reached.
    pub fn tools(&self) -> impl Iterator<Item = Value> {
        self.places().iter().filter_map(|place| self.parsed(place))
    }

    /// The size of the tool with this name, in bytes of JSON; 0 if there is none.
    pub(crate) fn bytes(&self, name: &str) -> usize {
        self.places().iter().find(|place| *place.name == *name).map_or(0, |place| place.range.len())
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<Value> {
        self.parsed(self.places().iter().find(|place| *place.name == *name)?)
    }

    fn parsed(&self, place: &Place) -> Option<Value> {
        serde_json::from_str(self.text.get(place.range.clone())?).ok()
    }

    fn places(&self) -> &[Place] {
        self.places.get_or_init(|| {
            // The text was written by `new`, or has its digest.
            let tools: Vec<&RawValue> = serde_json::from_str(&self.text).unwrap_or_default();
            let place = |tool: &&RawValue| {
                let Named { name, meta, execution } = serde_json::from_str(tool.get()).ok()?;
                // Each tool borrows from the text.
                let start = tool.get().as_ptr().addr() - self.text.as_ptr().addr();
                let range = start..start + tool.get().len();
                Some(Place {
                    name: name.into(),
                    range,
                    is_for_apps: names_only_apps(&meta),
                    runs_only_as_task: execution["taskSupport"] == "required",
                    view: view(&meta).map(Into::into),
                })
            };
            tools.iter().filter_map(place).collect()
        })
    }
}

impl PartialEq for ToolList {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest || self.tools().eq(other.tools())
    }
}

/// The description of a tool with a view begins with this.
const HAS_VIEW: &str = "(Has a view: `emit` takes `.raw().await?.view()`.)";

/// A tool that snippets may call, as code is generated from it. `None` if it has no name, or is only for apps.
pub fn for_snippets(raw: &Value) -> Option<codegen::Tool> {
    let mut tool = as_declared(raw).filter(|_| !is_for_apps(raw))?;
    if raw.get("_meta").and_then(view).is_some() {
        let own = tool.description.unwrap_or_default();
        // First, because descriptions are cut.
        tool.description = Some(format!("{HAS_VIEW} {own}").trim_end().to_owned());
    }
    Some(tool)
}

/// A tool as code is generated from it: only what its server declares. `None` if it has no name.
pub fn as_declared(raw: &Value) -> Option<codegen::Tool> {
    let description = raw.get("description").and_then(Value::as_str);
    Some(codegen::Tool {
        name: raw.get("name")?.as_str()?.to_owned(),
        description: description.map(str::to_owned),
        input_schema: raw.get("inputSchema").cloned().unwrap_or(Value::Bool(true)),
        output_schema: raw.get("outputSchema").cloned(),
        answers: codegen::Answers::default(),
    })
}

/// A BLAKE3 hash as 64 hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolList, as_declared, for_snippets};

    #[test]
    fn a_list_is_stored_and_damage_is_detected() {
        let list = ToolList::new(&[json!({ "name": "a", "inputSchema": {} })]);
        let mut record = list.record();
        let stored = ToolList::from_record(record.clone()).unwrap();
        assert_eq!(stored, list);
        assert!(stored.tools().eq(list.tools()));
        *record.last_mut().unwrap() = b' ';
        assert!(ToolList::from_record(record).is_none());
        assert!(ToolList::from_record(Vec::new()).is_none());
        assert_ne!(list, ToolList::new(&[]));
    }

    #[test]
    fn tools_are_found_by_their_names() {
        let tools =
            [json!({ "name": "a", "x": "\u{1f600}" }), json!({ "title": "b" }), json!({ "name": "\"c\"" })];
        let list = ToolList::new(&tools);
        assert!(list.names().eq(["a", "\"c\""]));
        assert!(list.tools().eq([tools[0].clone(), tools[2].clone()]));
        assert_eq!(list.tool("\"c\"").as_ref(), Some(&tools[2]));
        assert!(list.has("a") && !list.has("b") && list.tool("b").is_none());
    }

    #[test]
    fn tools_for_apps_are_listed_and_not_for_snippets() {
        let shown = json!({ "name": "a", "_meta": { "ui": { "visibility": ["model", "app"] } } });
        let hidden = json!({ "name": "b", "_meta": { "ui": { "visibility": ["app"] } } });
        let list = ToolList::new(&[shown.clone(), hidden.clone()]);
        assert!(list.names().eq(["a", "b"]) && list.for_apps().eq(["b"]));
        assert!(list.is_for_apps("b") && !list.is_for_apps("a") && !list.is_for_apps("c"));
        assert!(for_snippets(&shown).is_some() && for_snippets(&hidden).is_none());
        assert!(as_declared(&hidden).is_some());
    }

    #[test]
    fn views_and_tasks_of_tools_are_known() {
        let list = ToolList::new(&[
            json!({ "name": "a", "_meta": { "ui": { "resourceUri": "ui://a", "visibility": ["app"] } } }),
            json!({ "name": "b", "_meta": { "ui/resourceUri": "ui://b" }, "execution": { "taskSupport": "required" } }),
            json!({ "name": "c", "_meta": { "ui": { "resourceUri": "https://c.example" } }, "execution": 1 }),
        ]);
        assert!(list.views().eq([("a", "ui://a"), ("b", "ui://b")]));
        assert!(list.runs_only_as_task("b") && !list.runs_only_as_task("c") && !list.runs_only_as_task("d"));
    }

    #[test]
    fn a_tool_has_only_what_it_declares() {
        let tool = as_declared(&json!({ "name": "a", "description": 1, "outputSchema": {} })).unwrap();
        assert_eq!((tool.name.as_str(), tool.description), ("a", None));
        assert_eq!((tool.input_schema, tool.output_schema), (json!(true), Some(json!({}))));
        assert_eq!(tool.answers, codegen::Answers::default());
        assert_eq!(as_declared(&json!({ "inputSchema": {} })), None);
    }
}
