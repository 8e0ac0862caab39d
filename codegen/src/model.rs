//! The tools of a server with all names and types decided: what code and signatures are written from.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::form::{Body, Definition, Field, Form, Kind, Note, Struct};
use crate::identity::{canonical, identity};
use crate::names::{Namespace, assign, camel, snake};
use crate::normalise::{DEEPEST, Normalised, normalise};
use crate::share::share;
use crate::typing::{FieldType, types};
use crate::{Server, Tool, Warning};

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
            input: draft.normalised.input,
            output: draft.output,
        };
        Model { server: server.name.clone(), tools: drafts.into_iter().map(finish).collect(), warnings }
    }
}

/// The tools sorted by name; of those with one name the first.
fn distinct<'a>(tools: &'a [Tool], warnings: &mut Vec<Warning>) -> Vec<&'a Tool> {
    let mut sorted: Vec<&Tool> = tools.iter().collect();
    let key = |tool: &Tool| {
        (tool.name.clone(), canonical(&tool.input_schema), tool.output_schema.as_ref().map(canonical))
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

/// Where the types of members come from: [`types`].
type Typing<'a> = &'a dyn Fn(&[Definition]) -> Result<Vec<Vec<FieldType>>, String>;

/// A tool whose types have no names yet.
#[derive(Debug)]
struct Draft {
    normalised: Normalised,
    types: Vec<Vec<FieldType>>,
    output: Output,
    /// The definition of the output, where it is one.
    output_type: Option<usize>,
}

impl Draft {
    /// Reads the schemas; where no types come of them, again with all fields as plain values.
    fn new(tool: &Tool, types: Typing<'_>, warnings: &mut Vec<Warning>) -> Self {
        let mut warn = |path: String, reason: String| {
            warnings.push(Warning { tool: tool.name.clone(), path, reason });
        };
        let full = normalise(tool, DEEPEST);
        let found = full.warnings.clone();
        match Draft::typed(full, types) {
            Ok(draft) => {
                found.into_iter().for_each(|(path, reason)| warn(path, reason));
                draft
            }
            Err(reason) => {
                warn(String::new(), format!("all fields are plain values: {reason}"));
                Draft::typed(normalise(tool, 0), types).unwrap_or_else(|reason| {
                    warn(String::new(), format!("the whole tool takes a plain value: {reason}"));
                    Draft::whole(tool.output_schema.is_some())
                })
            }
        }
    }

    fn typed(mut normalised: Normalised, types: Typing<'_>) -> Result<Self, String> {
        share(&mut normalised);
        let mut definitions = normalised.definitions.clone();
        let output_type = match normalised.output {
            Some(Form::Named(index)) => Some(index),
            _ => None,
        };
        let alias = normalised.output.clone().filter(|_| output_type.is_none());
        definitions.extend(alias.map(wrapper));
        let mut types = types(&definitions)?;
        let alias = match types.len() > normalised.definitions.len() {
            true => types.pop().and_then(|mut members| members.pop()),
            false => None,
        };
        let output = match (alias, output_type) {
            (Some(field_type), _) => Output::Alias(field_type),
            (None, Some(_)) => Output::Type,
            (None, None) => Output::Untyped,
        };
        Ok(Draft { normalised, types, output, output_type })
    }

    fn whole(has_output: bool) -> Self {
        let definition = Definition { leaf: "Input".to_owned(), body: Body::Whole };
        let output = if has_output { Output::Alias(FieldType::Value) } else { Output::Untyped };
        let definitions = vec![definition];
        let normalised = Normalised { definitions, input: 0, output: None, warnings: Vec::new() };
        Draft { normalised, types: vec![vec![FieldType::Value]], output, output_type: None }
    }

    /// The types that input and output lead to, with names.
    fn name(&self, prefix: &str, namespace: &mut Namespace) -> Vec<Option<TypeModel>> {
        let mut output = BTreeSet::new();
        match (&self.output, self.output_type) {
            (_, Some(index)) => self.reach(index, &mut output),
            (Output::Alias(alias), _) => self.reach_type(alias, &mut output),
            _ => {}
        }
        let mut input = BTreeSet::new();
        self.reach(self.normalised.input, &mut input);
        let reached: BTreeSet<usize> = input.union(&output).copied().collect();
        let mut held = Vec::new();
        for index in &reached {
            self.types.get(*index).into_iter().flatten().for_each(|member| named(member, &mut held));
        }
        let definitions = self.normalised.definitions.iter().zip(&self.types).enumerate();
        definitions
            .map(|(index, (definition, members))| {
                reached.contains(&index).then(|| TypeModel {
                    name: self.type_name(index, definition, prefix, namespace),
                    shape: shape(&definition.body, members, output.contains(&index)),
                    sent: input.contains(&index),
                    received: output.contains(&index),
                    held: held.contains(&index),
                })
            })
            .collect()
    }

    fn type_name(
        &self,
        index: usize,
        definition: &Definition,
        prefix: &str,
        namespace: &mut Namespace,
    ) -> String {
        if index == self.normalised.input {
            return format!("{prefix}Input");
        }
        if Some(index) == self.output_type {
            return format!("{prefix}Output");
        }
        let leaf = camel(&definition.leaf);
        let leaf = leaf.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(&leaf);
        namespace.take(&format!("{prefix}{leaf}"))
    }

    /// Adds a definition and all that it leads to.
    fn reach(&self, index: usize, reached: &mut BTreeSet<usize>) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            if reached.insert(index) {
                for member in self.types.get(index).into_iter().flatten() {
                    named(member, &mut open);
                }
            }
        }
    }

    fn reach_type(&self, field_type: &FieldType, reached: &mut BTreeSet<usize>) {
        let mut start = Vec::new();
        named(field_type, &mut start);
        for index in start {
            self.reach(index, reached);
        }
    }
}

