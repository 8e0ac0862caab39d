//! Arrays: lists and tuples.

use serde_json::Value;

use super::{Place, Reader, Schema};
use crate::form::Form;

/// Tuples of more places are lists of anything.
const LONGEST_TUPLE: usize = 4;

impl Reader<'_> {
    pub(super) fn array(&mut self, schema: &Schema, place: &Place) -> Form {
        let item = place.item("[]");
        let prefix = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(prefix)), _) | (None, Some(Value::Array(prefix))) => prefix,
            (_, Some(items)) => return Form::List(Box::new(self.form(items, &item))),
            _ => return Form::List(Box::new(Form::Any)),
        };
        if prefix.is_empty() {
            return Form::List(Box::new(Form::Any));
        }
        if prefix.len() <= LONGEST_TUPLE && is_closed(schema, prefix.len()) {
            let at = |(index, schema)| self.form(schema, &place.step(&format!("[{index}]"), &item.leaf));
            return Form::Tuple(prefix.iter().enumerate().map(at).collect());
        }
        self.warn(place, "the array has a type for each place, but no fixed length of 4 at most");
        Form::List(Box::new(Form::Any))
    }
}

/// Whether the array has exactly `length` items.
fn is_closed(schema: &Schema, length: usize) -> bool {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let further = if schema.contains_key("prefixItems") { "items" } else { "additionalItems" };
    let none_above =
        schema.get(further) == Some(&Value::Bool(false)) || number("maxItems") == Some(length as u64);
    none_above && number("minItems") == Some(length as u64)
}
