//! The derives that are added to the types of a saved program: reading its arguments, writing its result, and JSON
//! Schemas of both.
//!
//! A type gets what it needs: one that `Args` contains is read, one that the result contains is written. Derives and
//! implementations that the text has itself are not repeated.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Path, Type};

use super::declarations::{ARGS, Declarations, serde_keys};
use crate::insertion::Insertion;
use crate::purpose::{Purpose, SCHEMA_CRATE};

/// The abilities that a type of the program needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Needs {
    read: bool,
    written: bool,
    described: bool,
}

/// Returns the insertions into a program with these declarations, in text order.
pub(crate) fn insertions(program: &Declarations<'_>, purpose: Purpose) -> Vec<Insertion> {
    let types: BTreeMap<String, &Item> =
        program.items.iter().filter_map(|item| Some((type_name(item)?, item))).collect();
    let args = BTreeSet::from([ARGS.to_owned()]);
    let of_args = reached(if program.args.is_some() { args } else { BTreeSet::new() }, &types);
    let mut returned = Names::default();
    returned.visit_return_type(&program.run.sig.output);
    let of_result = reached(returned.0, &types);
    let implemented = implemented(program.items);
    let (describes_args, describes_result) = match purpose {
        Purpose::Schemas { result } => (true, result),
        Purpose::Program | Purpose::Snippet => (false, false),
    };
    let mut insertions = Vec::new();
    for (name, item) in &types {
        let (read, written) = (of_args.contains(name), of_result.contains(name));
        let described = (read && describes_args) || (written && describes_result);
        let needs = Needs { read, written, described };
        let text = attributes(item, needs, |trait_name: &str| {
            implemented.contains(&(trait_name.to_owned(), name.clone()))
        });
        if !text.is_empty() {
            insertions.push(Insertion { at: item.span().byte_range().start, text });
        }
    }
    insertions.sort_by_key(|insertion| insertion.at);
    insertions
}

/// The attributes that a type needs.
fn attributes(item: &Item, needs: Needs, has: impl Fn(&str) -> bool) -> String {
    let own = own_attributes(item);
    let derived = derived(own);
    let lacks = |name: &str| !derived.contains(name) && !has(name);
    let mut text = String::new();
    if needs.read && lacks("Deserialize") {
        text.push_str("#[derive(::serde::Deserialize)] ");
    }
    if needs.written && lacks("Serialize") {
        text.push_str("#[derive(::serde::Serialize)] ");
    }
    if needs.described && lacks("JsonSchema") {
        let schema = format!(
            "#[derive(::{SCHEMA_CRATE}::JsonSchema)] #[schemars(crate = \"::{SCHEMA_CRATE}::schemars\")] "
        );
        text.push_str(&schema);
    }
    let is_args = type_name(item).is_some_and(|name| name == ARGS);
    let is_strict = serde_keys(own).iter().any(|(_, key)| key == "deny_unknown_fields");
    if is_args && needs.read && !is_strict && !has("Deserialize") {
        text.push_str("#[serde(deny_unknown_fields)] ");
    }
    text
}

fn type_name(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

fn own_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        _ => &[],
    }
}

/// The names of the derived traits.
fn derived(attributes: &[Attribute]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            names.extend(last(&meta.path));
            Ok(())
        });
    }
    names
}

/// Traits and the types that the program implements them for.
fn implemented(items: &[Item]) -> BTreeSet<(String, String)> {
    items
        .iter()
        .filter_map(|item| {
            let Item::Impl(block) = item else { return None };
            let Type::Path(own) = &*block.self_ty else { return None };
            let (path, _) = block.trait_.as_ref()?;
            Some((last(path)?, last(&own.path)?))
        })
        .collect()
}

fn last(path: &Path) -> Option<String> {
    path.segments.last().map(|segment| segment.ident.to_string())
}

/// The program's types that are reached from those with `names`, with these.
fn reached(names: BTreeSet<String>, types: &BTreeMap<String, &Item>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> = names.into_iter().collect();
    while let Some(name) = waiting.pop() {
        let Some(item) = types.get(&name) else { continue };
        if reached.insert(name) {
            let mut inner = Names::default();
            inner.visit_item(item);
            waiting.extend(inner.0);
        }
    }
    reached
}

/// The names in the types of an item.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.0.extend(path.path.segments.iter().map(|segment| segment.ident.to_string()));
        visit::visit_type_path(self, path);
    }
}
