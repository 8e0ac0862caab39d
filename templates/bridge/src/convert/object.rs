//! Objects for the conversions of generated structs and tagged enums.

use serde_json::{Map, Value};

use super::ToJson;
use super::extra::Members;
use super::sent::{field, refuse};

/// A field to convert to JSON.
type Field<'a> = (&'a str, &'a dyn ToJson);

/// An object with the `required` fields, and those `optional` ones that have a value.
#[must_use]
pub fn object(required: &[Field<'_>], optional: &[Field<'_>]) -> Value {
    Value::Object(collect(required, optional))
}

/// Like [`object`], with the fields of `extra` added, and in the form in which it was received. A field with the name of
/// another field is refused: only one of the two could be sent.
#[must_use]
pub fn object_with_extra(required: &[Field<'_>], optional: &[Field<'_>], extra: &dyn Members) -> Value {
    let mut object = collect(required, optional);
    if let Value::Object(extra) = field("extra", || extra.to_json()) {
        for (key, value) in extra {
            if object.contains_key(&key) {
                return field(&key, || refuse("given twice: as a field and in `extra`".to_owned()));
            }
            object.insert(key, value);
        }
    }
    match extra.written() {
        Some(written) => written.rewrite(object),
        None => Value::Object(object),
    }
}

fn collect(required: &[Field<'_>], optional: &[Field<'_>]) -> Map<String, Value> {
    let mut object = Map::with_capacity(required.len() + optional.len());
    for (key, value) in required {
        object.insert((*key).to_owned(), field(key, || value.to_json()));
    }
    for (key, value) in optional {
        if !value.is_absent() {
            object.insert((*key).to_owned(), field(key, || value.to_json()));
        }
    }
    object
}

/// The object `value` with the field for the variant of an enum, which comes first.
#[must_use]
pub fn tagged(key: &str, tag: &str, mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        object.shift_insert(0, key.to_owned(), Value::from(tag));
    }
    value
}
