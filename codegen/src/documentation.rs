//! The long form of a tool, for a model that needs more than the signature.
//!
//! It reads like Rust with documentation comments, which models know best: the description, both ways to
//! write the call, and every type with its fields.

use crate::SchemaSource;
use crate::form::{Kind, Note};
use crate::model::{FieldModel, Output, Shape, StructModel, ToolModel, TypeModel, accessors};
use crate::spelling::{extra_text, fact_text, is_literal_first, output_text, type_text};
use crate::text::{clean, paragraphs};
use crate::typing::FieldType;

/// The longest documentation of a tool, in characters. The rest is cut at a line.
const LONGEST: usize = 40_000;
/// The longest description of a tool, in characters.
const MAX_DESCRIPTION: usize = 4_000;
/// The longest description of a field or type, in characters.
const MAX_REMARK: usize = 1_500;
/// The longest fact, name in JSON or reason, in characters.
const MAX_FACT: usize = 400;
/// Maximum number of untyped places listed.
const MAX_FALLBACKS: usize = 50;

/// The note on optional arguments.
const SETTERS: &str =
    "// Setters (`.name(…)`) are optional; with named fields an optional one is `Some(…)` or `None`.";

/// The documentation of a tool in the module `module`.
pub(crate) fn documentation(tool: &ToolModel, module: &str) -> String {
    let mut page = Page { text: String::new(), left: LONGEST };
    page.comment("", tool.description.as_deref(), MAX_DESCRIPTION);
    if tool.name != tool.function {
        page.line(&format!("// The server calls it {:?}.", clean(&tool.name, MAX_FACT)));
    }
    calls(tool, module, &mut page);
    // The call already shows an input without fields completely.
    let bare = tool.input_fields().is_some_and(StructModel::is_empty);
    let input = tool.types.get(tool.input).filter(|_| !bare);
    for model in input.into_iter().chain(tool.parts()) {
        page.line("");
        type_lines(model, tool, &mut page);
    }
    fallbacks(tool, &mut page);
    page.text
}

/// A text with a limit on its characters.
struct Page {
    text: String,
    left: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        let length = line.chars().count() + 1;
        if self.left == 0 {
            return;
        }
        let fits = length <= self.left;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(if fits {
            line
        } else {
            "// … the rest is left out: the documentation is too long"
        });
        self.left = if fits { self.left - length } else { 0 };
    }

    /// A text from the server as a documentation comment.
    fn comment(&mut self, indent: &str, text: Option<&str>, longest: usize) {
        for line in paragraphs(text.unwrap_or_default(), longest) {
            self.line(format!("{indent}/// {line}").trim_end());
        }
    }
}

/// The two ways to write the call, the better one first, and what it returns.
fn calls(tool: &ToolModel, module: &str, page: &mut Page) {
    let ToolModel { function, prefix, .. } = tool;
    match tool.input_fields() {
        Some(body) => {
            let names = |required: bool| {
                body.fields.iter().filter(move |field| field.required == required).map(|field| &field.name)
            };
            let extra: Vec<&String> = body.described_extra().map(|extra| &extra.name).into_iter().collect();
            let required: Vec<&str> = names(true).map(String::as_str).collect();
            let all: Vec<&str> =
                names(true).chain(names(false)).chain(extra.clone()).map(String::as_str).collect();
            let setters: String = names(false).chain(extra).map(|name| format!(".{name}(…)")).collect();
            let fluent = format!("{module}::{function}({}){setters}.await?", required.join(", "));
            let fields = if all.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", all.join(", ")) };
            let literal = format!("{module}::{prefix}Input {fields}.call().await?");
            let forms = if is_literal_first(body) { [literal, fluent] } else { [fluent, literal] };
            forms.iter().for_each(|form| page.line(form));
            if names(false).next().is_some() || body.described_extra().is_some() {
                page.line(SETTERS);
            }
        }
        None => page
            .line(&format!("{module}::{function}(arguments).await?  // arguments: anything that serializes")),
    }
    let output = output_text(tool);
    match tool.output {
        Output::Untyped => page.line(
            "// Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).",
        ),
        _ if tool.answers.unchecked => {
            page.line(&format!("// Returns {output}. Its fields are not checked: what does not fit is `None`, and in `.extra`."));
        }
        _ if tool.answers.source != SchemaSource::Declared => {
            let declared = match tool.answers.source {
                SchemaSource::Corrected => "the declared one did not fit",
                _ => "not declared by the server",
            };
            page.line(&format!("// Returns {output}. The type was observed in results, {declared}:"));
            page.line(
                "// a result that does not fit is an `Err` of kind `Mismatch`, with the result in `raw`.",
            );
        }
        _ => page.line(&format!("// Returns {output}.")),
    }
    let content: Vec<String> = tool.answers.content.iter().map(|kind| clean(kind, MAX_FACT)).collect();
    if !content.is_empty() && tool.output != Output::Untyped {
        page.line(&format!("// `.raw().await?` also has: {}.", content.join(", ")));
    }
}

