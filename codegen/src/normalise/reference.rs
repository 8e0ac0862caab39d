//! References: `$ref` within the document, in all the ways that drafts spell it.

use serde_json::Value;

use super::keywords::Schema;
use super::merge;
use super::place::Place;
use super::pointers::dangling;
use super::reader::Reader;
use crate::form::Form;

impl Reader<'_> {
    /// The form of a schema that is a reference and nothing else that matters to types.
    pub(super) fn reference(&mut self, keywords: &Schema, place: &Place) -> Option<Form> {
        let (reference, nullable) = merge::plain_reference(keywords)?;
        let form = self.target(&reference, place);
        Some(if nullable { form.nullable() } else { form })
    }

    fn target(&mut self, reference: &str, place: &Place) -> Form {
        let Some(pointer) = self.pointer(reference) else {
            return self.give_up(place, dangling(reference));
        };
        let (index, new) = self.pointers.enter(&pointer);
        // The document's own place is known from the start: it is being read.
        if !new || pointer.is_empty() {
            return self.known(index, place);
        }
        let Some(target) = self.root.pointer(&pointer).cloned() else {
            return self.give_up(place, format!("there is nothing at {reference:?}"));
        };
        let leaf = own_name(&pointer).unwrap_or_else(|| place.leaf.clone());
        let form = self.form(&target, &place.hop().named(leaf));
        self.describe(&form, &target);
        self.pointers.finish(index, &form);
        form
    }

    /// The form of a target that was entered before.
    pub(super) fn known(&mut self, index: usize, place: &Place) -> Form {
        match self.pointers.form(index).cloned() {
            None => Form::Pending(index),
            Some(form) if self.spend(form.size()) => form,
            Some(_) => self.give_up(place, "the schema is too large"),
        }
    }

    /// The schema that a reference leads to.
    pub(super) fn resolve(&self, reference: &str) -> Option<Value> {
        self.pointer(reference).and_then(|pointer| self.root.pointer(&pointer)).cloned()
    }

    /// The JSON pointer that a reference is, if it leads to something in the document.
    pub(super) fn pointer(&self, reference: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = self.resource(document)?;
        let fragment = decode(fragment)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.pointers.anchors.get(&fragment).cloned();
        }
        let pointer = format!("{base}{fragment}");
        self.root.pointer(&pointer).map(|_| pointer)
    }

    /// The pointer to a schema that is named by its `$id`, or by the end of it.
    fn resource(&self, document: &str) -> Option<String> {
        let id = ["$id", "id"].iter().find_map(|key| self.root.get(key)?.as_str());
        let names = |id: &str| id == document || id.ends_with(&format!("/{document}"));
        if document.is_empty() || id.is_some_and(|id| names(id.trim_end_matches('#'))) {
            return Some(String::new());
        }
        let known = &self.pointers.resources;
        let found = known.get(document);
        found.or_else(|| known.iter().find(|(id, _)| names(id)).map(|(_, pointer)| pointer)).cloned()
    }
}

/// The name that a schema's author gave to a definition, unless a tool made it up.
fn own_name(pointer: &str) -> Option<String> {
    let (container, name) = pointer.rsplit_once('/')?;
    let made_up = name.starts_with("__") || name.is_empty();
    let in_definitions = container.ends_with("/$defs") || container.ends_with("/definitions");
    (in_definitions && !made_up).then(|| name.replace("~1", "/").replace("~0", "~"))
}

/// Undoes the percent-encoding of a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}
