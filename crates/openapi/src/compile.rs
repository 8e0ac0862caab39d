//! A document as a list of tools, within the bounds of lists.

use std::collections::{HashMap, HashSet};

use oas3::spec::SecurityScheme;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::error::Error;
use crate::operation::{Operation, Untyped, operations};
use crate::render::{Direction, Measured, Selection, render, select};
use crate::schema::{Pool, shortened};

/// Room for all tools together, in bytes: the bound of a server's list, with a reserve for names and texts.
const ROOM: usize = mcp::MAX_LISTING_BYTES / 8 * 7;

/// The most and the least room for the schema of a single tool in one direction, in bytes.
const MOST: usize = mcp::MAX_TOOL_BYTES / 4;
const LEAST: usize = 256;

/// Maximum length of a tool's description, in bytes.
const MAX_DESCRIPTION: usize = 1000;

/// Maximum length of a title, in bytes.
const MAX_TITLE: usize = 120;

/// Limit on the warnings that a server's instructions quote.
const MAX_WARNINGS: usize = 5;

/// A document that can be called.
pub struct Compiled {
    /// The result of `tools/list`.
    pub(crate) list: Box<RawValue>,
    pub(crate) operations: HashMap<String, Operation>,
    pub(crate) title: String,
    pub(crate) version: String,
    pub(crate) instructions: String,
    /// The servers of the document, the preferred one first.
    pub(crate) servers: Vec<oas3::spec::Server>,
    /// The kinds of credentials that the document declares, by name.
    pub(crate) security: Vec<(String, SecurityScheme)>,
    /// How far the types of the tools go.
    pub report: Report,
}

impl Compiled {
    /// The tools, as in the result of `tools/list`.
    #[must_use]
    pub fn list(&self) -> &RawValue {
        &self.list
    }
}

/// How far the types of a document's tools go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The operations that are tools.
    pub operations: usize,
    /// Tools whose arguments have whole types.
    pub inputs: usize,
    /// Tools whose arguments have types whose farthest parts accept any value, because there was no room.
    pub partial_inputs: usize,
    /// Tools whose answers have whole types.
    pub outputs: usize,
    /// Tools whose answers have types whose farthest parts are any value.
    pub partial_outputs: usize,
    /// Tools whose answers have no body, and so no type.
    pub no_body: usize,
    /// Tools whose answers are not JSON, and so have no type.
    pub not_json: usize,
    /// Tools whose answers have no schema in the document, and so no type.
    pub no_schema: usize,
    /// Operations that are left out, with the reason.
    pub left_out: Vec<String>,
}

/// Compiles a document.
///
/// `configured` are the names of headers that every request has, and `admits` says which tools may be used: the others
/// are listed without the details of their schemas, so that those that are used have more room.
///
/// # Errors
/// If the text is not an OpenAPI document of a supported version, or refers to another document.
pub fn compile(
    text: &str,
    configured: &HashSet<String>,
    admits: &dyn Fn(&str) -> bool,
) -> Result<Compiled, Error> {
    let document = Document::read(text)?;
    let mut pool = Pool::new(&document);
    let mut found = operations(&document, &mut pool, configured)?;
    let mut report = Report {
        operations: found.all.len(),
        left_out: std::mem::take(&mut found.warnings),
        ..Report::default()
    };
    let measured: Vec<Tool<'_>> = found.all.iter().map(|operation| Tool::new(operation, admits)).collect();
    let room = room(&pool, &measured);
    let tools: Vec<Value> = measured.iter().map(|tool| tool.rendered(&pool, room, &mut report)).collect();
    for operation in &mut found.all {
        // They are in the list now.
        (operation.input, operation.output) = (Value::Null, Err(Untyped::NoSchema));
    }
    let info = &document.root["info"];
    let text = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
    let list = to_raw_value(&json!({ "tools": tools })).map_err(|error| Error::Syntax(error.to_string()))?;
    let servers = document.root["servers"].as_array().into_iter().flatten();
    let schemes = document.root["components"]["securitySchemes"].as_object().into_iter().flatten();
    Ok(Compiled {
        list,
        title: text("title"),
        version: text("version"),
        instructions: instructions(&text("description"), &report.left_out),
        servers: servers.filter_map(|server| serde_json::from_value(server.clone()).ok()).collect(),
        security: schemes
            .filter_map(|(name, scheme)| Some((name.clone(), security(&document, scheme)?)))
            .collect(),
        operations: found.all.into_iter().map(|operation| (operation.name.clone(), operation)).collect(),
        report,
    })
}

fn security(document: &Document, scheme: &Value) -> Option<SecurityScheme> {
    serde_json::from_value(document.resolved(scheme).ok()?.clone()).ok()
}