/// The definitions that a type names.
fn named(field_type: &FieldType, found: &mut Vec<usize>) {
    match field_type {
        FieldType::Named(index) => found.push(*index),
        FieldType::Vec(inner) | FieldType::Map(inner) | FieldType::Option(inner) | FieldType::Box(inner) => {
            named(inner, found);
        }
        FieldType::Tuple(items) => items.iter().for_each(|item| named(item, found)),
        _ => {}
    }
}

/// A struct around one form, which gives it a place among the definitions.
fn wrapper(form: Form) -> Definition {
    let field = Field { key: "value".to_owned(), form, required: true, note: Note::default() };
    let body = Body::Struct(Struct { fields: vec![field], ..Struct::default() });
    Definition { leaf: "Alias".to_owned(), body }
}

fn shape(body: &Body, members: &[FieldType], open: bool) -> Shape {
    let mut namespace = Namespace::default();
    match body {
        Body::Struct(body) => Shape::Struct(struct_model(body, members, &mut namespace)),
        Body::Whole => Shape::Whole,
        Body::Texts { values, loose } => {
            let names = assign(values.iter().map(String::as_str), &mut namespace, camel);
            let variant = |value: &String| (names.get(value).cloned().unwrap_or_default(), value.clone());
            let variants = values.iter().map(variant).collect();
            Shape::Texts { variants, other: other(open || *loose, &mut namespace) }
        }
        Body::Tagged { tag, variants } => {
            let values = variants.iter().map(|(value, _)| value.as_str());
            let names = assign(values, &mut namespace, camel);
            let variant = |((value, _), field_type): (&(String, Form), &FieldType)| {
                (names.get(value).cloned().unwrap_or_default(), value.clone(), field_type.clone())
            };
            let variants = variants.iter().zip(members).map(variant).collect();
            Shape::Tagged { tag: tag.clone(), variants, other: other(open, &mut namespace) }
        }
        Body::Kinds(variants) => {
            let variant = |((kind, _), field_type): (&(Kind, Form), &FieldType)| {
                (namespace.take(&format!("{kind:?}")), *kind, field_type.clone())
            };
            let variants = variants.iter().zip(members).map(variant).collect();
            Shape::Kinds { variants, other: other(open, &mut namespace) }
        }
    }
}

/// The variant for what the schema does not know, where results may have such.
fn other(open: bool, namespace: &mut Namespace) -> Option<String> {
    let name = if namespace.is_free("Other") { "Other" } else { "Unlisted" };
    open.then(|| namespace.take(name))
}

fn struct_model(body: &Struct, members: &[FieldType], namespace: &mut Namespace) -> StructModel {
    let names = assign(body.fields.iter().map(|field| field.key.as_str()), namespace, snake);
    let field = |(field, field_type): (&Field, &FieldType)| FieldModel {
        key: field.key.clone(),
        name: names.get(&field.key).cloned().unwrap_or_default(),
        required: field.required,
        // Null and absent are the same where the type is anything, which typify therefore leaves as it is.
        field_type: match field_type {
            FieldType::Value if !field.required => FieldType::Option(Box::new(FieldType::Value)),
            other => other.clone(),
        },
        note: field.note.clone(),
    };
    let fields = body.fields.iter().zip(members).map(field).collect();
    let extra = members.get(body.fields.len()).cloned();
    StructModel {
        fields,
        constants: body.constants.clone(),
        extra: extra.map(|field_type| (namespace.take("extra"), field_type)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The warnings, and the type of each input field, when typing fails above a number of definitions.
    fn degraded(most: usize) -> (Vec<String>, Vec<FieldType>) {
        let inner = json!({ "type": "object", "properties": { "b": { "type": "string" } } });
        let tool = Tool {
            name: "tool".to_owned(),
            description: None,
            input_schema: json!({ "type": "object", "properties": { "a": inner }, "required": ["a"] }),
            output_schema: Some(inner),
        };
        let typing = |definitions: &[Definition]| match definitions.len() {
            count if count > most => Err("too hard".to_owned()),
            _ => types(definitions),
        };
        let mut warnings = Vec::new();
        let draft = Draft::new(&tool, &typing, &mut warnings);
        let input = draft.types.get(draft.normalised.input).cloned().unwrap();
        (warnings.into_iter().map(|warning| warning.reason).collect(), input)
    }

    #[test]
    fn what_has_no_types_degrades_to_values_step_by_step() {
        assert_eq!(degraded(3), (Vec::new(), vec![FieldType::Named(1)]));
        let fields = "all fields are plain values: too hard".to_owned();
        assert_eq!(degraded(2), (vec![fields.clone()], vec![FieldType::Value]));
        let whole = "the whole tool takes a plain value: too hard".to_owned();
        assert_eq!(degraded(0), (vec![fields, whole], vec![FieldType::Value]));
    }
}
