//! Arrays: lists and tuples.

use serde_json::{Value, json};

use super::keywords::Schema;
use super::place::Place;
use super::reader::Reader;
use crate::form::Form;

/// Longer tuples are lists.
const MAX_TUPLE: usize = 4;

impl Reader<'_> {
    pub(super) fn array(&mut self, schema: &Schema, place: &Place) -> Form {
        let item = place.item("[]");
        let (prefix, further) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(prefix)), items) => (prefix, items),
            (_, Some(Value::Array(prefix))) => (prefix, schema.get("additionalItems")),
            (_, None | Some(Value::Bool(false))) => return Form::List(Box::new(Form::Any)),
            (_, Some(items)) => {
                let form = self.place(items, &item);
                self.describe(&form, items);
                return Form::List(Box::new(form));
            }
        };
        if prefix.is_empty() {
            return Form::List(Box::new(Form::Any));
        }
        let open = further.or_else(|| schema.get("unevaluatedItems")) != Some(&Value::Bool(false));
        let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let count = prefix.len() as u64;
        let closed = !open || length("maxItems").is_some_and(|most| most <= count);
        if closed && length("minItems") == Some(count) && prefix.len() <= MAX_TUPLE {
            let at = |(index, schema)| self.place(schema, &place.step(&format!("[{index}]"), &item.leaf));
            return Form::Tuple(prefix.iter().enumerate().map(at).collect());
        }
        let mut places: Vec<&Value> = prefix.iter().collect();
        places.extend(further.filter(|_| !closed));
        let typed = closed || further.is_some();
        Form::List(Box::new(self.any_place(&places, typed, &item)))
    }

    /// The common item type of a tuple that has no fixed length or is too long.
    fn any_place(&mut self, places: &[&Value], typed: bool, place: &Place) -> Form {
        let mut unique: Vec<&Value> = Vec::new();
        for schema in places {
            if !unique.contains(schema) {
                unique.push(schema);
            }
        }
        let form = match unique.as_slice() {
            _ if !typed => {
                self.give_up(place, "the array has a type for each of its first items and none for the rest")
            }
            [only] => self.form(only, place),
            several => self.form(&json!({ "anyOf": several }), place),
        };
        places.iter().for_each(|_| self.count(place, &form));
        form
    }
}
