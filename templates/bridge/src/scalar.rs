//! A string, number or boolean, for schemas that allow more than one of them.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Number, Value};

use crate::convert::{Argument, FromJson, Reader, ToJson, checked, no_number, read, unfit};

/// A string, number or boolean, for schemas that allow more than one of them: `"type": ["string", "integer"]`.
///
/// Strings, numbers and booleans convert into it and compare with it: `id == "a-7"`, `id == 7`.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// A JSON string.
    Text(String),
    /// A JSON number.
    Number(Number),
    /// `true` or `false`.
    Boolean(bool),
}

impl Scalar {
    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is a 64-bit integer.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Scalar::Number(number) => read(Value::Number(number.clone())).ok(),
            _ => None,
        }
    }

    /// The number, if it is an unsigned 64-bit integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Scalar::Number(number) => read(Value::Number(number.clone())).ok(),
            _ => None,
        }
    }

    /// The number, if it is one, as the nearest double.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Scalar::Boolean(flag) => Some(*flag),
            _ => None,
        }
    }
}

/// A string without quotes; numbers and booleans as in JSON.
impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Text(text) => formatter.pad(text),
            Scalar::Number(number) => formatter.pad(&number.to_string()),
            Scalar::Boolean(flag) => flag.fmt(formatter),
        }
    }
}

impl ToJson for Scalar {
    fn to_json(&self) -> Value {
        match self {
            Scalar::Text(text) => Value::String(text.clone()),
            Scalar::Number(number) => Value::Number(number.clone()),
            Scalar::Boolean(flag) => Value::Bool(*flag),
        }
    }
}

impl FromJson for Scalar {
    fn from_json(value: Value, reader: &mut Reader) -> Self {
        match value {
            Value::String(text) => Scalar::Text(text),
            Value::Number(_) if reader.is_unheld(&value) => {
                reader.mismatch("64-bit number or double", &value);
                Scalar::Boolean(false)
            }
            Value::Number(number) => Scalar::Number(number),
            Value::Bool(flag) => Scalar::Boolean(flag),
            other => {
                reader.mismatch("string, number or boolean", &other);
                Scalar::Boolean(false)
            }
        }
    }
}

crate::generated! { Scalar = 0 }

macro_rules! from {
    ($($source:ty => $convert:expr),+ $(,)?) => {
        $(
            impl From<$source> for Scalar {
                fn from(value: $source) -> Self {
                    let convert: fn($source) -> Scalar = $convert;
                    convert(value)
                }
            }

            impl Argument<Scalar> for $source {
                fn into_argument(self) -> Scalar {
                    self.into()
                }
            }
        )+
    };
}

from! {
    &str => |text| Scalar::Text(text.to_owned()),
    &&str => |text| Scalar::Text((*text).to_owned()),
    String => Scalar::Text,
    char => |letter| Scalar::Text(letter.to_string()),
    Box<str> => |text| Scalar::Text(text.into()),
    Cow<'_, str> => |text| Scalar::Text(text.into_owned()),
    bool => Scalar::Boolean,
    &bool => |flag| Scalar::Boolean(*flag),
    i8 => |number| Scalar::Number(number.into()),
    i16 => |number| Scalar::Number(number.into()),
    isize => |number| Scalar::Number(number.into()),
    u8 => |number| Scalar::Number(number.into()),
    u16 => |number| Scalar::Number(number.into()),
    &i32 => |number| Scalar::Number((*number).into()),
    &i64 => |number| Scalar::Number((*number).into()),
    &u32 => |number| Scalar::Number((*number).into()),
    &u64 => |number| Scalar::Number((*number).into()),
    &usize => |number| Scalar::Number((*number).into()),
    i32 => |number| Scalar::Number(number.into()),
    i64 => |number| Scalar::Number(number.into()),
    u32 => |number| Scalar::Number(number.into()),
    u64 => |number| Scalar::Number(number.into()),
    usize => |number| Scalar::Number(number.into()),
}

macro_rules! compares {
    ($($other:ty => $same:expr),+ $(,)?) => {
        $(
            impl PartialEq<$other> for Scalar {
                fn eq(&self, other: &$other) -> bool {
                    let same: fn(&Scalar, &$other) -> bool = $same;
                    same(self, other)
                }
            }
        )+
    };
}

compares! {
    str => |scalar, text| scalar.as_str() == Some(text),
    &str => |scalar, text| scalar.as_str() == Some(text),
    String => |scalar, text| scalar.as_str() == Some(text),
    bool => |scalar, flag| scalar.as_bool() == Some(*flag),
    i32 => |scalar, number| scalar.as_i64() == Some((*number).into()),
    i64 => |scalar, number| scalar.as_i64() == Some(*number),
    u64 => |scalar, number| scalar.as_u64() == Some(*number),
    f64 => |scalar, number| scalar.as_f64() == Some(*number),
}

impl Argument<Scalar> for &String {
    fn into_argument(self) -> Scalar {
        Scalar::Text(self.clone())
    }
}

/// An integral number is written as an integer.
///
/// # Panics
/// For NaN and infinity, which JSON does not support.
impl From<f64> for Scalar {
    #[track_caller]
    fn from(double: f64) -> Self {
        number(double).unwrap_or_else(|| panic!("{}", no_number(double)))
    }
}

impl Argument<Scalar> for &f64 {
    fn into_argument(self) -> Scalar {
        (*self).into_argument()
    }
}

impl Argument<Scalar> for f32 {
    fn into_argument(self) -> Scalar {
        f64::from(self).into_argument()
    }
}

impl Argument<Scalar> for f64 {
    fn into_argument(self) -> Scalar {
        number(self).unwrap_or_else(|| {
            unfit(no_number(self));
            Scalar::Boolean(false)
        })
    }
}

fn number(double: f64) -> Option<Scalar> {
    match checked(|| double.to_json()) {
        Ok(Value::Number(number)) => Some(Scalar::Number(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_keep_their_value() {
        for value in [json!("a"), json!(7), json!(-0.5), json!(u64::MAX), json!(true)] {
            assert_eq!(read::<Scalar>(value.clone()).unwrap().to_json(), value);
        }
        for value in [json!(null), json!([]), json!({})] {
            assert!(read::<Scalar>(value).is_err());
        }
        let id = Scalar::from(7);
        assert!(id == 7 && id == 7.0 && id != "7" && id.as_i64() == Some(7) && format!("{id}") == "7");
        let name: Scalar = "a b".into();
        assert!(name == "a b" && name.as_str() == Some("a b") && format!("{name}") == "a b");
        assert_eq!((Scalar::from(true).as_bool(), Scalar::from(0.5).as_f64()), (Some(true), Some(0.5)));
    }

    #[test]
    #[should_panic(expected = "NaN, which JSON does not support")]
    fn unsupported_numbers_are_not_sent_as_something_else() {
        let _ = Scalar::from(f64::NAN);
    }
}