impl Report {
    fn count(&mut self, sent: &Selection, received: Option<&Selection>, operation: &Operation) {
        let counted = match sent.is_whole {
            true => &mut self.inputs,
            false => &mut self.partial_inputs,
        };
        *counted += 1;
        let counted = match (&operation.output, received) {
            (Err(Untyped::NoBody), _) => &mut self.no_body,
            (Err(Untyped::NotJson), _) => &mut self.not_json,
            (Err(Untyped::NoSchema), _) | (Ok(_), None) => &mut self.no_schema,
            (Ok(_), Some(selection)) if selection.is_whole => &mut self.outputs,
            (Ok(_), Some(_)) => &mut self.partial_outputs,
        };
        *counted += 1;
    }
}

/// An operation on its way into the list.
struct Tool<'a> {
    operation: &'a Operation,
    input: Measured<'a>,
    output: Option<Measured<'a>>,
    is_admitted: bool,
}

impl<'a> Tool<'a> {
    fn new(operation: &'a Operation, admits: &dyn Fn(&str) -> bool) -> Self {
        let output = operation.output.as_ref().ok().map(Measured::of);
        let is_admitted = admits(&operation.name);
        Tool { operation, input: Measured::of(&operation.input), output, is_admitted }
    }

    /// The room for each of its schemas.
    fn room(&self, room: usize) -> usize {
        if self.is_admitted { room } else { 0 }
    }

    /// Its length, if each schema has this room.
    fn bytes(&self, pool: &Pool<'_>, room: usize) -> usize {
        let room = self.room(room);
        let output = self.output.as_ref().map_or(0, |schema| select(pool, schema, room).bytes);
        texts(self.operation) + select(pool, &self.input, room).bytes + output
    }

    fn rendered(&self, pool: &Pool<'_>, room: usize, report: &mut Report) -> Value {
        let room = self.room(room);
        let sent = select(pool, &self.input, room);
        let received = self.output.as_ref().map(|schema| (schema, select(pool, schema, room)));
        report.count(&sent, received.as_ref().map(|(_, selection)| selection), self.operation);
        let input = render(pool, self.input.schema, &sent, Direction::Request);
        let output =
            received.map(|(schema, selection)| render(pool, schema.schema, &selection, Direction::Answer));
        tool(self.operation, input, output)
    }
}

/// The room for each schema with which all tools together fit into the list: halved until they do.
fn room(pool: &Pool<'_>, tools: &[Tool<'_>]) -> usize {
    let mut room = MOST;
    while room > LEAST && tools.iter().map(|tool| tool.bytes(pool, room)).sum::<usize>() > ROOM {
        room /= 2;
    }
    room
}

/// The length of a tool without its schemas, at most.
fn texts(operation: &Operation) -> usize {
    /// The names of members, and annotations.
    const FORM: usize = 300;
    let tags: usize = operation.tags.iter().map(String::len).sum();
    let described = operation.summary.len() + operation.description.len();
    FORM + 2 * operation.name.len() + operation.path.len() + tags + described.min(MAX_DESCRIPTION + MAX_TITLE)
}

fn tool(operation: &Operation, input: Value, output: Option<Value>) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), operation.name.clone().into());
    if !operation.summary.trim().is_empty() {
        tool.insert("title".to_owned(), shortened(&operation.summary, MAX_TITLE).into());
    }
    tool.insert("description".to_owned(), description(operation).into());
    tool.insert("inputSchema".to_owned(), input);
    if let Some(output) = output {
        tool.insert("outputSchema".to_owned(), output);
    }
    tool.insert("annotations".to_owned(), annotations(&operation.method));
    Value::Object(tool)
}

/// The text that a model reads and searches: summary, description, the request, and the tags as its groups.
fn description(operation: &Operation) -> String {
    let mut text = operation.summary.trim().to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    let more = operation.description.trim();
    if !more.is_empty() && more.trim_end_matches('.') != text.trim_end_matches('.') {
        text = format!("{text}\n\n{more}").trim().to_owned();
    }
    let mut text = shortened(&text, MAX_DESCRIPTION);
    if operation.is_deprecated {
        text = format!("Deprecated. {text}");
    }
    let tags = match operation.tags.join(", ") {
        tags if tags.is_empty() => String::new(),
        tags => format!(" [{tags}]"),
    };
    format!("{text}\n\n{} {}{tags}", operation.method, operation.path).trim().to_owned()
}

/// The annotations by the method and its effects (RFC 9110, section 9.2).
fn annotations(method: &str) -> Value {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" => json!({ "readOnlyHint": true, "idempotentHint": true }),
        "PUT" | "DELETE" => json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true }),
        _ => json!({ "readOnlyHint": false, "idempotentHint": false }),
    }
}

fn instructions(description: &str, left_out: &[String]) -> String {
    let mut text = shortened(description, MAX_DESCRIPTION);
    if !left_out.is_empty() {
        let first: Vec<&str> = left_out.iter().take(MAX_WARNINGS).map(String::as_str).collect();
        text =
            format!("{text}\n\nOperations that are not available: {}: {}", left_out.len(), first.join("; "));
    }
    text.trim().to_owned()
}
