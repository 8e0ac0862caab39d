//! The arguments of a tool, as they are collected from an operation.

use serde_json::{Map, Value, json};

use crate::schema::shortened;

/// The arguments of a tool.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Arguments {
    /// A name that no other argument has.
    pub(crate) fn free(&self, name: &str, place: &str) -> String {
        let mut free = name.to_owned();
        while self.properties.contains_key(&free) {
            free = format!("{place}_{free}");
        }
        free
    }

    pub(crate) fn add(&mut self, name: &str, schema: Value, is_required: bool) {
        self.properties.insert(name.to_owned(), schema);
        if is_required {
            self.required.push(name.into());
        }
    }

    pub(crate) fn schema(self) -> Value {
        let mut schema =
            json!({ "type": "object", "properties": self.properties, "additionalProperties": false });
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        schema
    }
}

/// A schema with the description of its parameter.
pub(crate) fn described(mut schema: Value, description: Option<&str>) -> Value {
    /// Maximum length, in bytes.
    const LIMIT: usize = 600;
    if let (Value::Object(members), Some(text)) =
        (&mut schema, description.filter(|text| !text.trim().is_empty()))
    {
        members.insert("description".to_owned(), shortened(text, LIMIT).into());
    }
    schema
}
