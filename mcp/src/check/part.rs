//! A part of a schema, which one validator covers.

use jsonschema::Validator;

/// The keyword that leads to another part; its value is the part's index.
pub(super) const PART: &str = "~part";

/// What one validator covers: a schema without the targets of its references.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) validator: Validator,
    /// How many places the schema has.
    pub(super) weight: usize,
    /// How deep the schema is, in schemas within each other.
    pub(super) depth: usize,
}
