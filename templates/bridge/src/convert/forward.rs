//! Serde's traits, by forwarding to [`ToJson`] and [`FromJson`].

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::{FromJson, ToJson};

/// Writes a value by way of its JSON.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &dyn ToJson, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_json().serialize(serializer)
}

/// Reads a value by way of its JSON.
///
/// # Errors
/// Those of the deserializer, and a [`super::Mismatch`] as a custom one.
pub fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    T::from_json(value).map_err(D::Error::custom)
}

/// What every generated type has: serde's traits, and the right to stand as an argument.
#[macro_export]
macro_rules! generated {
    ($($name:ident)+) => {
        $(
            impl $crate::convert::Generated for $name {}

            impl $crate::convert::serde::Serialize for $name {
                fn serialize<S: $crate::convert::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::std::result::Result<S::Ok, S::Error> {
                    $crate::convert::serialize(self, serializer)
                }
            }

            impl<'de> $crate::convert::serde::Deserialize<'de> for $name {
                fn deserialize<D: $crate::convert::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::std::result::Result<Self, D::Error> {
                    $crate::convert::deserialize(deserializer)
                }
            }
        )+
    };
}

/// What every generated enum of texts has besides: it prints as its text and compares with one.
#[macro_export]
macro_rules! generated_text {
    ($($name:ident)+) => {
        $(
            impl $crate::convert::GeneratedText for $name {}

            impl ::std::fmt::Display for $name {
                fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    formatter.pad(self.as_str())
                }
            }

            impl ::std::cmp::PartialEq<str> for $name {
                fn eq(&self, text: &str) -> bool {
                    self.as_str() == text
                }
            }

            impl ::std::cmp::PartialEq<&str> for $name {
                fn eq(&self, text: &&str) -> bool {
                    self.as_str() == *text
                }
            }
        )+
    };
}
