//! Types that always contain themselves have no values, so one of their fields becomes a plain JSON value.
//!
//! The bindings rely on that: to read a value that does not fit, they build a value from nothing. For an enum
//! they use the variant that needs the fewest steps.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::form::{Body, Definition};
use crate::normalise::MAX_KEY;
use crate::text::clean;
use crate::typing::FieldType;

/// The parts that a value of a type needs.
#[derive(Debug)]
pub(crate) enum Made<'a> {
    /// All of these.
    All(Vec<&'a FieldType>),
    /// One of these.
    One(Vec<&'a FieldType>),
}

impl Made<'_> {
    /// A value that needs no parts.
    pub(crate) fn nothing() -> Self {
        Made::All(Vec::new())
    }
}

/// The number of steps that build a value of each type from nothing, by the index in [`FieldType::Named`].
/// `None` if no number of steps does.
pub(crate) fn ranks(types: &[Made<'_>]) -> Vec<Option<usize>> {
    let mut ranks = vec![None; types.len()];
    loop {
        let mut changed = false;
        for (index, made) in types.iter().enumerate() {
            let found = match made {
                Made::All(members) => {
                    members.iter().try_fold(0, |most, member| Some(rank(member, &ranks)?.max(most)))
                }
                Made::One(members) => members.iter().filter_map(|member| rank(member, &ranks)).min(),
            };
            if let (Some(slot @ None), Some(found)) = (ranks.get_mut(index), found) {
                *slot = Some(found + 1);
                changed = true;
            }
        }
        if !changed {
            return ranks;
        }
    }
}

/// The rank of a type. A type that may be empty needs nothing.
pub(crate) fn rank(field_type: &FieldType, ranks: &[Option<usize>]) -> Option<usize> {
    match field_type {
        FieldType::Named(index) => ranks.get(*index).copied().flatten(),
        FieldType::Box(content) => rank(content, ranks),
        FieldType::Tuple(items) => items.iter().try_fold(0, |most, item| Some(rank(item, ranks)?.max(most))),
        _ => Some(0),
    }
}

/// Turns the fields that keep types from having values into plain JSON values, and returns their places.
///
/// The `roots` are the types of a tool's schemas, each with the prefix of its places.
pub(crate) fn ground(
    definitions: &[Definition],
    types: &mut [Vec<FieldType>],
    roots: &[(&FieldType, &str)],
) -> Vec<String> {
    let found = definitions.iter().zip(types.iter());
    let ranks = ranks(&found.map(|(definition, members)| made(definition, members)).collect::<Vec<_>>());
    if ranks.iter().all(Option::is_some) {
        return Vec::new();
    }
    let paths = paths(definitions, types, roots);
    let mut places = Vec::new();
    for (index, (definition, members)) in definitions.iter().zip(types).enumerate() {
        let endless = ranks.get(index) == Some(&None);
        for (number, member) in members.iter_mut().enumerate().filter(|_| endless) {
            if cut(member, &ranks) {
                places.extend(paths.get(&index).map(|path| format!("{path}{}", step(definition, number))));
            }
        }
    }
    places
}

/// The shortest path to each type from the roots.
fn paths(
    definitions: &[Definition],
    types: &[Vec<FieldType>],
    roots: &[(&FieldType, &str)],
) -> BTreeMap<usize, String> {
    let mut open = VecDeque::new();
    roots.iter().for_each(|(root, path)| named(root, (*path).to_owned(), &mut open));
    let mut paths = BTreeMap::new();
    while let Some((index, path)) = open.pop_front() {
        let (Some(definition), Some(members)) = (definitions.get(index), types.get(index)) else { continue };
        if let Entry::Vacant(vacant) = paths.entry(index) {
            let path = vacant.insert(path);
            for (number, member) in members.iter().enumerate() {
                named(member, format!("{path}{}", step(definition, number)), &mut open);
            }
        }
    }
    paths
}

/// The types that a type refers to, with the path to each.
fn named(field_type: &FieldType, path: String, found: &mut VecDeque<(usize, String)>) {
    match field_type {
        FieldType::Named(index) => found.push_back((*index, path)),
        FieldType::Vec(inner) => named(inner, path + "[]", found),
        FieldType::Map(inner) => named(inner, path + ".*", found),
        FieldType::Option(inner) | FieldType::Box(inner) => named(inner, path, found),
        FieldType::Tuple(items) => {
            for (index, item) in items.iter().enumerate() {
                named(item, format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

/// The path from a type to one of its members.
fn step(definition: &Definition, number: usize) -> String {
    match &definition.body {
        Body::Struct(body) => match body.fields.get(number) {
            Some(field) => format!(".{}", clean(&field.key, MAX_KEY)),
            None => ".*".to_owned(),
        },
        Body::Tagged { variants, .. } => match variants.get(number) {
            Some((value, _)) => format!("<{}>", clean(value, MAX_KEY)),
            None => String::new(),
        },
        _ => String::new(),
    }
}

fn made<'a>(definition: &Definition, members: &'a [FieldType]) -> Made<'a> {
    match definition.body {
        Body::Tagged { .. } | Body::Kinds(_) => Made::One(members.iter().collect()),
        _ => Made::All(members.iter().collect()),
    }
}

/// Turns boxes without a finite value into plain JSON values. Every recursive type recurs through a box.
fn cut(field_type: &mut FieldType, ranks: &[Option<usize>]) -> bool {
    match field_type {
        FieldType::Box(content) if rank(content, ranks).is_none() => {
            *field_type = FieldType::Value;
            true
        }
        FieldType::Tuple(items) => {
            let cut: Vec<bool> = items.iter_mut().map(|item| cut(item, ranks)).collect();
            cut.contains(&true)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(index: usize) -> FieldType {
        FieldType::Box(Box::new(FieldType::Named(index)))
    }

    #[test]
    fn ranks_count_the_steps_to_build_a_value() {
        let (sum, list, pair) =
            (boxed(0), FieldType::Vec(Box::new(FieldType::Named(1))), FieldType::Named(2));
        let literal = FieldType::F64;
        let types = [Made::One(vec![&pair, &literal]), Made::All(vec![&list]), Made::All(vec![&sum, &sum])];
        assert_eq!(ranks(&types), [Some(1), Some(1), Some(2)]);
        assert_eq!(ranks(&[Made::All(vec![&sum])]), [None]);
        assert_eq!(ranks(&[Made::One(Vec::new()), Made::nothing()]), [None, Some(1)]);
    }

    #[test]
    fn endless_recursion_becomes_a_plain_value() {
        let field = |key: &str| crate::form::Field {
            key: key.to_owned(),
            form: crate::form::Form::Named(0),
            required: true,
            nullable: false,
            note: crate::form::Note::default(),
        };
        let body =
            Body::Struct(crate::form::Struct { fields: vec![field("a"), field("b")], ..Default::default() });
        let definitions = [Definition::new("Node", body)];
        let mut types = vec![vec![FieldType::Tuple(vec![FieldType::Bool, boxed(0)]), FieldType::String]];
        let root = FieldType::Vec(Box::new(FieldType::Named(0)));
        let roots = [(&root, "output")];
        assert_eq!(ground(&definitions, &mut types, &roots), ["output[].a"]);
        let pair = FieldType::Tuple(vec![FieldType::Bool, FieldType::Value]);
        assert_eq!(types, [[pair, FieldType::String]]);
        assert!(ground(&definitions, &mut types, &roots).is_empty());
    }
}
