//! The short form of a tool, for models and diagnostics.
//!
//! ```text
//! /// Make line-based edits to a text file.
//! edit_file(path: String, edits: Vec<EditFileEdit>, dry_run?: bool /* preview; default false */) -> { content: String }
//! EditFileEdit { old_text: String, new_text: String }
//! ```
//! `name?: T` is a setter of the call. In types, optional fields are an `Option`. `name /* key */` is `key` in JSON, where
//! that cannot be guessed. An enum of a few strings for one argument is shown as `"copy"|"move"`. A result that no schema
//! names is shown by its fields; its type is `EditFileOutput`. If positional arguments invite mistakes, the call with
//! named fields comes first, and its optional fields are the setters:
//!
//! ```text
//! MoveFileInput { source: String, destination: String }.call() -> MoveFileOutput
//! move_file(source, destination)
//! ```

use crate::SchemaSource;
use crate::model::{Accessor, FieldModel, Output, Shape, StructModel, ToolModel, TypeModel, accessors};
use crate::names::{is_guessable_function, is_guessable_key, is_guessable_text};
use crate::spelling::{extra_text, fact_text, is_literal_first, output_text, type_text};
use crate::text::clean;
use crate::typing::FieldType;

/// The longest fact about a field, in characters.
const MAX_FACT: usize = 80;

/// The longest type of a content block, in characters.
const MAX_KIND: usize = 20;

/// The amount of the server's texts that a signature shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// The longest description of a tool, in characters. 0 omits it.
    pub description: usize,
    /// The longest description of a field, in characters. 0 omits it; facts stay.
    pub remark: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { description: 200, remark: 80 }
    }
}

/// The signature of a tool and its types.
pub(crate) fn signature(tool: &ToolModel, style: &Style) -> String {
    let writer = Writer { tool, style };
    let mut lines = Vec::new();
    let description = tool.description.as_deref().filter(|_| style.description > 0);
    let description = description.map(|text| clean(text, style.description));
    lines.extend(description.filter(|text| !text.is_empty()).map(|text| format!("/// {text}")));
    lines.extend(writer.call());
    let bare = tool.bare_output().is_some();
    let listed = writer.listed();
    let parts = tool.parts().filter(|model| !(bare && model.is_plain_output));
    for model in parts.filter(|model| !listed.iter().any(|listed| listed.name == model.name)) {
        lines.push(writer.type_line(model));
    }
    lines.join("\n")
}

struct Writer<'a> {
    tool: &'a ToolModel,
    style: &'a Style,
}

