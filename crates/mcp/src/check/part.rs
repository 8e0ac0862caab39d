//! A part of a schema, compiled into one validator.

use jsonschema::Validator;

/// The keyword that refers to another part; its value is the part's index.
pub(super) const PART: &str = "~part";

/// One validator: a schema without the targets of its references.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) validator: Validator,
    /// The number of nodes in the schema.
    pub(super) weight: usize,
    /// The nesting depth of the schema, in schemas.
    pub(super) depth: usize,
}
