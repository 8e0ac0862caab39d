//! Where a schema lies.

use crate::text::clean;

/// How deep schemas may lie within each other before what is deeper becomes `Any`.
pub(crate) const DEEPEST: usize = 32;
/// How many references and bare unions may be passed on the way to a schema, besides the schemas it lies in.
const MOST_HOPS: usize = 3 * DEEPEST;

/// The longest part of a path that one property's name makes, in characters.
pub(crate) const LONGEST_KEY: usize = 60;

/// Where a schema lies.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// For warnings, such as `input.edits[].old_text`.
    pub(super) path: String,
    /// What a type made here would be called.
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
        self.step(&format!(".{}", clean(key, LONGEST_KEY)), key)
    }

    /// The place of each item of an array or each value of a map.
    pub(super) fn item(&self, path: &str) -> Place {
        self.step(path, crate::names::singular(&self.leaf))
    }

    /// A variant of a union of objects, by what its tag says.
    pub(super) fn variant(&self, value: &str) -> Place {
        self.step(&format!("<{}>", clean(value, LONGEST_KEY)), value)
    }

    /// The same place, by way of a reference or a union.
    pub(super) fn hop(&self) -> Place {
        Place { hops: self.hops + 1, ..self.clone() }
    }

    pub(super) fn named(self, leaf: impl Into<String>) -> Place {
        Place { leaf: leaf.into(), ..self }
    }

    pub(super) fn is_too_deep(&self, deepest: usize) -> bool {
        self.depth > deepest || self.hops > MOST_HOPS
    }
}
