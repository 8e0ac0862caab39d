//! `enum` and `const`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::keywords::{Schema, types};
use super::place::Place;
use super::reader::Reader;
use super::union::kind_of_value;
use crate::form::{Body, Form, Kind};

/// An enum with more values than this becomes a text.
const MAX_VALUES: usize = 256;

impl Reader<'_> {
    /// The form of an enumeration. If the schema also names types, values of other types are ignored.
    pub(super) fn enumeration(&mut self, schema: &Schema, values: &[Value], place: &Place) -> Form {
        let types = types(schema);
        let some = values.iter().filter(|value| !value.is_null());
        let fitting: Vec<&Value> =
            some.clone().filter(|value| types.iter().any(|name| is_of(value, name))).collect();
        let some: Vec<&Value> = if fitting.is_empty() { some.collect() } else { fitting };
        let form = self.values(&some, values.is_empty(), place);
        // Some generators write a nullable enum without null in its values.
        let nullable = values.contains(&Value::Null) || types.iter().any(|name| name == "null");
        if nullable { form.nullable() } else { form }
    }

    fn values(&mut self, some: &[&Value], empty: bool, place: &Place) -> Form {
        let all = |test: fn(&Value) -> bool| some.iter().all(|value| test(value));
        match () {
            () if empty => self.give_up(place, "the enumeration is empty"),
            () if some.is_empty() => Form::Null,
            () if all(Value::is_string) => {
                self.texts(some.iter().filter_map(|value| value.as_str()), false, place)
            }
            () if all(Value::is_boolean) => Form::Boolean,
            () if all(Value::is_i64) => Form::Integer,
            () if all(Value::is_u64) => Form::Unsigned,
            () if all(Value::is_number) => Form::Number,
            () if some.iter().any(|value| value.is_array() || value.is_object()) => {
                self.give_up(place, "the enumeration has arrays or objects")
            }
            () => {
                let kinds: BTreeSet<Kind> = some.iter().filter_map(|value| kind_of_value(value)).collect();
                Form::Scalar(kinds.into_iter().collect())
            }
        }
    }

    /// An enum of texts.
    pub(super) fn texts<'t>(
        &mut self,
        values: impl Iterator<Item = &'t str>,
        loose: bool,
        place: &Place,
    ) -> Form {
        let mut unique: Vec<String> = Vec::new();
        for value in values {
            if !unique.iter().any(|known| known == value) {
                unique.push(value.to_owned());
            }
        }
        if unique.len() > MAX_VALUES {
            self.warn(place, format!("the enumeration has {} values", unique.len()));
            return Form::Text;
        }
        if self.is_full() {
            self.warn(place, "the tool has too many types for another enumeration");
            return Form::Text;
        }
        self.define(place, Body::Texts { values: unique, loose })
    }
}

/// Whether a value is of a JSON Schema type.
fn is_of(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(_) => name == "number" || name == "integer",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}
