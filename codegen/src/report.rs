//! Reports on a tool's schemas: how much of them has types, what has none, and how many tokens the signature
//! saves.

use serde::{Deserialize, Serialize};

/// The share of a tool's schemas that became types, and the tokens that the signature saves.
///
/// Counted places: each property, including those of nested objects, unions and definitions; the items of an
/// array with a schema for them; each item of a tuple; the values of a map and the additional properties that
/// the schema describes; an output that is not an object with known fields. The target of a `$ref` counts
/// once, where it is first read. Variants of a union do not count, nor does anything below a place without a
/// type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Number of places in the schemas that need a type.
    pub properties: usize,
    /// Number of those that have one, or whose schema allows anything.
    pub typed: usize,
    /// The other places: `properties - typed` of them.
    pub fallbacks: Vec<Fallback>,
    /// Estimated tokens of the server's description of the tool, as JSON.
    pub schema_tokens: usize,
    /// Estimated tokens of its signature.
    pub signature_tokens: usize,
    /// Number of lines of its generated code.
    pub lines: usize,
}

/// A place that became a plain `serde_json::Value`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fallback {
    /// The place, for example `input.edits[].old_text`.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// A place in a schema whose type says less than the schema.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Warning {
    /// The tool.
    pub tool: String,
    /// The place, for example `input.edits[].old_text`.
    pub path: String,
    /// The reason.
    pub reason: String,
}
