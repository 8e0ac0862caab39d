//! The tools of a server with all names and types decided. Code and signatures are written from this.

mod accessor;
mod draft;
mod shape;
mod tool;
mod types;

use std::rc::Rc;

use serde_json::{Value, json};

use crate::identity::{canonical, identity};
use crate::names::{Namespace, assign, camel, snake};
use crate::typing::types;
use crate::{SchemaSource, Server, Tool, Warning, tokens};
pub(crate) use accessor::{Accessor, Source, accessors};
use draft::{Draft, named};
pub(crate) use shape::{ExtraModel, FieldModel, Shape, StructModel, TypeModel};
pub(crate) use tool::{Output, ToolModel};
pub(crate) use types::reachable;
use types::{Types, Unnamed};

/// The tools of a server, sorted by name.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) server: String,
    pub(crate) tools: Vec<ToolModel>,
    /// The types of all tools.
    pub(crate) types: Rc<Vec<TypeModel>>,
    pub(crate) warnings: Vec<Warning>,
}

impl Model {
    pub(crate) fn new(server: &Server) -> Self {
        let mut warnings = Vec::new();
        let tools = distinct(&server.tools, &mut warnings);
        let mut functions = Namespace::default();
        let functions = assign(tools.iter().map(|tool| tool.name.as_str()), &mut functions, snake);
        let mut namespace = Namespace::of_types();
        let mut unnamed = Vec::new();
        for tool in &tools {
            let function = functions.get(&tool.name).map_or("", String::as_str);
            let prefix = prefix(function, &mut namespace);
            let draft = Draft::new(tool, &types, &mut warnings);
            unnamed.push(Unnamed { name: &tool.name, prefix, draft });
        }
        let resolved = Types::new(&unnamed, &mut namespace);
        let names = resolved.names_by_tool(&unnamed, &mut namespace);
        let outputs = unnamed.iter().enumerate().map(|(number, tool)| match &tool.draft.output {
            Output::Untyped => Output::Untyped,
            Output::Type(index) => Output::Type(resolved.index(number, *index).unwrap_or_default()),
            Output::Alias(alias) => Output::Alias(resolved.resolve(number, alias)),
        });
        let outputs: Vec<Output> = outputs.collect();
        let inputs = unnamed.iter().enumerate();
        let inputs =
            inputs.map(|(number, tool)| resolved.index(number, tool.draft.input()).unwrap_or_default());
        let inputs: Vec<usize> = inputs.collect();
        let uses = inputs
            .iter()
            .zip(&outputs)
            .map(|(input, output)| reachable(&resolved.models, &roots(*input, output)));
        let uses: Vec<Vec<usize>> = uses.collect();
        let types = Rc::new(resolved.models);
        let all = tools
            .into_iter()
            .zip(unnamed)
            .zip(inputs.into_iter().zip(outputs).zip(uses.into_iter().zip(names)));
        let tools =
            all.map(|((tool, Unnamed { prefix, draft, .. }), ((input, output), (uses, names)))| ToolModel {
                name: tool.name.clone(),
                description: tool.description.clone(),
                function: functions.get(&tool.name).cloned().unwrap_or_default(),
                id: identity(&server.name, tool),
                prefix,
                types: Rc::clone(&types),
                uses,
                names,
                input,
                output,
                answers: tool.answers.clone(),
                places: draft.places,
                fallbacks: draft.fallbacks,
                schema_tokens: schema_tokens(tool),
            });
        let tools = tools.collect();
        Model { server: server.name.clone(), tools, types: Rc::clone(&types), warnings }
    }
}

/// The types that a tool's calls name.
fn roots(input: usize, output: &Output) -> Vec<usize> {
    let mut roots = vec![input];
    match output {
        Output::Untyped => {}
        Output::Type(index) => roots.push(*index),
        Output::Alias(alias) => named(alias, &mut roots),
    }
    roots
}

/// The tools sorted by name. Of several with one name, only the first.
pub(crate) fn distinct<'a>(tools: &'a [Tool], warnings: &mut Vec<Warning>) -> Vec<&'a Tool> {
    let mut sorted: Vec<&Tool> = tools.iter().collect();
    sorted.sort_by_cached_key(|tool| {
        let schemas = (canonical(&tool.input_schema), tool.output_schema.as_ref().map(canonical));
        (tool.name.clone(), schemas, tool.description.clone(), tool.answers.clone())
    });
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
    let output = tool.output_schema.as_ref().filter(|_| tool.answers.source == SchemaSource::Declared);
    let description = tool.description.as_ref().map(|text| Value::from(text.as_str()));
    for (key, value) in [("description", description), ("outputSchema", output.cloned())] {
        if let (Some(value), Some(shown)) = (value, shown.as_object_mut()) {
            shown.insert(key.to_owned(), value);
        }
    }
    tokens(&shown.to_string())
}
