//! The tools of a server with all names and types decided. Code and signatures are written from this.

mod accessor;
mod draft;
mod shape;
mod tool;

use serde_json::{Value, json};

use crate::identity::{canonical, identity};
use crate::names::{Namespace, assign, camel, snake};
use crate::typing::types;
use crate::{Server, Tool, Warning, tokens};
use draft::Draft;
pub(crate) use accessor::{Accessor, Source, accessors};
pub(crate) use shape::{FieldModel, Shape, StructModel, TypeModel};
pub(crate) use tool::{Output, ToolModel};

/// The tools of a server, sorted by name.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) server: String,
    pub(crate) tools: Vec<ToolModel>,
    pub(crate) warnings: Vec<Warning>,
}

impl Model {
    pub(crate) fn new(server: &Server) -> Self {
        let mut warnings = Vec::new();
        let tools = distinct(&server.tools, &mut warnings);
        let mut functions = Namespace::default();
        let functions = assign(tools.iter().map(|tool| tool.name.as_str()), &mut functions, snake);
        let mut namespace = Namespace::of_types();
        let mut drafts = Vec::new();
        for tool in tools {
            let function = functions.get(&tool.name).cloned().unwrap_or_default();
            let prefix = prefix(&function, &mut namespace);
            let draft = Draft::new(tool, &types, &mut warnings);
            drafts.push((tool, function, prefix, draft));
        }
        let finish = |(tool, function, prefix, draft): (&Tool, String, String, Draft)| ToolModel {
            name: tool.name.clone(),
            description: tool.description.clone(),
            function,
            id: identity(&server.name, tool),
            types: draft.name(&prefix, &mut namespace),
            prefix,
            input: draft.input(),
            output: draft.output,
            observed: tool.observed,
            places: draft.places,
            fallbacks: draft.fallbacks,
            schema_tokens: schema_tokens(tool),
        };
        Model { server: server.name.clone(), tools: drafts.into_iter().map(finish).collect(), warnings }
    }
}

/// The tools sorted by name. Of several with one name, only the first.
pub(crate) fn distinct<'a>(tools: &'a [Tool], warnings: &mut Vec<Warning>) -> Vec<&'a Tool> {
    let mut sorted: Vec<&Tool> = tools.iter().collect();
    let key = |tool: &Tool| {
        let schemas = (canonical(&tool.input_schema), tool.output_schema.as_ref().map(canonical));
        (tool.name.clone(), schemas, tool.description.clone(), tool.observed)
    };
    sorted.sort_by_cached_key(|tool| key(tool));
    let mut distinct: Vec<&Tool> = Vec::new();
    for tool in sorted {
        if distinct.last().is_some_and(|last| last.name == tool.name) {
            let reason = "the server lists several tools of this name; only one is used".to_owned();
            warnings.push(Warning { tool: tool.name.clone(), path: String::new(), reason });
        } else {
            distinct.push(tool);
        }
    }
    distinct
}

/// The prefix of a tool's type names. Takes the three names that every tool has.
fn prefix(function: &str, namespace: &mut Namespace) -> String {
    let base = camel(function);
    let mut number = 1_u64;
    loop {
        let prefix = match number {
            1 => base.clone(),
            number => format!("{base}{number}"),
        };
        let names = ["Input", "Output", "Call"].map(|part| format!("{prefix}{part}"));
        if names.iter().all(|name| namespace.is_free(name)) {
            for name in names {
                namespace.take(&name);
            }
            return prefix;
        }
        number += 1;
    }
}

/// Number of tokens of the tool for a model that reads its schemas unchanged.
fn schema_tokens(tool: &Tool) -> usize {
    let mut shown = json!({ "name": tool.name, "inputSchema": tool.input_schema });
    let output = tool.output_schema.as_ref().filter(|_| !tool.observed);
    let description = tool.description.as_ref().map(|text| Value::from(text.as_str()));
    for (key, value) in [("description", description), ("outputSchema", output.cloned())] {
        if let (Some(value), Some(shown)) = (value, shown.as_object_mut()) {
            shown.insert(key.to_owned(), value);
        }
    }
    tokens(&shown.to_string())
}
