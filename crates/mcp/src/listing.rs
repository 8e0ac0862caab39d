//! Tool lists: reads a server's response tool by tool, so that one malformed tool does not lose the others.
//!
//! Everything here comes from the server and is untrusted. The session requests the pages; the caller chooses among the
//! tools.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::text::shown;

/// Limit on the pages of a list.
pub const MAX_PAGES: usize = 64;

/// Limit on the tools of a server.
pub const MAX_TOOLS: usize = 4096;

/// Maximum size of one tool's JSON, in bytes. The largest one seen among 345 tools of 18 servers has 13 KB.
pub const MAX_TOOL_BYTES: usize = 256 * 1024;

/// Maximum size of all tools of a server together, in bytes. The largest list seen has 115 KB.
pub const MAX_LISTING_BYTES: usize = 3 * 1024 * 1024;

/// Maximum length of a tool's name, in bytes. The specification recommends at most 128 characters.
pub const MAX_TOOL_NAME_BYTES: usize = 256;

/// Limit on warnings; a last one says how many were left out.
const MAX_WARNINGS: usize = 100;

/// Maximum length of a quote from the server in a warning, in bytes.
const QUOTED_BYTES: usize = 80;

/// One tool as described by its server. All of it is untrusted: text and schemas.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name used in calls; not necessarily an identifier, unique within the listing.
    pub name: String,
    /// Kept as text: parsed, a tool takes about eight times the memory.
    definition: Box<RawValue>,
}

impl PartialEq for Tool {
    /// The order of members does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.definition.get() == other.definition.get() || self.definition() == other.definition()
    }
}

/// The tools of a server, in its order, and the problems found in its list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The usable tools.
    pub tools: Vec<Tool>,
    /// The parts that were left out or replaced, with reasons; one sentence each.
    pub warnings: Vec<String>,
    /// The text that it was read from, if that was one page of a session.
    pub page: Option<PageDigest>,
}

/// Distinguishes the texts of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageDigest(blake3::Hash);

impl PageDigest {
    pub(crate) fn of(page: &RawValue) -> Self {
        PageDigest(blake3::hash(page.get().as_bytes()))
    }
}

/// An error in a list of tools as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListingError {
    /// The text is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The JSON is not MCP's `ListToolsResult`.
    #[error("the answer to `tools/list` is not a ListToolsResult: {0}")]
    NotAList(#[source] serde_json::Error),
}

/// Builds a listing from pages, within the limits.
#[derive(Default)]
pub(crate) struct Collector {
    listing: Listing,
    names: HashSet<String>,
    cursors: Cursors,
    bytes: usize,
    warnings_dropped: usize,
}

/// The reason why a list ends early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CursorError {
    #[error(
        "`nextCursor` of the server's {list} list is not a string on page {page}; the pages up to there are kept"
    )]
    NotAString { list: String, page: usize },
    #[error(
        "the server's {list} list repeats a cursor: page {page} points back to an earlier page; the pages up to there \
         are kept"
    )]
    Repeated { list: String, page: usize },
    #[error("the server's {list} list has more than {MAX_PAGES} pages; the rest was not requested")]
    TooManyPages { list: String },
}

/// The pages of a list so far.
#[derive(Default)]
pub(crate) struct Cursors {
    seen: HashSet<String>,
    pages: usize,
}

impl Cursors {
    /// Returns the cursor of the next page, if there is one.
    pub(crate) fn next(&mut self, cursor: Option<Value>, list: &str) -> Result<Option<String>, CursorError> {
        self.pages += 1;
        let list = list.to_owned();
        let page = self.pages;
        let cursor = match cursor {
            None | Some(Value::Null) => return Ok(None),
            // Many servers send an empty cursor at the end.
            Some(Value::String(cursor)) if cursor.is_empty() => return Ok(None),
            Some(Value::String(cursor)) => cursor,
            Some(_) => return Err(CursorError::NotAString { list, page }),
        };
        if !self.seen.insert(cursor.clone()) {
            return Err(CursorError::Repeated { list, page });
        }
        if page >= MAX_PAGES {
            return Err(CursorError::TooManyPages { list });
        }
        Ok(Some(cursor))
    }
}

