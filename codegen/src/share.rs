//! Types with the same structure are one type, whatever they are called and wherever they are.
//!
//! The structure is what values look like in JSON: names, types, and whether they are required. Descriptions, defaults
//! and bounds do not matter, nor does the order of fields and values.

use std::collections::{BTreeMap, VecDeque};

use crate::form::{Body, Definition, Field, Form, Note};
use crate::normalise::Normalised;

/// The longest description that is made of those of several schemas, in bytes.
const LONGEST: usize = 400;

/// The structure of a definition with all that it refers to, equal for equal ones of all tools.
pub(crate) type Structure = [u8; 32];

/// Merges the definitions of a tool that have the same structure. The input stays apart.
pub(crate) fn share(normalised: &mut Normalised) {
    let input = normalised.input;
    let firsts = firsts(&normalised.definitions, Some(input));
    for (index, first) in firsts.iter().copied().enumerate().filter(|(index, first)| index != first) {
        if let Some(other) = normalised.definitions.get(index).cloned()
            && let Some(definition) = normalised.definitions.get_mut(first)
        {
            definition.absorb(&other);
        }
    }
    let mut replace = |form: &mut Form| {
        if let Form::Named(index) = form {
            *index = firsts.get(*index).copied().unwrap_or(*index);
        }
    };
    for definition in &mut normalised.definitions {
        definition.visit(&mut replace);
    }
    if let Some(output) = &mut normalised.output {
        output.visit(&mut replace);
    }
}

/// For each definition, the first one with the same structure.
pub(crate) fn alike(definitions: &[Definition]) -> Vec<usize> {
    firsts(definitions, None)
}

/// The structure of each definition of a tool whose definitions are merged. The input, and so whatever contains it, is
/// like no type of another tool.
pub(crate) fn structures(definitions: &[Definition], input: usize, tool: &str) -> Vec<Structure> {
    let parts: Vec<(Structure, Vec<usize>)> = definitions
        .iter()
        .enumerate()
        .map(|(index, definition)| {
            let (skeleton, named) = parts(definition);
            let of = if index == input { format!("input of {tool:?} ") } else { String::new() };
            (*blake3::hash(format!("{of}{skeleton}").as_bytes()).as_bytes(), named)
        })
        .collect();
    (0..definitions.len()).map(|index| structure(&parts, index)).collect()
}

/// The hash of all that a definition refers to, in the order in which it is reached.
fn structure(parts: &[(Structure, Vec<usize>)], index: usize) -> Structure {
    let mut numbers = BTreeMap::from([(index, 0_u64)]);
    let mut open = VecDeque::from([index]);
    let mut hasher = blake3::Hasher::new();
    while let Some((skeleton, named)) = open.pop_front().and_then(|index| parts.get(index)) {
        hasher.update(skeleton);
        for index in named {
            let next = numbers.len() as u64;
            let number = *numbers.entry(*index).or_insert_with(|| {
                open.push_back(*index);
                next
            });
            hasher.update(&number.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

/// For each definition, the first one of its class. One definition may stay `apart`.
///
/// Definitions with the same outline start in one class. Classes are split by the classes of their parts until nothing
/// changes. So recursive types are found equal too.
fn firsts(definitions: &[Definition], apart: Option<usize>) -> Vec<usize> {
    let mut skeletons = BTreeMap::new();
    let parts: Vec<(usize, Vec<usize>)> = definitions
        .iter()
        .enumerate()
        .map(|(index, definition)| {
            let (skeleton, named) = parts(definition);
            let next = skeletons.len();
            (*skeletons.entry((Some(index) == apart, skeleton)).or_insert(next), named)
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
            break;
        }
        count = numbers.len();
    }
    let mut firsts = BTreeMap::new();
    classes.into_iter().enumerate().map(|(index, class)| *firsts.entry(class).or_insert(index)).collect()
}

/// The structure of a definition as a text, and the definitions that it refers to, in order.
fn parts(definition: &Definition) -> (String, Vec<usize>) {
    let mut bare = Definition::new("", definition.body.clone());
    match &mut bare.body {
        Body::Struct(body) => {
            body.fields.iter_mut().for_each(|field| field.note = Note::default());
            body.fields.sort_by(|one, other| one.key.cmp(&other.key));
            body.constants.sort_by(|(one, _), (other, _)| one.cmp(other));
            body.closed = false;
        }
        Body::Texts { values, .. } => values.sort_unstable(),
        Body::Tagged { variants, .. } => variants.sort_by(|(one, _), (other, _)| one.cmp(other)),
        Body::Kinds(_) | Body::Whole => {}
    }
    let mut named = Vec::new();
    bare.visit(&mut |form| {
        if let Form::Named(index) = form {
            named.push(std::mem::take(index));
        }
    });
    (format!("{:?}", bare.body), named)
}

impl Definition {
    /// Adds what another definition of the same structure says: its names and descriptions. Facts about values stay if
    /// both state them.
    pub(crate) fn absorb(&mut self, other: &Definition) {
        for name in &other.own {
            if !self.own.contains(name) {
                self.own.push(name.clone());
            }
        }
        if self.within.is_empty() {
            self.within.clone_from(&other.within);
        }
        if self.description.is_none() {
            self.description.clone_from(&other.description);
        }
        if let (Body::Struct(own), Body::Struct(other)) = (&mut self.body, &other.body) {
            let closed = other.closed;
            let notes: BTreeMap<&str, &Note> =
                other.fields.iter().map(|field| (field.key.as_str(), &field.note)).collect();
            for Field { key, note, .. } in &mut own.fields {
                if let Some(other) = notes.get(key.as_str()) {
                    note.absorb(other);
                }
            }
            // A type is open if one of its places is.
            own.closed &= closed;
        }
    }
}

impl Note {
    fn absorb(&mut self, other: &Note) {
        self.facts.retain(|fact| other.facts.contains(fact));
        match (&mut self.description, &other.description) {
            (own @ None, other) => own.clone_from(other),
            (Some(own), Some(other))
                if !own.contains(other.as_str()) && own.len() + other.len() <= LONGEST =>
            {
                own.push_str(" / ");
                own.push_str(other);
            }
            _ => {}
        }
    }
}
