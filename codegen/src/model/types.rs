//! The types of a server: equal ones of all tools are one type, with one name.
//!
//! The name of a type, by the first of these rules that applies:
//! 1. The input of a tool is `<Tool>Input`. It is no other tool's type.
//! 2. A schema's own name: its key in `$defs`, or a `title` that is a name. Of several, the first in the alphabet; the
//!    others are aliases, which the tools with these names show.
//! 3. The name of the property, after the own name of the schema around it: `OrderItem`.
//! 4. An output that is no part of another type is `<Tool>Output`, with the first of its tools. A type of several tools
//!    is named after the property: `Issue`.
//! 5. Any other type is named after the tool and the property: `EditFileEdit`.
//!
//! Whatever its name, `<Tool><Property>` is always another name of a tool's type, which no other tool changes:
//! `ListOrdersOrder`. So is `<Tool>Output` of its output.
//!
//! If different types have the same name, the first in this order keeps it: by rule, then those that more tools use, then
//! by the first tool. The others get the name of their first tool in front.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, named};
use super::shape::{Direction, TypeModel, shape};
use crate::form::Definition;
use crate::names::{Namespace, camel};
use crate::share::structures;
use crate::typing::FieldType;

/// A tool whose types have no names yet.
pub(super) struct Unnamed<'a> {
    pub(super) name: &'a str,
    /// The prefix of its own type names.
    pub(super) prefix: String,
    pub(super) draft: Draft,
}

/// The types of a server.
pub(super) struct Types {
    pub(super) models: Vec<TypeModel>,
    /// For each tool, the index in `models` of each of its definitions that is reachable.
    indices: Vec<Vec<Option<usize>>>,
}

/// The definitions of all tools that have the same structure.
struct Class {
    /// The first definition, with the names and notes of all.
    definition: Definition,
    /// The first tool, and the index of the definition in it.
    first: (usize, usize),
    tools: BTreeSet<usize>,
    is_input: bool,
    /// The place of the first one that is not an output as a whole.
    part: Option<String>,
    sent: bool,
    received: bool,
    /// Whether answers that do not fit are accepted.
    unchecked: bool,
}

/// The rule that names a type. Earlier ones take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Input,
    Own,
    Within,
    Output,
    Several,
    Single,
}

