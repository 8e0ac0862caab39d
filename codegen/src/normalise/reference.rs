//! References: `$ref` within the document, in all the ways that drafts spell it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Place, Reader, Schema, merge};
use crate::form::Form;
use crate::text::clean;

/// How many values of a document are searched for anchors, and how deep.
const MOST_SEARCHED: usize = 50_000;
const DEEPEST_SEARCHED: usize = 128;

/// The schemas that references point to: each is read once.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    indices: BTreeMap<String, usize>,
    targets: Vec<Target>,
    /// The places of `$anchor`, `$dynamicAnchor` and draft 4's `"id": "#…"`, as pointers.
    anchors: BTreeMap<String, String>,
    /// The places of schemas with an `$id` of their own.
    resources: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Target {
    name: String,
    form: Option<Form>,
}

impl Pointers {
    pub(super) fn new(root: &Value) -> Self {
        let mut pointers = Pointers::default();
        let mut left = MOST_SEARCHED;
        pointers.search(root, "", 0, &mut left);
        pointers
    }

    /// Finds names that references can use. The first of two that are the same counts.
    fn search(&mut self, value: &Value, pointer: &str, depth: usize, left: &mut usize) {
        if *left == 0 || depth > DEEPEST_SEARCHED {
            return;
        }
        *left -= 1;
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.search(item, &format!("{pointer}/{index}"), depth + 1, left);
                }
            }
            Value::Object(fields) => {
                let text = |key: &str| fields.get(key).and_then(Value::as_str);
                let ids = ["$id", "id"].map(text);
                let fragments = ids.iter().flatten().filter_map(|id| id.strip_prefix('#'));
                let anchors = ["$anchor", "$dynamicAnchor"].map(text);
                for anchor in anchors.into_iter().flatten().chain(fragments).filter(|name| !name.is_empty()) {
                    self.anchors.entry(anchor.to_owned()).or_insert_with(|| pointer.to_owned());
                }
                if let Some(id) = text("$id").map(|id| id.trim_end_matches('#')).filter(|id| !id.is_empty()) {
                    self.resources.entry(id.to_owned()).or_insert_with(|| pointer.to_owned());
                }
                let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
                for (key, field) in sorted {
                    self.search(field, &format!("{pointer}/{}", escape(key)), depth + 1, left);
                }
            }
            _ => {}
        }
    }

    /// The index of a target; the second part says whether it is new.
    pub(super) fn enter(&mut self, name: &str) -> (usize, bool) {
        if let Some(index) = self.indices.get(name) {
            return (*index, false);
        }
        let index = self.targets.len();
        self.targets.push(Target { name: name.to_owned(), form: None });
        self.indices.insert(name.to_owned(), index);
        (index, true)
    }

    fn form(&self, index: usize) -> Option<&Form> {
        self.targets.get(index).and_then(|target| target.form.as_ref())
    }

    pub(super) fn finish(&mut self, index: usize, form: &Form) {
        if let Some(target) = self.targets.get_mut(index) {
            target.form = Some(form.clone());
        }
    }

    /// Says what the whole document is.
    pub(super) fn finish_root(&mut self, form: &Form) {
        let (index, _) = self.enter("");
        self.finish(index, form);
    }

    /// What a pending reference turned out to be, if that has a name and so can stand within itself.
    ///
    /// # Errors
    /// With the target's name, where it has no such name.
    pub(super) fn settle(&self, pointer: usize) -> Result<Form, String> {
        let mut pointer = pointer;
        let mut nullable = false;
        for _ in 0..=self.targets.len() {
            match self.form(pointer) {
                Some(Form::Named(index)) if nullable => return Ok(Form::Named(*index).nullable()),
                Some(Form::Named(index)) => return Ok(Form::Named(*index)),
                Some(Form::Pending(next)) => pointer = *next,
                Some(form @ (Form::Any | Form::Lost(_))) => return Ok(form.clone()),
                Some(Form::Nullable(inner)) => match **inner {
                    Form::Named(index) => return Ok(Form::Named(index).nullable()),
                    Form::Pending(next) => (pointer, nullable) = (next, true),
                    _ => break,
                },
                _ => break,
            }
        }
        let name = self.targets.get(pointer).map(|target| target.name.as_str());
        Err(name
            .filter(|name| !name.starts_with(' '))
            .map_or("a union".to_owned(), |name| format!("#{}", clean(name, LONGEST_SHOWN))))
    }

    /// Replaces a form that had to wait for the end of the document.
    pub(super) fn replace(&self, form: &mut Form) {
        match form {
            Form::Pending(pointer) => {
                *form = match self.settle(*pointer) {
                    Ok(Form::Lost(_)) | Err(_) => Form::Any,
                    Ok(settled) => settled,
                }
            }
            Form::Lost(_) => *form = Form::Any,
            Form::Nullable(inner) if matches!(**inner, Form::Any | Form::Nullable(_)) => {
                *form = std::mem::replace(inner, Form::Any);
            }
            _ => {}
        }
    }
}

/// The longest reference in a message, in characters.
const LONGEST_SHOWN: usize = 80;

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

/// The warning for a reference that cannot be followed.
pub(super) fn dangling(reference: &str) -> String {
    let shown = clean(reference, LONGEST_SHOWN);
    format!("the reference {shown:?} does not lead anywhere in the schema")
}

/// A key as a part of a pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
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
