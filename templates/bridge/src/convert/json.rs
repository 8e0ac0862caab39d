//! The two directions between a type and its JSON, and the types that need no generator.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Mismatch;

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
    /// Reads the value.
    ///
    /// # Errors
    /// Where the value does not fit, with the place.
    fn from_json(value: Value) -> Result<Self, Mismatch>;
}

impl ToJson for Value {
    fn to_json(&self) -> Value {
        self.clone()
    }
}

impl FromJson for Value {
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        Ok(value)
    }
}

impl ToJson for bool {
    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl FromJson for bool {
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        value.as_bool().ok_or_else(|| Mismatch::new("boolean", &value))
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
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Mismatch::new("string", &other)),
        }
    }
}

impl ToJson for i64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl FromJson for i64 {
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        let integral = |number: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
            (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
        };
        value
            .as_i64()
            .or_else(|| value.as_f64().and_then(integral))
            .ok_or_else(|| Mismatch::new("integer", &value))
    }
}

impl ToJson for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

impl FromJson for u64 {
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        let whole = |value: &Value| i64::from_json(value.clone()).ok()?.try_into().ok();
        value.as_u64().or_else(|| whole(&value)).ok_or_else(|| Mismatch::new("integer of at least 0", &value))
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
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        value.as_f64().ok_or_else(|| Mismatch::new("number", &value))
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
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        match T::from_json(value) {
            Ok(content) => Ok(Box::new(content)),
            Err(mismatch) => Err(mismatch),
        }
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
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        if let Value::Null = value {
            return Ok(None);
        }
        match T::from_json(value) {
            Ok(some) => Ok(Some(some)),
            Err(mismatch) => Err(mismatch),
        }
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(&self) -> Value {
        let items = self.as_slice();
        list(items.len(), &|index| items[index].to_json())
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        let mut items = Vec::new();
        let found = each_item(value, &mut |item| match T::from_json(item) {
            Ok(item) => {
                items.push(item);
                None
            }
            Err(mismatch) => Some(mismatch),
        });
        match found {
            None => Ok(items),
            Some(mismatch) => Err(mismatch),
        }
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
    fn from_json(value: Value) -> Result<Self, Mismatch> {
        let mut map = BTreeMap::new();
        let found = each_field(value, &mut |key, value| match T::from_json(value) {
            Ok(value) => {
                map.insert(key, value);
                None
            }
            Err(mismatch) => Some(mismatch.in_field(&key)),
        });
        match found {
            None => Ok(map),
            Some(mismatch) => Err(mismatch),
        }
    }
}

fn list(length: usize, item: &dyn Fn(usize) -> Value) -> Value {
    Value::Array((0..length).map(item).collect())
}

/// Gives each item of an array to `read`, until that or the value itself is a mismatch.
fn each_item(value: Value, read: &mut dyn FnMut(Value) -> Option<Mismatch>) -> Option<Mismatch> {
    let items = match array(value) {
        Ok(items) => items,
        Err(mismatch) => return Some(mismatch),
    };
    let mut items = items.into_iter().enumerate();
    items.find_map(|(index, item)| Some(read(item)?.in_item(index)))
}

/// Gives each field of an object to `read`, until that or the value itself is a mismatch.
fn each_field(value: Value, read: &mut dyn FnMut(String, Value) -> Option<Mismatch>) -> Option<Mismatch> {
    match fields(value) {
        Ok(fields) => fields.into_iter().find_map(|(key, value)| read(key, value)),
        Err(mismatch) => Some(mismatch),
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
            fn from_json(value: Value) -> Result<Self, Mismatch> {
                if value.as_array().is_none_or(|items| items.len() < $count) {
                    return Err(Mismatch::new($expected, &value));
                }
                let mut items = array(value)?.into_iter();
                Ok(($(read_item::<$item>($index, items.next().unwrap_or_default())?,)+))
            }
        }
    };
}

tuple!(1, "an array of 1", A 0);
tuple!(2, "an array of 2", A 0, B 1);
tuple!(3, "an array of 3", A 0, B 1, C 2);
tuple!(4, "an array of 4", A 0, B 1, C 2, D 3);

fn read_item<T: FromJson>(index: usize, item: Value) -> Result<T, Mismatch> {
    T::from_json(item).map_err(|mismatch| mismatch.in_item(index))
}

fn array(value: Value) -> Result<Vec<Value>, Mismatch> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(Mismatch::new("array", &other)),
    }
}

/// The fields of an object.
pub(super) fn fields(value: Value) -> Result<Map<String, Value>, Mismatch> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(Mismatch::new("object", &other)),
    }
}
