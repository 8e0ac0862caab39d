//! The tools of a server with all names and types decided: what code and signatures are written from.

mod draft;
mod shape;

use serde_json::{Value, json};

use crate::form::{Kind, Note};
use crate::identity::{canonical, identity};
use crate::names::{Namespace, assign, camel, snake};
use crate::report::Fallback;
use crate::typing::{FieldType, types};
use crate::{Server, Tool, Warning, tokens};
use draft::Draft;

/// The tools of a server, sorted by name.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) server: String,
    pub(crate) tools: Vec<ToolModel>,
    pub(crate) warnings: Vec<Warning>,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct ToolModel {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) function: String,
    pub(crate) id: String,
    /// What the names of its types begin with.
    pub(crate) prefix: String,
    /// Its types by the index that [`FieldType::Named`] holds; none for those that nothing leads to.
    pub(crate) types: Vec<Option<TypeModel>>,
    /// The type of the input.
    pub(crate) input: usize,
    pub(crate) output: Output,
    /// Whether the output was inferred from answers.
    pub(crate) observed: bool,
    /// How many places of the schemas want a type.
    pub(crate) places: usize,
    /// Those that became plain values.
    pub(crate) fallbacks: Vec<Fallback>,
    /// The tool as its server describes it, in tokens.
    pub(crate) schema_tokens: usize,
}

/// What a tool answers with.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// `bridge::ToolResult`: the tool doesn't say.
    Untyped,
    /// One of its types, by the index.
    Type,
    /// Another type, which gets a name as an alias.
    Alias(FieldType),
}

/// A type of our own.
#[derive(Debug)]
pub(crate) struct TypeModel {
    pub(crate) name: String,
    /// What the schema says of the type itself.
    pub(crate) description: Option<String>,
    pub(crate) shape: Shape,
    /// Whether the input holds it, or is it.
    pub(crate) sent: bool,
    /// Whether the output holds it, or is it.
    pub(crate) received: bool,
    /// Whether another type holds it.
    pub(crate) held: bool,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Struct(StructModel),
    /// An enum of texts: variants with their texts. `other` is the variant for all other texts.
    Texts {
        variants: Vec<(String, String)>,
        other: Option<String>,
    },
    /// An enum of objects with a tag: variant, tag and type.
    Tagged {
        tag: String,
        variants: Vec<(String, String, FieldType)>,
        other: Option<String>,
    },
    /// An enum by the JSON type of the value.
    Kinds {
        variants: Vec<(String, Kind, FieldType)>,
        other: Option<String>,
    },
    /// A struct around one value that is the whole input.
    Whole,
}

#[derive(Debug, Default)]
pub(crate) struct StructModel {
    pub(crate) fields: Vec<FieldModel>,
    pub(crate) constants: Vec<(String, Value)>,
    /// Name and type of the field for all others.
    pub(crate) extra: Option<(String, FieldType)>,
}

impl StructModel {
    /// Whether nothing is in it, not even what is sent always.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.constants.is_empty() && self.extra.is_none()
    }
}

#[derive(Debug)]
pub(crate) struct FieldModel {
    /// The name in JSON.
    pub(crate) key: String,
    /// The name in Rust.
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) field_type: FieldType,
    pub(crate) note: Note,
}

impl ToolModel {
    /// The type that [`FieldType::Named`] means.
    pub(crate) fn type_name(&self, index: usize) -> &str {
        self.types.get(index).and_then(Option::as_ref).map_or("", |found| found.name.as_str())
    }

    /// The input, if it has fields.
    pub(crate) fn input_fields(&self) -> Option<&StructModel> {
        match self.types.get(self.input).and_then(Option::as_ref).map(|found| &found.shape) {
            Some(Shape::Struct(fields)) => Some(fields),
            _ => None,
        }
    }
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

/// The tools sorted by name; of those with one name the first.
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
            let reason = "the server lists several tools of this name; one is used".to_owned();
            warnings.push(Warning { tool: tool.name.clone(), path: String::new(), reason });
        } else {
            distinct.push(tool);
        }
    }
    distinct
}

/// What the names of a tool's types begin with; takes the three names that every tool has.
fn prefix(function: &str, namespace: &mut Namespace) -> String {
    let wanted = camel(function);
    let mut number = 1_u64;
    loop {
        let prefix = match number {
            1 => wanted.clone(),
            number => format!("{wanted}{number}"),
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

/// What the tool takes in the context of a model that reads its schemas as they are.
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
