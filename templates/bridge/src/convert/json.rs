//! The two directions between a type and its JSON, and the types that need no generator.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Mismatch, Reader};

/// The largest magnitude below which every integral `f64` is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A type that has a form in JSON.
pub trait ToJson {
    /// The value in JSON.
    fn to_json(&self) -> Value;
}

/// A type that can be read from JSON.
///
/// Reading is lenient where nothing is lost: an integer may be written `5.0`, and unknown fields of an
/// object are ignored.
pub trait FromJson: Sized {
    /// Reads the value. Where it does not fit, the reader is told, and what is returned means nothing.
    fn from_json(value: Value, reader: &mut Reader) -> Self;
}

/// Reads a value.
///
/// # Errors
/// Where the value does not fit, with the first such place.
pub fn read<T: FromJson>(value: Value) -> Result<T, Mismatch> {
    let mut reader = Reader::default();
    let read = T::from_json(value, &mut reader);
    match reader.end() {
        (_, None) => Ok(read),
        (_, Some(mismatch)) => Err(mismatch),
    }
}

impl ToJson for Value {
    fn to_json(&self) -> Value {
        self.clone()
    }
}

impl FromJson for Value {
    fn from_json(value: Value, _reader: &mut Reader) -> Self {
        value
    }
}

impl ToJson for bool {
    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl FromJson for bool {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        value.as_bool().unwrap_or_else(|| {
            reader.mismatch("boolean", &value);
            false
        })
    }
}

impl ToJson for str {
    fn to_json(&self) -> Value {
        Value::String(self.to_owned())
    }
}

impl ToJson for &str {
    fn to_json(&self) -> Value {
        Value::String((*self).to_owned())
    }
}

impl ToJson for String {
    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
}

impl FromJson for String {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        match value {
            Value::String(text) => text,
            other => {
                reader.mismatch("string", &other);
                String::new()
            }
        }
    }
}

impl ToJson for i64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl FromJson for i64 {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        signed(&value).unwrap_or_else(|| {
            reader.mismatch("integer", &value);
            0
        })
    }
}

/// The integer that a number is, however it is written.
fn signed(value: &Value) -> Option<i64> {
    let integral = |number: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
        (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
    };
    value.as_i64().or_else(|| value.as_f64().and_then(integral))
}

impl ToJson for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl FromJson for u64 {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        value.as_u64().or_else(|| signed(&value)?.try_into().ok()).unwrap_or_else(|| {
            reader.mismatch("integer of at least 0", &value);
            0
        })
    }
}

/// An integral number is written without a fraction; what JSON has no number for (NaN, infinity) is null.
impl ToJson for f64 {
    fn to_json(&self) -> Value {
        if self.fract() == 0.0 && self.abs() <= EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
            return Value::from(*self as i64);
        }
        Value::from(*self)
    }
}

impl FromJson for f64 {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        value.as_f64().unwrap_or_else(|| {
            reader.mismatch("number", &value);
            0.0
        })
    }
}

// The generic functions below are compiled anew for each generated type, so they hold next to nothing:
// no iterator, no `?`, no `map`. What they call is compiled once.

impl<T: ToJson> ToJson for Box<T> {
    fn to_json(&self) -> Value {
        (**self).to_json()
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        Box::new(T::from_json(value, reader))
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Value {
        match self {
            Some(some) => some.to_json(),
            None => Value::Null,
        }
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        if let Value::Null = value {
            return None;
        }
        Some(T::from_json(value, reader))
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(&self) -> Value {
        let mut items = self.as_slice();
        let mut list = Vec::<Value>::with_capacity(items.len());
        while let [item, rest @ ..] = items {
            list.push(item.to_json());
            items = rest;
        }
        Value::Array(list)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        let level = reader.items(value);
        let mut items = Vec::new();
        while reader.more(level) {
            items.push(T::from_json(reader.item(level), reader));
        }
        items
    }
}

impl<T: ToJson> ToJson for BTreeMap<String, T> {
    fn to_json(&self) -> Value {
        let mut object = Map::new();
        for (key, value) in self {
            object.insert(key.clone(), value.to_json());
        }
        Value::Object(object)
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        let level = reader.entries(value);
        let mut map = BTreeMap::new();
        while let Some((key, value)) = reader.entry(level) {
            map.insert(key, T::from_json(value, reader));
        }
        map
    }
}

macro_rules! tuple {
    ($count:literal, $expected:literal, $($item:ident $index:tt),+) => {
        impl<$($item: ToJson),+> ToJson for ($($item,)+) {
            fn to_json(&self) -> Value {
                Value::Array(vec![$(self.$index.to_json()),+])
            }
        }

        impl<$($item: FromJson),+> FromJson for ($($item,)+) {
            fn from_json(value: Value, reader: &mut Reader) -> Self {
                if value.as_array().is_none_or(|items| items.len() < $count) {
                    reader.mismatch($expected, &value);
                }
                let level = reader.items(value);
                ($($item::from_json(reader.item(level), reader),)+)
            }
        }
    };
}

tuple!(1, "an array of 1", A 0);
tuple!(2, "an array of 2", A 0, B 1);
tuple!(3, "an array of 3", A 0, B 1, C 2);
tuple!(4, "an array of 4", A 0, B 1, C 2, D 3);