impl Types {
    pub(super) fn new(tools: &[Unnamed<'_>], namespace: &mut Namespace) -> Self {
        let mut types = Types { models: Vec::new(), indices: Vec::new() };
        let mut classes: Vec<Class> = Vec::new();
        let mut known = BTreeMap::new();
        for (number, tool) in tools.iter().enumerate() {
            let draft = &tool.draft;
            let (sent, received) = draft.reached();
            let structures = structures(&draft.normalised.definitions, draft.input(), tool.name);
            let mut indices = vec![None; structures.len()];
            for index in sent.union(&received).copied() {
                let (Some(structure), Some(definition)) =
                    (structures.get(index), draft.normalised.definitions.get(index))
                else {
                    continue;
                };
                let class = *known.entry(*structure).or_insert(classes.len());
                if class == classes.len() {
                    classes.push(Class::new(definition, number, index));
                } else if let Some(class) = classes.get_mut(class) {
                    class.definition.absorb(definition);
                }
                if let Some(slot) = indices.get_mut(index) {
                    *slot = Some(class);
                }
                if let Some(class) = classes.get_mut(class) {
                    class.tools.insert(number);
                    class.is_input |= index == draft.input();
                    if Some(index) != draft.output_type {
                        class.part.get_or_insert_with(|| definition.leaf.clone());
                    }
                    class.sent |= sent.contains(&index);
                    class.received |= received.contains(&index);
                    class.unchecked |= draft.unchecked;
                }
            }
            types.indices.push(indices);
        }
        let names = names(&mut classes, tools, namespace);
        let mut held = BTreeSet::new();
        for (class, (name, rule)) in classes.iter().zip(names) {
            let (tool, index) = class.first;
            let members = tools.get(tool).and_then(|tool| tool.draft.types.get(index));
            let members: Vec<FieldType> =
                members.into_iter().flatten().map(|member| types.resolve(tool, member)).collect();
            let mut parts = Vec::new();
            members.iter().for_each(|member| named(member, &mut parts));
            types.models.push(TypeModel {
                name,
                description: class.definition.description.clone(),
                shape: shape(
                    &class.definition.body,
                    &members,
                    Direction { sent: class.sent, received: class.received, unchecked: class.unchecked },
                ),
                parts: parts.clone(),
                sent: class.sent,
                received: class.received,
                held: false,
                tools: class.tools.len(),
                is_input: class.is_input,
                is_plain_output: rule == Rule::Output,
            });
            held.extend(parts);
        }
        for index in held {
            if let Some(model) = types.models.get_mut(index) {
                model.held = true;
            }
        }
        types.add_aliases(&classes, tools, namespace);
        types
    }

    /// Adds the other own names of types, for the tools that have these.
    fn add_aliases(&mut self, classes: &[Class], tools: &[Unnamed<'_>], namespace: &mut Namespace) {
        let mut known: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for (number, tool) in tools.iter().enumerate() {
            for (index, definition) in tool.draft.normalised.definitions.iter().enumerate() {
                let Some(of) = self.index(number, index) else { continue };
                let Some(class) = classes.get(of) else { continue };
                let own = definition.own.iter().filter(|name| class.definition.own.contains(name)).min();
                let Some(own) = own.filter(|own| Some(*own) != class.definition.own.first()) else {
                    continue;
                };
                let alias = (of, camel(own));
                let known = match known.get(&alias) {
                    Some(index) => Some(*index),
                    None if namespace.is_free(&alias.1) => {
                        let name = namespace.take(&alias.1);
                        self.models.push(TypeModel::alias(name, of));
                        known.insert(alias, self.models.len() - 1);
                        Some(self.models.len() - 1)
                    }
                    None => None,
                };
                let slot = self.indices.get_mut(number).and_then(|indices| indices.get_mut(index));
                if let (Some(slot), Some(known)) = (slot, known) {
                    *slot = Some(known);
                }
            }
        }
    }

    /// For each tool, the names that its types have because of it, with their indices.
    pub(super) fn names_by_tool(
        &self,
        tools: &[Unnamed<'_>],
        namespace: &mut Namespace,
    ) -> Vec<Vec<(String, usize)>> {
        let mut all = Vec::new();
        for (number, Unnamed { prefix, draft, .. }) in tools.iter().enumerate() {
            let mut own: Vec<(String, usize)> = Vec::new();
            for (definition, index) in
                draft.normalised.definitions.iter().zip(self.indices.get(number).into_iter().flatten())
            {
                let Some(index) = *index else { continue };
                let Some(model) =
                    self.models.get(index).filter(|model| !model.is_input && !model.is_plain_output)
                else {
                    continue;
                };
                let leaf = camel(&definition.leaf);
                let leaf =
                    leaf.strip_prefix(prefix.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(&leaf);
                let name = format!("{prefix}{leaf}");
                let is_again = own.iter().any(|(known, _)| *known == name);
                if model.name != name && (is_again || namespace.is_free(&name)) {
                    own.push((namespace.take(&name), index));
                }
            }
            all.push(own);
        }
        all
    }

    /// The index of a tool's definition.
    pub(super) fn index(&self, tool: usize, definition: usize) -> Option<usize> {
        self.indices.get(tool)?.get(definition).copied().flatten()
    }

    /// A tool's type, with the indices of this table.
    pub(super) fn resolve(&self, tool: usize, field_type: &FieldType) -> FieldType {
        let within = |inner: &FieldType| Box::new(self.resolve(tool, inner));
        match field_type {
            FieldType::Named(index) => self.index(tool, *index).map_or(FieldType::Value, FieldType::Named),
            FieldType::Vec(inner) => FieldType::Vec(within(inner)),
            FieldType::Map(inner) => FieldType::Map(within(inner)),
            FieldType::Option(inner) => FieldType::Option(within(inner)),
            FieldType::Box(inner) => FieldType::Box(within(inner)),
            FieldType::Tuple(items) => {
                FieldType::Tuple(items.iter().map(|item| self.resolve(tool, item)).collect())
            }
            plain => plain.clone(),
        }
    }
}

/// All types that some types contain, with these, in the order in which a reader meets them.
pub(crate) fn reachable(models: &[TypeModel], start: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let mut reached = Vec::new();
    let mut open: Vec<usize> = start.iter().rev().copied().collect();
    while let Some(index) = open.pop() {
        if seen.insert(index) {
            reached.push(index);
            open.extend(models.get(index).into_iter().flat_map(|model| model.parts.iter().rev()));
        }
    }
    reached
}

impl Class {
    fn new(definition: &Definition, tool: usize, index: usize) -> Self {
        Class {
            definition: definition.clone(),
            first: (tool, index),
            tools: BTreeSet::new(),
            is_input: false,
            part: None,
            sent: false,
            received: false,
            unchecked: false,
        }
    }

    /// The rule that names the type, and the name.
    fn preferred(&self, prefix: &str) -> (Rule, String) {
        let Definition { own, within, .. } = &self.definition;
        if self.is_input {
            return (Rule::Input, format!("{prefix}Input"));
        }
        if let Some(name) = own.first() {
            return (Rule::Own, camel(name));
        }
        let Some(leaf) = self.part.as_ref().map(|leaf| camel(leaf)) else {
            return (Rule::Output, format!("{prefix}Output"));
        };
        match () {
            () if !within.is_empty() => (Rule::Within, joined(&camel(within), &leaf)),
            () if self.tools.len() > 1 => (Rule::Several, leaf),
            () => (Rule::Single, joined(prefix, &leaf)),
        }
    }
}

/// The name with a prefix, unless it has it already.
fn joined(prefix: &str, name: &str) -> String {
    match name.strip_prefix(prefix) {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_uppercase()) => name.to_owned(),
        _ => format!("{prefix}{name}"),
    }
}

/// The names of all types.
fn names(classes: &mut [Class], tools: &[Unnamed<'_>], namespace: &mut Namespace) -> Vec<(String, Rule)> {
    let prefix = |class: &Class| tools.get(class.first.0).map_or("", |tool| tool.prefix.as_str());
    for class in classes.iter_mut() {
        // Generators give an output that has no name the name of its tool.
        let generated: Vec<String> = class
            .tools
            .iter()
            .filter_map(|tool| tools.get(*tool))
            .map(|tool| format!("{}Output", tool.prefix))
            .collect();
        class.definition.own.retain(|name| !generated.contains(&camel(name)));
        class.definition.own.sort_unstable();
    }
    let mut order: Vec<(Rule, std::cmp::Reverse<usize>, usize, String)> = classes
        .iter()
        .enumerate()
        .map(|(index, class)| {
            let (rule, name) = class.preferred(prefix(class));
            (rule, std::cmp::Reverse(class.tools.len()), index, name)
        })
        .collect();
    order.sort();
    let mut names = vec![(String::new(), Rule::Single); classes.len()];
    for (rule, _, index, name) in order {
        let Some(prefix) = classes.get(index).map(prefix) else { continue };
        let name = match rule {
            // Taken with the names of the tools.
            Rule::Input | Rule::Output => name,
            _ if namespace.is_free(&name) => namespace.take(&name),
            _ => namespace.take(&joined(prefix, &name)),
        };
        if let Some(slot) = names.get_mut(index) {
            *slot = (name, rule);
        }
    }
    names
}
