//! Conversion to and from JSON, and its implementation for types that are not generated.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::number::{exact_integer, nearest, warn_of_rounding, written_integer};
use super::sent::{not_finite, sent};
use super::{Mismatch, Reader};

/// A type that converts to JSON.
pub trait ToJson {
    /// Converts the value to JSON.
    fn to_json(&self) -> Value;

    /// Whether there is no value, so that an optional member is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A type that can be read from JSON.
///
/// Reading is lenient if nothing is lost: an integer may be written `5.0`, and unknown fields of an object are ignored.
pub trait FromJson: Sized {
    /// Reads the value. If it does not fit, the reader records the mismatch, and the returned value is meaningless.
    fn from_json(value: Value, reader: &mut Reader) -> Self;
}

/// Reads a value.
///
/// # Errors
/// If the value does not fit, with the first mismatch.
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
        sent(self)
    }
}

impl FromJson for Value {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        reader.require_held(&value);
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
        integer(&value, reader).and_then(|integer| integer.try_into().ok()).unwrap_or_else(|| {
            reader.mismatch("64-bit integer", &value);
            0
        })
    }
}

/// The integer value of a number in any notation; `None` if its double is only a placeholder.
fn integer(value: &Value, reader: &Reader) -> Option<i128> {
    if reader.is_unheld(value) || reader.is_fraction(value) {
        return None;
    }
    let signed = value.as_i64().map(i128::from);
    signed.or_else(|| value.as_u64().map(i128::from)).or_else(|| value.as_f64().and_then(written_integer))
}

impl ToJson for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl FromJson for u64 {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        integer(&value, reader).and_then(|integer| integer.try_into().ok()).unwrap_or_else(|| {
            reader.mismatch("unsigned 64-bit integer", &value);
            0
        })
    }
}

/// An integral 64-bit number is written as an integer, except `-0.0`. NaN and infinity, which JSON does not
/// support, are not sent.
impl ToJson for f64 {
    fn to_json(&self) -> Value {
        if !self.is_finite() {
            return not_finite(*self);
        }
        let number = Value::from(*self);
        if self.to_bits() == (-0.0_f64).to_bits() {
            return number;
        }
        match exact_integer(*self).map(|integer| (u64::try_from(integer), i64::try_from(integer))) {
            Some((Ok(integer), _)) => Value::from(integer),
            Some((_, Ok(integer))) => Value::from(integer),
            _ => number,
        }
    }
}

impl FromJson for f64 {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        double(&value, reader).unwrap_or_else(|| {
            reader.mismatch("number that fits a double", &value);
            0.0
        })
    }
}

/// The double nearest to a number, with a warning if it differs. An integer that is just the shortest text of a double
/// counts as that double: JavaScript writes them this way. `None` beyond the range of doubles.
fn double(value: &Value, reader: &Reader) -> Option<f64> {
    let double = value.as_f64()?;
    if let Value::Number(number) = value
        && let Some(text) = reader.unheld_text(number)
    {
        let double = nearest(number, text)?;
        warn_of_rounding(reader.whose(), text, double);
        return Some(double);
    }
    let Some(integer) = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from)) else {
        return Some(double);
    };
    if exact_integer(double) != Some(integer) {
        warn_of_rounding(reader.whose(), &integer.to_string(), double);
    }
    Some(double)
}

// The generic functions below are compiled anew for each generated type, so they contain as little as possible: no
// iterators, no `?`, no `map`. What they call is compiled once.

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

    fn is_absent(&self) -> bool {
        self.is_none()
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

impl<T: ToJson> ToJson for IndexMap<String, T> {
    fn to_json(&self) -> Value {
        let mut object = Map::new();
        for (key, value) in self {
            object.insert(key.clone(), value.to_json());
        }
        Value::Object(object)
    }
}

impl<T: FromJson> FromJson for IndexMap<String, T> {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        let level = reader.entries(value);
        let mut map = IndexMap::new();
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