/// The step after a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Page(String),
    Done,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default, borrow, rename = "nextCursor")]
    next_cursor: Option<&'a RawValue>,
}

impl Tool {
    /// The tool as its server sent it, but `inputSchema` and `outputSchema` are objects: without a usable input schema,
    /// any arguments are accepted; an unusable output schema is left out.
    #[must_use]
    pub fn definition(&self) -> Value {
        // The text was written by `read_tool`.
        serde_json::from_str(self.json()).unwrap_or_default()
    }

    /// The definition as compact JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.definition.get()
    }
}

impl Listing {
    /// Reads a saved response to `tools/list`: the result, the whole JSON-RPC response, or the bare array of tools.
    ///
    /// # Errors
    /// Returns an error if the text as a whole is invalid. An unusable tool is left out with a warning.
    pub fn from_saved(text: &str) -> Result<Self, ListingError> {
        #[derive(Deserialize)]
        struct Response<'a> {
            #[serde(borrow)]
            result: Option<&'a RawValue>,
        }
        let text: &str = &strict_json::whole_characters(strict_json::without_mark(text));
        let wrapped = text.trim_start().starts_with('[').then(|| format!("{{\"tools\":{text}}}"));
        let whole: &RawValue =
            serde_json::from_str(wrapped.as_deref().unwrap_or(text)).map_err(ListingError::NotJson)?;
        let response: Result<Response<'_>, _> = serde_json::from_str(whole.get());
        let page = response.ok().and_then(|response| response.result).unwrap_or(whole);
        let mut collector = Collector::default();
        if let Next::Page(_) = collector.add_page(page)? {
            collector
                .warn("the saved list is only one page of several: `nextCursor` names the next".to_owned());
        }
        Ok(collector.finish())
    }
}

impl Collector {
    /// Adds one `ListToolsResult`. Fails if the page as a whole is invalid.
    pub(crate) fn add_page(&mut self, page: &RawValue) -> Result<Next, ListingError> {
        let page: Page<'_> = serde_json::from_str(page.get()).map_err(ListingError::NotAList)?;
        for tool in page.tools {
            if !self.has_room(tool) {
                return Ok(Next::Done);
            }
            self.add_tool(tool);
        }
        // A cursor that can't be parsed counts as neither absent nor a string.
        let cursor =
            page.next_cursor.map(|cursor| serde_json::from_str(cursor.get()).unwrap_or(Value::Bool(false)));
        match self.cursors.next(cursor, "tool") {
            Ok(Some(cursor)) => Ok(Next::Page(cursor)),
            Ok(None) => Ok(Next::Done),
            Err(warning) => {
                self.warn(warning.to_string());
                Ok(Next::Done)
            }
        }
    }

    pub(crate) fn finish(mut self) -> Listing {
        if self.warnings_dropped > 0 {
            let dropped = self.warnings_dropped;
            self.listing.warnings.push(format!("{dropped} further warnings are left out"));
        }
        self.listing
    }

    /// Records the text of the only page.
    pub(crate) fn read_from(&mut self, page: PageDigest) {
        self.listing.page = Some(page);
    }

    pub(crate) fn warn(&mut self, warning: String) {
        if self.listing.warnings.contains(&warning) {
            return;
        }
        if self.listing.warnings.len() < MAX_WARNINGS {
            self.listing.warnings.push(warning);
        } else {
            self.warnings_dropped += 1;
        }
    }

    fn has_room(&mut self, tool: &RawValue) -> bool {
        self.bytes += tool.get().len();
        if self.listing.tools.len() < MAX_TOOLS && self.bytes <= MAX_LISTING_BYTES {
            return true;
        }
        self.warn(format!(
            "the server offers more than {MAX_TOOLS} tools or {MAX_LISTING_BYTES} bytes of them; the rest is left out"
        ));
        false
    }

