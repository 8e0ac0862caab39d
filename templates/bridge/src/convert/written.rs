//! The written forms of received objects.

use serde_json::{Map, Value};

/// The written form of a value that a type reads as an object.
#[derive(Debug, Clone)]
pub enum Written {
    /// The names of the members in their order, each with whether it is a declared one that was null.
    Object(Vec<(String, bool)>),
    /// It was not an object.
    Other(Value),
}

impl Written {
    /// Puts an object's members in the form that was read.
    pub(super) fn rewrite(&self, mut object: Map<String, Value>) -> Value {
        let names = match self {
            Written::Object(names) => names,
            Written::Other(value) => return value.clone(),
        };
        let mut ordered = Map::with_capacity(object.len());
        for (name, was_null) in names {
            match object.get_mut(name) {
                Some(value) => ordered.insert(name.clone(), value.take()),
                None if *was_null => ordered.insert(name.clone(), Value::Null),
                None => None,
            };
        }
        for (name, value) in object {
            ordered.entry(name).or_insert(value);
        }
        Value::Object(ordered)
    }
}
