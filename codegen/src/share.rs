//! Within a tool, definitions with the same name and structure share one type.

use std::collections::BTreeMap;

use crate::form::{Body, Definition, Form, Note};
use crate::normalise::Normalised;

/// Merges definitions that have the same name and the same structure.
pub(crate) fn share(normalised: &mut Normalised) {
    let classes = classes(&normalised.definitions, |definition| &definition.leaf);
    let input = normalised.input;
    let mut replace = |form: &mut Form| {
        if let Form::Named(index) = form
            && let Some(first) = first(&classes, *index).filter(|first| *first != input)
        {
            *index = first;
        }
    };
    for definition in &mut normalised.definitions {
        definition.visit(&mut replace);
    }
    normalised.output.iter_mut().for_each(|output| output.visit(&mut replace));
}

/// For each definition, the first one with the same structure, whatever their names.
pub(crate) fn alike(definitions: &[Definition]) -> Vec<usize> {
    let classes = classes(definitions, |_| "");
    (0..classes.len()).map(|index| first(&classes, index).unwrap_or(index)).collect()
}

fn first(classes: &[usize], index: usize) -> Option<usize> {
    classes.iter().position(|class| Some(class) == classes.get(index))
}

/// The classes of equal definitions.
///
/// Definitions with the same name and outline start in one class. Classes are split by the classes of their
/// parts until nothing changes. So recursive types are found equal too.
fn classes<'a>(definitions: &'a [Definition], name: impl Fn(&'a Definition) -> &'a str) -> Vec<usize> {
    let mut skeletons = BTreeMap::new();
    let parts: Vec<(usize, Vec<usize>)> = definitions
        .iter()
        .map(|definition| {
            let (skeleton, named) = parts(definition);
            let next = skeletons.len();
            (*skeletons.entry(format!("{:?} {skeleton}", name(definition))).or_insert(next), named)
        })
        .collect();
    let mut classes = vec![0; definitions.len()];
    let mut count = 0;
    loop {
        let mut numbers = BTreeMap::new();
        let next = parts.iter().map(|(skeleton, named)| {
            let named: Vec<Option<usize>> = named.iter().map(|index| classes.get(*index).copied()).collect();
            let next = numbers.len();
            *numbers.entry((*skeleton, named)).or_insert(next)
        });
        classes = next.collect();
        if numbers.len() == count {
            return classes;
        }
        count = numbers.len();
    }
}

/// The structure of a definition as a text, and the definitions that it refers to, in order. Notes do not
/// matter.
fn parts(definition: &Definition) -> (String, Vec<usize>) {
    let mut bare = definition.clone();
    if let Body::Struct(body) = &mut bare.body {
        body.fields.iter_mut().for_each(|field| field.note = Note::default());
    }
    let mut named = Vec::new();
    bare.visit(&mut |form| {
        if let Form::Named(index) = form {
            named.push(std::mem::take(index));
        }
    });
    (format!("{:?}", bare.body), named)
}
