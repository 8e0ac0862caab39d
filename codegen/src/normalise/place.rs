//! The place of a schema in its document.

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
    depth: usize,
    hops: usize,
}

impl Place {
    pub(super) fn root(path: &str, leaf: &str) -> Place {
        Place { path: path.to_owned(), leaf: leaf.to_owned(), depth: 0, hops: 0 }
    }

    pub(super) fn step(&self, path: &str, leaf: impl Into<String>) -> Place {
        Place {
            path: format!("{}{path}", self.path),
            leaf: leaf.into(),
            depth: self.depth + 1,
            hops: self.hops,
        }
    }

    pub(super) fn field(&self, key: &str) -> Place {
        self.step(&format!(".{}", clean(key, MAX_KEY)), key)
    }

    /// The place of each item of an array or each value of a map.
    pub(super) fn item(&self, path: &str) -> Place {
        self.step(path, crate::names::singular(&self.leaf))
    }

    /// A variant of a union of objects, by the value of its tag.
    pub(super) fn variant(&self, value: &str) -> Place {
        self.step(&format!("<{}>", clean(value, MAX_KEY)), value)
    }

    /// The same place, through a reference or a union.
    pub(super) fn hop(&self) -> Place {
        Place { hops: self.hops + 1, ..self.clone() }
    }

    pub(super) fn named(self, leaf: impl Into<String>) -> Place {
        Place { leaf: leaf.into(), ..self }
    }

    pub(super) fn is_too_deep(&self, deepest: usize) -> bool {
        self.depth > deepest || self.hops > MAX_HOPS
    }
}