fn type_lines(model: &TypeModel, tool: &ToolModel, page: &mut Page) {
    page.comment("", model.description.as_deref(), MAX_REMARK);
    let name = &model.name;
    match &model.shape {
        Shape::Struct(body) => struct_lines(model, body, tool, page),
        Shape::Whole => page.line(&format!("struct {name} {{ arguments: Value }}")),
        Shape::Alias(of) => page.line(&format!("type {name} = {};", tool.type_name(*of))),
        Shape::Texts { variants, other } => {
            page.line(&format!("enum {name} {{"));
            for (variant, value) in variants {
                page.line(&format!("    {variant}, // {:?}", clean(value, MAX_FACT)));
            }
            other_line(other.as_deref(), "String", page);
        }
        Shape::Tagged { tag, variants, other } => {
            page.line(&format!(
                "/// Tagged by the field {:?}, which is added automatically.",
                clean(tag, MAX_FACT)
            ));
            page.line(&format!("enum {name} {{"));
            for (variant, value, held) in variants {
                let value = clean(value, MAX_FACT);
                page.line(&format!("    {variant}({}), // {value:?}", type_text(held, tool)));
            }
            other_line(other.as_deref(), "Value", page);
            accessor_lines(model, tool, page);
        }
        Shape::Kinds { variants, other } => {
            page.line(&format!("enum {name} {{"));
            for (variant, kind, held) in variants {
                page.line(&format!("    {variant}({}), // {}", type_text(held, tool), kind_text(*kind)));
            }
            other_line(other.as_deref(), "Value", page);
        }
    }
}

fn accessor_lines(model: &TypeModel, tool: &ToolModel, page: &mut Page) {
    let accessors = accessors(model, tool);
    if !accessors.is_empty() {
        page.line(&format!("impl {} {{", model.name));
        for accessor in accessors {
            page.line(&format!("    fn {}(&self) -> {};", accessor.name, accessor.text(tool)));
        }
        page.line("}");
    }
}

fn other_line(other: Option<&str>, of: &str, page: &mut Page) {
    if let Some(other) = other {
        page.line(&format!("    {other}({of}), // anything else"));
    }
    page.line("}");
}

fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a string",
        Kind::Number => "a number",
        Kind::Boolean => "a boolean",
        Kind::List => "an array",
        Kind::Object => "an object",
    }
}

fn struct_lines(model: &TypeModel, body: &StructModel, tool: &ToolModel, page: &mut Page) {
    let name = &model.name;
    if body.is_empty() {
        page.line(&format!("struct {name} {{}}"));
        return;
    }
    page.line(&format!("struct {name} {{"));
    for field in &body.fields {
        field_lines(field, model.sent, tool, page);
    }
    for (key, value) in &body.constants {
        let value = clean(&value.to_string(), MAX_FACT);
        page.line(&format!("    // {:?}: {value} is added automatically", clean(key, MAX_FACT)));
    }
    if let Some(extra) = body.described_extra() {
        page.line(&format!("    {}: {}, // all other fields", extra.name, extra_text(extra, tool)));
    }
    page.line("}");
}

fn field_lines(field: &FieldModel, sent: bool, tool: &ToolModel, page: &mut Page) {
    let Note { description, facts } = &field.note;
    page.comment("    ", description.as_deref(), MAX_REMARK);
    let presence = match (field.required, &field.field_type) {
        // For a type that is only received, the type shows it.
        _ if !sent => None,
        (true, FieldType::Option(_)) => Some("required, may be null"),
        (true, _) => Some("required"),
        (false, FieldType::Option(_)) if field.nullable => Some("optional, may be null"),
        (false, _) => Some("optional"),
    };
    let facts = facts.iter().map(|fact| clean(&fact_text(fact), MAX_FACT));
    let renamed = (field.key != field.name).then(|| format!("{:?} in JSON", clean(&field.key, MAX_FACT)));
    let parts: Vec<String> =
        presence.map(ToOwned::to_owned).into_iter().chain(facts).chain(renamed).collect();
    let remark = if parts.is_empty() { String::new() } else { format!(" // {}", parts.join("; ")) };
    page.line(&format!("    {}: {},{remark}", field.name, type_text(&field.field_type, tool)));
}

/// The untyped places, and the reasons.
fn fallbacks(tool: &ToolModel, page: &mut Page) {
    if tool.fallbacks.is_empty() {
        return;
    }
    page.line("");
    page.line("// Plain JSON (`Value`), because the schema has no equivalent Rust type:");
    for fallback in tool.fallbacks.iter().take(MAX_FALLBACKS) {
        page.line(&format!("// {}: {}", fallback.path, clean(&fallback.reason, MAX_FACT)));
    }
    if let Some(more) = tool.fallbacks.len().checked_sub(MAX_FALLBACKS).filter(|more| *more > 0) {
        page.line(&format!("// and {more} more"));
    }
}