    fn add_tool(&mut self, raw: &RawValue) {
        match read_tool(raw) {
            Ok((tool, _)) if self.names.contains(&tool.name) => {
                let name = shown(&tool.name, QUOTED_BYTES);
                self.warn(format!("tool `{name}` is listed more than once; the first one is kept"));
            }
            Ok((tool, warnings)) => {
                self.names.insert(tool.name.clone());
                for warning in warnings {
                    let name = shown(&tool.name, QUOTED_BYTES);
                    self.warn(format!("tool `{name}`: {warning}"));
                }
                self.listing.tools.push(tool);
            }
            Err(reason) => self.warn(format!("a tool was left out: {reason}")),
        }
    }
}

/// The reason why a tool of a list can't be used, with its beginning.
#[derive(Debug, thiserror::Error)]
enum UnusableTool {
    #[error("it has more than {MAX_TOOL_BYTES} bytes and starts with {0}")]
    TooLarge(String),
    #[error("it is not a valid JSON object ({1}): {0}")]
    Malformed(String, strict_json::Error),
    #[error("it has no name of 1 to {MAX_TOOL_NAME_BYTES} bytes: {0}")]
    Unnamed(String),
    #[error("{1}: {0}")]
    Unwritable(String, serde_json::Error),
}

/// Reads one tool. Fails if it cannot be used; a warning says what was replaced.
fn read_tool(raw: &RawValue) -> Result<(Tool, Vec<&'static str>), UnusableTool> {
    // Only for errors: for a thousand tools, it takes as long as reading them.
    let start = || shown(raw.get(), QUOTED_BYTES);
    if raw.get().len() > MAX_TOOL_BYTES {
        return Err(UnusableTool::TooLarge(start()));
    }
    // Displaying, hashing, compiling and checking all use this one reading.
    let mut members: Map<String, Value> =
        strict_json::from_str(raw.get()).map_err(|error| UnusableTool::Malformed(start(), error))?;
    let name = match members.get("name") {
        Some(Value::String(name)) if !name.is_empty() && name.len() <= MAX_TOOL_NAME_BYTES => name.clone(),
        _ => return Err(UnusableTool::Unnamed(start())),
    };
    let warnings = repair(&mut members);
    let definition = to_raw_value(&members).map_err(|error| UnusableTool::Unwritable(start(), error))?;
    Ok((Tool { name, definition }, warnings))
}

