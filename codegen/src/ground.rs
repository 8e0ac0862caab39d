//! Types that hold themselves without end: no value of them can be made, so one of their fields becomes a plain value.
//!
//! The bindings count on that: to read a value that does not fit they make one of nothing, where an enum stands with
//! the variant that takes the fewest steps.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::form::{Body, Definition};
use crate::normalise::LONGEST_KEY;
use crate::text::clean;
use crate::typing::FieldType;

/// What a value of a type is made of.
#[derive(Debug)]
pub(crate) enum Made<'a> {
    /// All of these.
    All(Vec<&'a FieldType>),
    /// One of these.
    One(Vec<&'a FieldType>),
}

impl Made<'_> {
    /// What needs nothing to be made of.
    pub(crate) fn nothing() -> Self {
        Made::All(Vec::new())
    }
}

/// In how many steps a value of each type can be made of nothing, by the index that [`FieldType::Named`] holds; none
/// where that has no end.
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

/// The rank of a type; what may be empty needs nothing.
pub(crate) fn rank(field_type: &FieldType, ranks: &[Option<usize>]) -> Option<usize> {
    match field_type {
        FieldType::Named(index) => ranks.get(*index).copied().flatten(),
        FieldType::Box(content) => rank(content, ranks),
        FieldType::Tuple(items) => items.iter().try_fold(0, |most, item| Some(rank(item, ranks)?.max(most))),
        _ => Some(0),
    }
}

/// Makes plain values of the fields that keep types from having one; gives their places.
///
/// The `roots` are the types that the schemas of a tool are, with what a place in each begins with.
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

/// The shortest way to each type from the roots.
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

/// The types that a type names, with the way to each.
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

/// The way from a type to one of its members.
fn step(definition: &Definition, number: usize) -> String {
    match &definition.body {
        Body::Struct(body) => match body.fields.get(number) {
            Some(field) => format!(".{}", clean(&field.key, LONGEST_KEY)),
            None => ".*".to_owned(),
        },
        Body::Tagged { variants, .. } => match variants.get(number) {
            Some((value, _)) => format!("<{}>", clean(value, LONGEST_KEY)),
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

/// Makes plain values of the boxes that have no end: every type that holds itself does so through one.
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
    fn a_value_is_made_in_as_many_steps_as_it_takes() {
        let (sum, list, pair) =
            (boxed(0), FieldType::Vec(Box::new(FieldType::Named(1))), FieldType::Named(2));
        let literal = FieldType::F64;
        let types = [Made::One(vec![&pair, &literal]), Made::All(vec![&list]), Made::All(vec![&sum, &sum])];
        assert_eq!(ranks(&types), [Some(1), Some(1), Some(2)]);
        assert_eq!(ranks(&[Made::All(vec![&sum])]), [None]);
        assert_eq!(ranks(&[Made::One(Vec::new()), Made::nothing()]), [None, Some(1)]);
    }

    #[test]
    fn what_holds_itself_without_end_becomes_a_value() {
        let field = |key: &str| crate::form::Field {
            key: key.to_owned(),
            form: crate::form::Form::Named(0),
            required: true,
            note: crate::form::Note::default(),
        };
        let body =
            Body::Struct(crate::form::Struct { fields: vec![field("a"), field("b")], ..Default::default() });
        let definitions = [Definition { leaf: "Node".to_owned(), description: None, body }];
        let mut types = vec![vec![FieldType::Tuple(vec![FieldType::Bool, boxed(0)]), FieldType::String]];
        let root = FieldType::Vec(Box::new(FieldType::Named(0)));
        let roots = [(&root, "output")];
        assert_eq!(ground(&definitions, &mut types, &roots), ["output[].a"]);
        let pair = FieldType::Tuple(vec![FieldType::Bool, FieldType::Value]);
        assert_eq!(types, [[pair, FieldType::String]]);
        assert!(ground(&definitions, &mut types, &roots).is_empty());
    }
}
