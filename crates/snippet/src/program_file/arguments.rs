//! The arguments of a saved program as its text declares them: names, kinds and documentation, without a compiler.

use std::collections::BTreeSet;

use syn::{GenericArgument, Item, PathArguments, Type};

use super::about::doc_lines;
use super::declarations::{Declarations, name_of, serde_keys, serde_text};

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The name in JSON.
    pub name: String,
    /// Its documentation.
    pub about: String,
    /// Whether it must be given.
    pub is_required: bool,
    /// The kind of its values.
    pub kind: ArgumentKind,
}

/// The kind of an argument's values, as far as the text shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A text: strings, paths, dates and times.
    Text,
    /// One of these texts: an enum without values.
    Choice(Vec<String>),
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// Several values.
    List(Box<ArgumentKind>),
    /// Anything else, written as JSON.
    Json,
}

/// Types whose JSON is a text.
const TEXTS: [&str; 11] = [
    "String",
    "str",
    "char",
    "PathBuf",
    "NaiveDate",
    "NaiveDateTime",
    "NaiveTime",
    "DateTime",
    "Weekday",
    "IpAddr",
    "Cow",
];
const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
/// Types with the JSON of the type in them.
const TRANSPARENT: [&str; 3] = ["Box", "Rc", "Arc"];
const LISTS: [&str; 5] = ["Vec", "VecDeque", "HashSet", "BTreeSet", "LinkedList"];

/// The arguments of a program, as declared.
pub(super) fn of(program: &Declarations<'_>) -> Vec<Argument> {
    let fields = program.args.iter().flat_map(|args| &args.fields);
    let is_optional_struct = program.args.is_some_and(|args| has_key(&args.attrs, "default"));
    let argument = |field: &syn::Field| {
        let name = serde_text(&field.attrs, "rename").or_else(|| field.ident.as_ref().map(name_of))?;
        let (kind, is_option) = match inner(&field.ty, &["Option"]) {
            Some(inner) => (kind(inner, program.items), true),
            None => (kind(&field.ty, program.items), false),
        };
        let is_required = !is_option && !is_optional_struct && !has_key(&field.attrs, "default");
        let about = doc_lines(&field.attrs).iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        Some(Argument { name, about: about.trim().to_owned(), is_required, kind })
    };
    fields.filter_map(argument).collect()
}

pub(super) fn has_key(attributes: &[syn::Attribute], wanted: &str) -> bool {
    serde_keys(attributes).iter().any(|(_, key)| key == wanted)
}

fn kind(written: &Type, items: &[Item]) -> ArgumentKind {
    let Type::Path(path) = written else { return ArgumentKind::Json };
    let Some(last) = path.path.segments.last() else { return ArgumentKind::Json };
    let name = last.ident.to_string();
    let is_declared = declared(&name, items);
    if let Some(item) = is_declared {
        return choice(item).map_or(ArgumentKind::Json, ArgumentKind::Choice);
    }
    match name.as_str() {
        "bool" => ArgumentKind::Flag,
        "f32" | "f64" => ArgumentKind::Number,
        text if TEXTS.contains(&text) => ArgumentKind::Text,
        integer if INTEGERS.contains(&integer) => ArgumentKind::Integer,
        _ => {
            if let Some(inner) = inner(written, &TRANSPARENT) {
                return kind(inner, items);
            }
            match inner(written, &LISTS).map(|inner| kind(inner, items)) {
                // A list in a list has no form on a command line.
                Some(ArgumentKind::List(_) | ArgumentKind::Json) | None => ArgumentKind::Json,
                Some(kind) => ArgumentKind::List(Box::new(kind)),
            }
        }
    }
}

fn declared<'a>(name: &str, items: &'a [Item]) -> Option<&'a Item> {
    items.iter().find(|item| match item {
        Item::Struct(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        _ => false,
    })
}

/// The values of an enum without data, unless its names in JSON are others.
fn choice(item: &Item) -> Option<Vec<String>> {
    let Item::Enum(item) = item else { return None };
    if !serde_keys(&item.attrs).is_empty() {
        return None;
    }
    let value = |variant: &syn::Variant| {
        let is_plain = variant.fields.is_empty();
        let renamed = serde_text(&variant.attrs, "rename");
        is_plain.then(|| renamed.unwrap_or_else(|| name_of(&variant.ident)))
    };
    let values: Option<Vec<String>> = item.variants.iter().map(value).collect();
    // Two variants with one name are an error of the program.
    values.filter(|values| values.iter().collect::<BTreeSet<_>>().len() == values.len() && !values.is_empty())
}

/// The type in a generic one with one of these names.
pub(super) fn inner<'a>(written: &'a Type, names: &[&str]) -> Option<&'a Type> {
    let Type::Path(path) = written else { return None };
    let last = path.path.segments.last().filter(|last| names.iter().any(|name| last.ident == name))?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    })
}