/// Replaces schemas that are not objects, and returns a warning about each member that will not be used as it was sent.
fn repair(members: &mut Map<String, Value>) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    let mut check = |members: &Map<String, Value>, name: &str, fits: fn(&Value) -> bool, warning| {
        let is_unfit = members.get(name).is_some_and(|value| !value.is_null() && !fits(value));
        warnings.extend(is_unfit.then_some(warning));
    };
    check(members, "title", Value::is_string, "`title` is not a string and was dropped");
    check(members, "description", Value::is_string, "`description` is not a string and was dropped");
    check(members, "outputSchema", Value::is_object, "`outputSchema` is not an object and was dropped");
    check(members, "annotations", Value::is_object, "`annotations` is not an object and was dropped");
    if !members.get("outputSchema").is_some_and(Value::is_object) {
        members.shift_remove("outputSchema");
    }
    if !members.get("inputSchema").is_some_and(Value::is_object) {
        warnings.push("`inputSchema` is missing or not an object; any arguments are accepted here");
        members.insert("inputSchema".to_owned(), json!({ "type": "object", "additionalProperties": true }));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    #[test]
    fn malformed_tools_are_left_out_or_repaired_and_the_rest_is_kept() {
        let schema = json!({ "type": "object" });
        let mut collector = Collector::default();
        let next = collector.add_page(&page(&json!({ "tools": [
            { "name": "good", "inputSchema": schema, "outputSchema": schema, "annotations": { "readOnlyHint": "yes" }, "execution": { "taskSupport": "optional" } },
            { "inputSchema": schema },
            7,
            { "name": "no_schema", "title": 3 },
            { "name": "true_output", "inputSchema": schema, "outputSchema": true },
            { "name": "good", "inputSchema": { "type": "object", "title": "again" } },
            { "name": "huge", "description": "x".repeat(MAX_TOOL_BYTES), "inputSchema": schema },
        ] }))).unwrap();
        assert_eq!(next, Next::Done);
        let listing = collector.finish();
        let names: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "no_schema", "true_output"]);
        let tools: Vec<Value> = listing.tools.iter().map(Tool::definition).collect();
        assert_eq!(tools[0]["execution"]["taskSupport"], "optional");
        assert_eq!(tools[0]["annotations"], json!({ "readOnlyHint": "yes" }));
        assert_eq!(tools[1]["inputSchema"], json!({ "type": "object", "additionalProperties": true }));
        assert_eq!(tools[2].get("outputSchema"), None);
        assert_eq!(listing.warnings.len(), 7, "{:#?}", listing.warnings);
    }

    #[test]
    fn saved_lists_are_read_in_three_forms() {
        let tools = r#"[{ "name": "a", "inputSchema": { "type": "object" } }, 7]"#;
        let result = format!("{{ \"tools\": {tools} }}");
        let response = format!("\u{feff} {{ \"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {result} }}");
        for text in [tools, &result, &response] {
            let listing = Listing::from_saved(text).unwrap();
            assert_eq!((listing.tools[0].name.as_str(), listing.warnings.len()), ("a", 1), "{text}");
        }
        let page = Listing::from_saved(r#"{ "tools": [], "nextCursor": "2" }"#).unwrap();
        assert_eq!(page.warnings.len(), 1);
        for text in ["", "{", "7", "{}", "[[", r#"{ "result": 7 }"#] {
            assert!(Listing::from_saved(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn tools_with_duplicate_members_are_left_out() {
        for twice in [
            r#"{"name":"a","name":"b","inputSchema":{}}"#,
            r#"{"name":"a","inputSchema":{"type":"object"},"inputSch\u0065ma":{}}"#,
            r#"{"name":"a","inputSchema":{"properties":{"x":{"type":"string"},"x":{"type":"number"}}}}"#,
            r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true,"readOnlyHint":false}}"#,
        ] {
            let list = format!(r#"[{twice},{{"name":"sound","inputSchema":{{}}}}]"#);
            let listing = Listing::from_saved(&list).unwrap();
            let names: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["sound"], "{twice}");
            assert!(listing.warnings[0].contains("appears twice"), "{:?}", listing.warnings);
        }
        assert!(Listing::from_saved(r#"{"tools":[],"tools":[]}"#).is_err());
        assert!(Listing::from_saved(r#"{"result":{"tools":[]},"result":{"tools":[]}}"#).is_err());
    }

    /// Names are compared byte by byte: the two forms are two tools, each with its own entry.
    #[test]
    fn names_in_two_unicode_forms_are_two_tools() {
        let list = "[{\"name\":\"\u{e9}\",\"inputSchema\":{}},{\"name\":\"e\u{301}\",\"inputSchema\":{}}]";
        assert_eq!(Listing::from_saved(list).unwrap().tools.len(), 2);
    }

    #[test]
    fn endless_lists_end() {
        let mut collector = Collector::default();
        let endless = |number: usize| page(&json!({ "tools": [], "nextCursor": number.to_string() }));
        for number in 1..MAX_PAGES {
            assert_eq!(collector.add_page(&endless(number)).unwrap(), Next::Page(number.to_string()));
        }
        assert_eq!(collector.add_page(&endless(MAX_PAGES)).unwrap(), Next::Done);
        assert_eq!(collector.finish().warnings.len(), 1);

        let mut collector = Collector::default();
        assert_eq!(collector.add_page(&endless(1)).unwrap(), Next::Page("1".to_owned()));
        assert_eq!(collector.add_page(&endless(1)).unwrap(), Next::Done);
        assert_eq!(collector.finish().warnings.len(), 1);
    }

    #[test]
    fn too_many_tools_are_cut_off() {
        let mut collector = Collector::default();
        let tools: Vec<_> = (0..=MAX_TOOLS)
            .map(|number| json!({ "name": format!("tool_{number}"), "inputSchema": {} }))
            .collect();
        let page = page(&json!({ "tools": tools, "nextCursor": "more" }));
        assert_eq!(collector.add_page(&page).unwrap(), Next::Done);
        let listing = collector.finish();
        assert_eq!(listing.tools.len(), MAX_TOOLS);
        assert_eq!(listing.warnings.len(), 1);
    }
}
