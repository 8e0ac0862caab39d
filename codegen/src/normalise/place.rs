//! The place of a schema in its document.

use std::borrow::Cow;

use super::keywords::{Schema, name_in_title};
use crate::names::camel;
use crate::text::clean;

/// Maximum nesting of schemas. Deeper ones become `Any`.
pub(crate) const DEEPEST: usize = 32;
/// Maximum number of references and bare unions on the path to a schema, in addition to the nesting.
const MAX_HOPS: usize = 3 * DEEPEST;

/// The longest part of a path from one property's name, in characters.
pub(crate) const MAX_KEY: usize = 60;

/// The place of a schema in its document.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The path for warnings, for example `input.edits[].old_text`.
    pub(super) path: String,
    /// The name for a type defined here.
    pub(super) leaf: String,
    /// Whether that is the schema's own name, not that of the place.
    pub(super) own: bool,
    /// The own name of the nearest schema around this one; empty if none has one.
    pub(super) within: String,
    depth: usize,
    hops: usize,
}

impl Place {
    pub(super) fn root(path: &str, leaf: &str) -> Place {
        Place {
            path: path.to_owned(),
            leaf: leaf.to_owned(),
            own: false,
            within: String::new(),
            depth: 0,
            hops: 0,
        }
    }

    pub(super) fn step(&self, path: &str, leaf: impl Into<String>) -> Place {
        Place {
            path: format!("{}{path}", self.path),
            leaf: leaf.into(),
            own: false,
            within: if self.own { self.leaf.clone() } else { self.within.clone() },
            depth: self.depth + 1,
            hops: self.hops,
        }
    }

    pub(super) fn field(&self, key: &str) -> Place {
        self.step(&format!(".{}", clean(key, MAX_KEY)), key)
    }

    /// The place of each item of an array or each value of a map.
    pub(super) fn item(&self, path: &str) -> Place {
        let within = self.within.clone();
        Place { within, ..self.step(path, crate::names::singular(&self.leaf)) }
    }

    /// A variant of a union of objects, by the value of its tag.
    pub(super) fn variant(&self, value: &str) -> Place {
        self.step(&format!("<{}>", clean(value, MAX_KEY)), value)
    }

    /// The same place, through a reference or a union.
    pub(super) fn hop(&self) -> Place {
        Place { hops: self.hops + 1, ..self.clone() }
    }

    /// The same place, with the schema's own name.
    pub(super) fn named(self, name: impl Into<String>) -> Place {
        Place { leaf: name.into(), own: true, ..self }
    }

    /// The same place, with the name in the schema's title, if the place does not say it already.
    pub(super) fn titled(&self, schema: &Schema) -> Cow<'_, Place> {
        match name_in_title(schema).filter(|name| !self.own && camel(name) != camel(&self.leaf)) {
            Some(name) => Cow::Owned(self.clone().named(name)),
            None => Cow::Borrowed(self),
        }
    }

    pub(super) fn is_too_deep(&self, deepest: usize) -> bool {
        self.depth > deepest || self.hops > MAX_HOPS
    }
}
