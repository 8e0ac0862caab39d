//! Objects: what the conversions of generated structs and tagged enums are made of.

use serde_json::{Map, Value};

use super::json::fields;
use super::{FromJson, Mismatch, ToJson};

/// A field on its way to JSON.
type Field<'a> = (&'a str, &'a dyn ToJson);

/// An object of the `required` fields, and of those `optional` ones that are not null.
#[must_use]
pub fn object(required: &[Field<'_>], optional: &[Field<'_>]) -> Value {
    Value::Object(collect(required, optional))
}

/// As [`object`], with the fields of `extra` added; where names meet, the known field stands.
#[must_use]
pub fn object_with_extra(required: &[Field<'_>], optional: &[Field<'_>], extra: &dyn ToJson) -> Value {
    let mut object = collect(required, optional);
    if let Value::Object(extra) = extra.to_json() {
        for (key, value) in extra {
            object.entry(key).or_insert(value);
        }
    }
    Value::Object(object)
}

fn collect(required: &[Field<'_>], optional: &[Field<'_>]) -> Map<String, Value> {
    let mut object = Map::new();
    for (key, field) in required {
        object.insert((*key).to_owned(), field.to_json());
    }
    for (key, field) in optional {
        let value = field.to_json();
        if !value.is_null() {
            object.insert((*key).to_owned(), value);
        }
    }
    object
}

/// The fields of an object while they are read, and the first mismatch.
///
/// Fields are taken one by one; where one is a mismatch, it and all that follow are `None`, and
/// [`Fields::mismatch`] says why. Generated code asks once, after the last field: an early return for each
/// would be half of what there is to compile.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    mismatch: Option<Mismatch>,
}

impl Fields {
    /// Takes the object apart. Where the value is not an object, that is the mismatch.
    #[must_use]
    pub fn new(value: Value) -> Self {
        match fields(value) {
            Ok(object) => Fields { object, mismatch: None },
            Err(mismatch) => Fields { object: Map::new(), mismatch: Some(mismatch) },
        }
    }

    /// Takes one field out. A missing field reads as null, which optional types accept.
    #[expect(clippy::question_mark, reason = "compiled for each type: `?` is two more functions")]
    pub fn take<T: FromJson>(&mut self, key: &str) -> Option<T> {
        let Some((value, missing)) = self.remove(key) else { return None };
        match T::from_json(value) {
            Ok(value) => Some(value),
            Err(mismatch) => {
                self.mismatch = Some(place(mismatch, key, missing));
                None
            }
        }
    }

    /// Takes all fields that were not taken.
    pub fn rest<T: FromJson>(&mut self) -> Option<T> {
        if self.mismatch.is_some() {
            return None;
        }
        match T::from_json(Value::Object(std::mem::take(&mut self.object))) {
            Ok(rest) => Some(rest),
            Err(mismatch) => {
                self.mismatch = Some(mismatch);
                None
            }
        }
    }

    /// Drops fields whose value is fixed by the schema, so that they are not among the rest.
    pub fn skip(&mut self, keys: &[&str]) {
        for key in keys {
            self.object.remove(*key);
        }
    }

    /// Why a field was `None`.
    #[must_use]
    pub fn mismatch(self) -> Mismatch {
        self.mismatch.unwrap_or_else(|| Mismatch::new("object", &Value::Object(self.object)))
    }

    /// The end of an object without fields.
    ///
    /// # Errors
    /// Where the value was not an object.
    pub fn finish(self) -> Result<(), Mismatch> {
        self.mismatch.map_or(Ok(()), Err)
    }

    /// The field's value, and whether it is missing; nothing after a mismatch.
    fn remove(&mut self, key: &str) -> Option<(Value, bool)> {
        if self.mismatch.is_some() {
            return None;
        }
        let value = self.object.remove(key);
        let missing = value.is_none();
        Some((value.unwrap_or_default(), missing))
    }
}

fn place(mismatch: Mismatch, key: &str, missing: bool) -> Mismatch {
    let mismatch = if missing { mismatch.missing() } else { mismatch };
    mismatch.in_field(key)
}

/// The object that `value` is, with the field that says which variant of an enum it is.
#[must_use]
pub fn tagged(key: &str, tag: &str, mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        object.insert(key.to_owned(), Value::from(tag));
    }
    value
}

/// The field that says which variant of an enum the object is.
///
/// # Errors
/// Where the value is not an object, or the field is not a text.
pub fn tag(value: &Value, key: &str) -> Result<String, Mismatch> {
    let Some(object) = value.as_object() else {
        return Err(Mismatch::new("object", value));
    };
    let tag = object.get(key);
    String::from_json(tag.cloned().unwrap_or_default())
        .map_err(|mismatch| place(mismatch, key, tag.is_none()))
}
