//! The schemas that references point to, and their forms.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::form::Form;
use crate::text::clean;

/// Maximum number of values of a document searched for anchors, and the maximum depth.
const MAX_SEARCHED: usize = 50_000;
const DEEPEST_SEARCHED: usize = 128;
/// The longest reference in a message, in characters.
const MAX_SHOWN: usize = 80;

/// The schemas that references point to. Each is read once.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    indices: BTreeMap<String, usize>,
    targets: Vec<Target>,
    /// The places of `$anchor`, `$dynamicAnchor` and draft 4's `"id": "#…"`, as pointers.
    pub(super) anchors: BTreeMap<String, String>,
    /// The places of schemas with their own `$id`.
    pub(super) resources: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Target {
    name: String,
    form: Option<Form>,
}

impl Pointers {
    pub(super) fn new(root: &Value) -> Self {
        let mut pointers = Pointers::default();
        let mut left = MAX_SEARCHED;
        pointers.search(root, "", 0, &mut left);
        pointers
    }

    /// Collects names that references can use. Of equal names, the first one counts.
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

    /// The index of a target, and whether it is new.
    pub(super) fn enter(&mut self, name: &str) -> (usize, bool) {
        if let Some(index) = self.indices.get(name) {
            return (*index, false);
        }
        let index = self.targets.len();
        self.targets.push(Target { name: name.to_owned(), form: None });
        self.indices.insert(name.to_owned(), index);
        (index, true)
    }

    pub(super) fn form(&self, index: usize) -> Option<&Form> {
        self.targets.get(index).and_then(|target| target.form.as_ref())
    }

    pub(super) fn finish(&mut self, index: usize, form: &Form) {
        if let Some(target) = self.targets.get_mut(index) {
            target.form = Some(form.clone());
        }
    }

    /// Sets the form of the whole document.
    pub(super) fn finish_root(&mut self, form: &Form) {
        let (index, _) = self.enter("");
        self.finish(index, form);
    }

    /// The form of a pending reference, if it has a name and so may contain itself.
    ///
    /// # Errors
    ///
    /// If the form has no name.
    pub(super) fn settle(&self, pointer: usize) -> Result<Form, EndlessReference> {
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
        let name = name.filter(|name| !name.starts_with(' '));
        Err(EndlessReference {
            target: name.map_or("a union".to_owned(), |name| format!("#{}", clean(name, MAX_SHOWN))),
        })
    }

    /// Replaces a form that was pending until the end of the document.
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

/// A reference that leads back to itself without a type that has a name.
#[derive(Debug, thiserror::Error)]
#[error("{target} refers to itself with no object in between")]
pub(super) struct EndlessReference {
    target: String,
}

/// The warning for a reference that does not resolve.
pub(super) fn dangling(reference: &str) -> String {
    let shown = clean(reference, MAX_SHOWN);
    format!("the reference {shown:?} points nowhere in the schema")
}

/// A key as a part of a pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
