//! References: `$ref` within the document, in the spellings of all drafts.

use serde_json::Value;

use super::keywords::Schema;
use super::merge;
use super::place::Place;
use super::pointers::dangling;
use super::reader::Reader;
use crate::form::Form;

impl Reader<'_> {
    /// The form of a schema that is only a reference, as far as types are concerned.
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
        // The root is being read already, so it is never new.
        if !new || pointer.is_empty() {
            return self.known(index, place);
        }
        let Some(target) = self.root.pointer(&pointer).cloned() else {
            return self.give_up(place, format!("the reference {reference:?} points to nothing"));
        };
        let place = match own_name(&pointer) {
            Some(name) => place.hop().named(name),
            None => place.hop(),
        };
        let form = self.form(&target, &place);
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

    /// The schema that a reference points to.
    pub(super) fn resolve(&self, reference: &str) -> Option<Value> {
        self.pointer(reference).and_then(|pointer| self.root.pointer(&pointer)).cloned()
    }

    /// The name in `$defs` of the schema that another one refers to, if it is nothing else.
    pub(super) fn name_of_target(&self, schema: &Value) -> Option<String> {
        let (reference, _) = merge::plain_reference(schema.as_object()?)?;
        own_name(&self.pointer(&reference)?)
    }

    /// The JSON pointer for a reference, if it resolves within the document.
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

    /// The pointer to a schema named by its `$id`, or by the end of it.
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

/// The name that the schema's author gave to a definition, unless a tool generated it.
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
