//! One type for what has one name and one structure within a tool.

use std::collections::BTreeMap;

use crate::form::{Body, Definition, Form, Note};
use crate::normalise::Normalised;

/// Makes definitions one that have the same name and the same structure.
///
/// All definitions of one name are taken for the same at first, then told apart by what they are made
/// of until that makes no more difference, so that types that contain themselves are found equal too.
pub(crate) fn share(normalised: &mut Normalised) {
    let mut classes = vec![0; normalised.definitions.len()];
    let mut count = 0;
    loop {
        let texts: Vec<String> =
            normalised.definitions.iter().map(|definition| structure(definition, &classes)).collect();
        let mut numbers = BTreeMap::new();
        classes = texts
            .into_iter()
            .map(|text| {
                let next = numbers.len();
                *numbers.entry(text).or_insert(next)
            })
            .collect();
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    let first = |index: usize| classes.iter().position(|class| Some(class) == classes.get(index));
    let input = normalised.input;
    let mut replace = |form: &mut Form| {
        if let Form::Named(index) = form
            && let Some(first) = first(*index).filter(|first| *first != input)
        {
            *index = first;
        }
    };
    for definition in &mut normalised.definitions {
        definition.visit(&mut replace);
    }
    normalised.output.iter_mut().for_each(|output| output.visit(&mut replace));
}

/// Name and structure of a definition as a text, with the class of each definition that it names; notes
/// do not matter.
fn structure(definition: &Definition, classes: &[usize]) -> String {
    let mut bare = definition.clone();
    if let Body::Struct(body) = &mut bare.body {
        body.fields.iter_mut().for_each(|field| field.note = Note::default());
    }
    bare.visit(&mut |form| {
        if let Form::Named(index) = form {
            *index = classes.get(*index).copied().unwrap_or_default();
        }
    });
    format!("{bare:?}")
}
