//! The schemas that references point to, and what became of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::form::Form;
use crate::text::clean;

/// How many values of a document are searched for anchors, and how deep.
const MOST_SEARCHED: usize = 50_000;
const DEEPEST_SEARCHED: usize = 128;
/// The longest reference in a message, in characters.
const LONGEST_SHOWN: usize = 80;

/// The schemas that references point to: each is read once.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    indices: BTreeMap<String, usize>,
    targets: Vec<Target>,
    /// The places of `$anchor`, `$dynamicAnchor` and draft 4's `"id": "#…"`, as pointers.
    pub(super) anchors: BTreeMap<String, String>,
    /// The places of schemas with an `$id` of their own.
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

    pub(super) fn form(&self, index: usize) -> Option<&Form> {
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

/// The warning for a reference that cannot be followed.
pub(super) fn dangling(reference: &str) -> String {
    let shown = clean(reference, LONGEST_SHOWN);
    format!("the reference {shown:?} does not lead anywhere in the schema")
}

/// A key as a part of a pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
