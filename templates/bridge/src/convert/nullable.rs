//! Optional fields that may be null: null is sent if it is given, and nothing if the field is left out.

use serde_json::Value;

use super::sent::{field, refuse};
use super::{FromJson, Reader, ToJson};

/// The object `value` with those of these fields that are given.
#[must_use]
pub fn with_nullable(mut value: Value, fields: &[(&str, Option<&dyn ToJson>)]) -> Value {
    let Value::Object(object) = &mut value else { return value };
    for (key, given) in fields {
        if let Some(given) = given {
            let json = field(key, || match object.contains_key(*key) {
                true => refuse("given twice: as a field and in `extra`".to_owned()),
                false => given.to_json(),
            });
            object.insert((*key).to_owned(), json);
        }
    }
    value
}

/// Reads such a field; null is kept.
pub fn read_nullable<T: FromJson>(value: Value, reader: &mut Reader) -> Option<T> {
    (!reader.is_missing()).then(|| T::from_json(value, reader))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::with_nullable;
    use crate::convert::ToJson;

    #[test]
    fn null_is_sent_only_if_it_is_given() {
        let fields: [Option<Option<String>>; 3] = [None, Some(None), Some(Some("a".to_owned()))];
        let [absent, null, text] =
            fields.each_ref().map(|field| field.as_ref().map(|given| given as &dyn ToJson));
        let sent = with_nullable(json!({ "x": 1 }), &[("absent", absent), ("null", null), ("text", text)]);
        assert_eq!(sent, json!({ "x": 1, "null": null, "text": "a" }));
    }
}
