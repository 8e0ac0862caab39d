//! What became of a tool's schemas: how much of them has types, what has none, and what reading its signature saves.

use serde::{Deserialize, Serialize};

/// How much of a tool's schemas became types, and what reading its signature saves.
///
/// The places that count: each property, those of objects within objects, unions and definitions included; the
/// items of an array that has a schema for them; each place of a tuple; the values of a map and further properties
/// that the schema speaks of; an output that is no object with known fields. What a `$ref` leads to counts once,
/// where it is read first. Variants of a union are no places, and what lies below a place without a type is none
/// either.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Places in the schemas that want a type.
    pub properties: usize,
    /// Those of them that have one, or whose schema allows anything.
    pub typed: usize,
    /// The others; `properties - typed` of them.
    pub fallbacks: Vec<Fallback>,
    /// The tool as its server describes it, as JSON, in estimated tokens.
    pub schema_tokens: usize,
    /// Its signature, in estimated tokens.
    pub signature_tokens: usize,
    /// The lines of its generated code.
    pub lines: usize,
}

/// A place that became a plain `serde_json::Value`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fallback {
    /// The place, such as `input.edits[].old_text`.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A place in a schema that became less than it says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Warning {
    /// The tool.
    pub tool: String,
    /// The place, such as `input.edits[].old_text`.
    pub path: String,
    /// Why.
    pub reason: String,
}
