//! Implements serde's traits through [`ToJson`] and [`FromJson`].

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use super::sent::{Purpose, checked};
use super::{FromJson, ToJson, read};

/// Serializes a value through its JSON. NaN and infinity are null, except in arguments.
///
/// # Errors
/// Returns the errors of the serializer, and an error if JSON does not support the value.
pub fn serialize<S: Serializer>(value: &dyn ToJson, serializer: S) -> Result<S::Ok, S::Error> {
    match Purpose::Text.during(|| checked(|| value.to_json())) {
        Ok(value) => value.serialize(serializer),
        Err(refused) => Err(S::Error::custom(refused.message())),
    }
}

/// Deserializes a value through its JSON.
///
/// # Errors
/// Returns the errors of the deserializer, and a [`super::Mismatch`] as a custom error.
pub fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    read(value).map_err(D::Error::custom)
}