impl Writer<'_> {
    /// The call, in one line or in two.
    fn call(&self) -> Vec<String> {
        let tool = self.tool;
        let function = match is_guessable_function(&tool.name, &tool.function) {
            true => tool.function.clone(),
            false => format!("{} /* {} */", tool.function, clean(&tool.name, MAX_FACT)),
        };
        let output = match self.tool.bare_output() {
            Some(body) => format!("{{ {} }}", self.fields(body).join(", ")),
            None => output_text(self.tool),
        };
        let output = format!("-> {output}{}", self.answers());
        let Some(body) = self.tool.input_fields() else {
            return vec![format!("{function}(arguments: Value) {output}")];
        };
        if !is_literal_first(body) {
            return vec![format!("{function}({}) {output}", self.arguments(body).join(", "))];
        }
        let required = body.fields.iter().filter(|field| field.required);
        let names: Vec<&str> = required.map(|field| field.name.as_str()).collect();
        vec![
            format!("{}Input {{ {} }}.call() {output}", self.tool.prefix, self.fields(body).join(", ")),
            format!("{function}({})", names.join(", ")),
        ]
    }

    /// Returns the facts about the answers as a comment.
    fn answers(&self) -> String {
        let answers = &self.tool.answers;
        if self.tool.output == Output::Untyped {
            return String::new();
        }
        let source = match answers.source {
            SchemaSource::Declared => None,
            SchemaSource::Observed => Some("observed, not declared".to_owned()),
            SchemaSource::Corrected => Some("declared, corrected by observed answers".to_owned()),
        };
        let unchecked =
            answers.unchecked.then(|| "not checked: what does not fit is None, and in .extra".to_owned());
        let content: Vec<String> = answers.content.iter().map(|kind| clean(kind, MAX_KIND)).collect();
        let content = (!content.is_empty()).then(|| format!(".raw() also has: {}", content.join(", ")));
        let parts: Vec<String> = source.into_iter().chain(unchecked).chain(content).collect();
        if parts.is_empty() { String::new() } else { format!(" /* {} */", parts.join("; ")) }
    }

    fn arguments(&self, body: &StructModel) -> Vec<String> {
        let argument = |field: &FieldModel| {
            let (mark, shown, null) = match &field.field_type {
                FieldType::Option(some) if !field.required => match some.as_ref() {
                    FieldType::Option(some) if field.nullable => ("?", some.as_ref(), " or null"),
                    some => ("?", some, ""),
                },
                other => ("", other, ""),
            };
            let (name, remark) = (name(field), self.remark(field));
            let shown = self.listed_values(shown).unwrap_or_else(|| type_text(shown, self.tool));
            format!("{name}{mark}: {shown}{null}{remark}")
        };
        let extra =
            body.described_extra().map(|extra| format!("{}?: {}", extra.name, extra_text(extra, self.tool)));
        body.fields.iter().map(argument).chain(extra).collect()
    }

    /// The enums that are shown by their values, where they are arguments: a few strings, for this tool only.
    fn listed(&self) -> Vec<&TypeModel> {
        /// More values are easier to read as a type.
        const MAX_VALUES: usize = 8;
        let tool = self.tool;
        let Some(body) = tool.input_fields().filter(|body| !is_literal_first(body)) else {
            return Vec::new();
        };
        let held: Vec<usize> = tool.parts().flat_map(|model| model.parts.iter().copied()).collect();
        let named = body.fields.iter().filter_map(|field| match &field.field_type {
            FieldType::Named(index) => Some(*index),
            FieldType::Option(some) => match **some {
                FieldType::Named(index) => Some(index),
                _ => None,
            },
            _ => None,
        });
        let models = named.filter(|index| !held.contains(index)).filter_map(|index| tool.types.get(index));
        let is_short = |model: &&TypeModel| match &model.shape {
            Shape::Texts { variants, other: None } => {
                let is_plain = |value: &str| {
                    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || " _-./".contains(c))
                };
                variants.len() <= MAX_VALUES
                    && model.tools == 1
                    && variants.iter().all(|(_, value)| is_plain(value))
            }
            _ => false,
        };
        models.filter(is_short).collect()
    }

    /// The values of such an enum.
    fn listed_values(&self, field_type: &FieldType) -> Option<String> {
        let FieldType::Named(index) = field_type else { return None };
        let name = self.tool.type_name(*index);
        let model = self.listed().into_iter().find(|model| model.name == name)?;
        let Shape::Texts { variants, .. } = &model.shape else { return None };
        let values = variants.iter().map(|(_, value)| format!("{:?}", clean(value, MAX_FACT)));
        Some(values.collect::<Vec<_>>().join("|"))
    }

    fn fields(&self, body: &StructModel) -> Vec<String> {
        let field = |field: &FieldModel| {
            format!("{}: {}{}", name(field), type_text(&field.field_type, self.tool), self.remark(field))
        };
        let extra =
            body.described_extra().map(|extra| format!("{}: {}", extra.name, extra_text(extra, self.tool)));
        body.fields.iter().map(field).chain(extra).collect()
    }

    fn type_line(&self, model: &TypeModel) -> String {
        let name = &model.name;
        let held = |(variant, held): (&str, &FieldType)| format!("{variant}({})", type_text(held, self.tool));
        let (variants, other, of): (Vec<String>, _, _) = match &model.shape {
            Shape::Struct(body) => {
                let fields = self.fields(body);
                return match fields.is_empty() {
                    true => format!("{name} {{}}"),
                    false => format!("{name} {{ {} }}", fields.join(", ")),
                };
            }
            Shape::Whole => return format!("{name} {{ arguments: Value }}"),
            Shape::Alias(of) => return format!("type {name} = {}", self.tool.type_name(*of)),
            Shape::Texts { variants, other } => {
                (variants.iter().map(|(name, text)| variant(name, text)).collect(), other, "String")
            }
            Shape::Tagged { variants, other, .. } => {
                let variants = variants.iter().map(|(name, _, field_type)| (name.as_str(), field_type));
                (variants.map(held).collect(), other, "Value")
            }
            Shape::Kinds { variants, other } => {
                let variants = variants.iter().map(|(name, _, field_type)| (name.as_str(), field_type));
                (variants.map(held).collect(), other, "Value")
            }
        };
        let other = other.iter().map(|other| format!("{other}({of})"));
        let variants: Vec<String> = variants.into_iter().chain(other).collect();
        let accessors = accessors(model, self.tool);
        format!("enum {name} {{ {} }}{}", variants.join(", "), on_all(&accessors))
    }

    /// The description and facts of a field as a comment.
    fn remark(&self, field: &FieldModel) -> String {
        let description = field.note.description.as_deref().filter(|_| self.style.remark > 0);
        let mut description = description.map(|text| clean(text, self.style.remark)).unwrap_or_default();
        let facts = field.note.facts.iter().filter(|fact| fact.brief);
        let facts: Vec<String> = facts.map(|fact| clean(&fact_text(fact), MAX_FACT)).collect();
        if !facts.is_empty() && description.ends_with('.') {
            description.pop();
        }
        let parts: Vec<String> =
            std::iter::once(description).chain(facts).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { String::new() } else { format!(" /* {} */", parts.join("; ")) }
    }
}

/// The name of a field, with its name in JSON if that cannot be guessed.
fn name(field: &FieldModel) -> String {
    match is_guessable_key(&field.key, &field.name) {
        true => field.name.clone(),
        false => format!("{} /* {} */", field.name, clean(&field.key, MAX_FACT)),
    }
}

/// The methods of an enum of objects, as a comment; those that return an `Option` apart.
fn on_all(accessors: &[Accessor]) -> String {
    let named = |optional: bool| {
        let some = accessors.iter().filter(|accessor| accessor.optional == optional);
        some.map(|accessor| format!(".{}()", accessor.name)).collect::<Vec<_>>().join(", ")
    };
    match (named(false), named(true)) {
        (always, maybe) if always.is_empty() && maybe.is_empty() => String::new(),
        (always, maybe) if maybe.is_empty() => format!(" /* all: {always} */"),
        (always, maybe) if always.is_empty() => format!(" /* all: Option {maybe} */"),
        (always, maybe) => format!(" /* all: {always}, Option {maybe} */"),
    }
}

/// A variant of an enum of texts, with its text if that cannot be guessed.
fn variant(name: &str, text: &str) -> String {
    match is_guessable_text(text, name) {
        true => name.to_owned(),
        false => format!("{name} = {:?}", clean(text, MAX_FACT)),
    }
}
