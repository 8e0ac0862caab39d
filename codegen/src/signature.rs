//! The short form of a tool: what a model reads, and what diagnostics quote.
//!
//! ```text
//! /// Make line-based edits to a text file.
//! edit_file(path: String, edits: Vec<EditFileEdit>, dry_run?: bool /* preview; default false */) -> EditFileOutput
//! EditFileEdit { old_text: String, new_text: String }
//! EditFileOutput { content: String }
//! ```
//! `name?: T` is a setter of the call; in types, optional fields are an `Option`.

use crate::model::{FieldModel, Output, Shape, StructModel, ToolModel, TypeModel};
use crate::text::clean;
use crate::typing::FieldType;

/// The longest description of a tool, in characters.
const LONGEST_DESCRIPTION: usize = 200;
/// The longest remark on a field, in characters.
const LONGEST_REMARK: usize = 80;

/// The signature of a tool and its types.
pub(crate) fn signature(tool: &ToolModel) -> String {
    let mut lines = Vec::new();
    let description = tool.description.as_deref().map(|text| clean(text, LONGEST_DESCRIPTION));
    lines.extend(description.filter(|text| !text.is_empty()).map(|text| format!("/// {text}")));
    lines.push(call(tool));
    for (index, model) in tool.types.iter().enumerate() {
        if let Some(model) = model.as_ref().filter(|_| index != tool.input) {
            lines.push(type_line(model, tool));
        }
    }
    if let Output::Alias(alias) = &tool.output {
        lines.push(format!("type {}Output = {}", tool.prefix, type_text(alias, tool)));
    }
    lines.join("\n")
}

fn call(tool: &ToolModel) -> String {
    let arguments = match tool.input_fields() {
        Some(body) => arguments(body, tool).join(", "),
        None => "arguments: Value".to_owned(),
    };
    let output = match tool.output {
        Output::Untyped => "ToolResult".to_owned(),
        _ => format!("{}Output", tool.prefix),
    };
    format!("{}({arguments}) -> {output}", tool.function)
}

fn arguments(body: &StructModel, tool: &ToolModel) -> Vec<String> {
    let argument = |field: &FieldModel| {
        let (mark, shown) = match &field.field_type {
            FieldType::Option(some) if !field.required => ("?", some.as_ref()),
            other => ("", other),
        };
        format!("{}{mark}: {}{}", field.name, type_text(shown, tool), remark(field))
    };
    let extra =
        body.extra.iter().map(|(name, field_type)| format!("{name}?: {}", type_text(field_type, tool)));
    body.fields.iter().map(argument).chain(extra).collect()
}

fn type_line(model: &TypeModel, tool: &ToolModel) -> String {
    let name = &model.name;
    let or_other = |other: &Option<String>, of: &str| {
        other.iter().map(|other| format!("{other}({of})")).collect::<Vec<_>>()
    };
    match &model.shape {
        Shape::Struct(body) => {
            let field = |field: &FieldModel| {
                format!("{}: {}{}", field.name, type_text(&field.field_type, tool), remark(field))
            };
            let extra = body
                .extra
                .iter()
                .map(|(name, field_type)| format!("{name}: {}", type_text(field_type, tool)));
            let fields: Vec<String> = body.fields.iter().map(field).chain(extra).collect();
            if fields.is_empty() {
                format!("{name} {{}}")
            } else {
                format!("{name} {{ {} }}", fields.join(", "))
            }
        }
        Shape::Whole => format!("{name} {{ arguments: Value }}"),
        Shape::Texts { variants, other } => {
            let variants = variants.iter().map(|(name, _)| name.clone());
            enumeration(name, variants.chain(or_other(other, "String")))
        }
        Shape::Tagged { variants, other, .. } => {
            let variants =
                variants.iter().map(|(name, _, held)| format!("{name}({})", type_text(held, tool)));
            enumeration(name, variants.chain(or_other(other, "Value")))
        }
        Shape::Kinds { variants, other } => {
            let variants =
                variants.iter().map(|(name, _, held)| format!("{name}({})", type_text(held, tool)));
            enumeration(name, variants.chain(or_other(other, "Value")))
        }
    }
}

fn enumeration(name: &str, variants: impl Iterator<Item = String>) -> String {
    let variants: Vec<String> = variants.collect();
    format!("enum {name} {{ {} }}", variants.join(", "))
}

/// The description and facts of a field as a comment.
fn remark(field: &FieldModel) -> String {
    let description = field.note.description.as_deref().map(|text| clean(text, LONGEST_REMARK));
    let facts = field.note.facts.iter().map(|fact| clean(fact, LONGEST_REMARK));
    let parts: Vec<String> = description.into_iter().chain(facts).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(" /* {} */", parts.join("; ")) }
}

fn type_text(field_type: &FieldType, tool: &ToolModel) -> String {
    let inner = |inner: &FieldType| type_text(inner, tool);
    match field_type {
        FieldType::Value => "Value".to_owned(),
        FieldType::Bool => "bool".to_owned(),
        FieldType::I64 => "i64".to_owned(),
        FieldType::U64 => "u64".to_owned(),
        FieldType::F64 => "f64".to_owned(),
        FieldType::String => "String".to_owned(),
        FieldType::Vec(item) => format!("Vec<{}>", inner(item)),
        FieldType::Map(value) => format!("BTreeMap<String, {}>", inner(value)),
        FieldType::Tuple(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            let comma = if items.len() == 1 { "," } else { "" };
            format!("({}{comma})", items.join(", "))
        }
        FieldType::Option(some) => format!("Option<{}>", inner(some)),
        FieldType::Box(content) => format!("Box<{}>", inner(content)),
        FieldType::Named(index) => tool.type_name(*index).to_owned(),
    }
}
