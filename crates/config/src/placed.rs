//! Values together with their place, or with their text as written.
//!
//! The names of these structs make the decoder fill each field from the same node.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value as Json;

use super::key_macros::{Kind, Written};
use super::tree::Place;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename = "\0value and place")]
pub struct At<T> {
    pub(crate) place: Place,
    pub(crate) value: T,
}

/// The decoded value of a text, and the text itself with variables not expanded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename = "\0as written")]
pub(crate) struct AsWritten<T> {
    pub(super) written: String,
    pub(super) meant: T,
}

/// Implements `JsonSchema` with the schema of the inner value.
macro_rules! schema_of_inner {
    ($($type:ident),*) => { $(
        impl<T: JsonSchema> JsonSchema for $type<T> {
            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    )* };
}
schema_of_inner!(At, AsWritten);

impl<K: Kind> Kind for At<K> {
    type Value = K::Value;

    fn value(self) -> Self::Value {
        self.value.value()
    }
}

impl<K: Written> Written for At<K> {
    fn written(value: &Self::Value) -> Json {
        K::written(value)
    }
}

impl<K: Kind> Kind for AsWritten<K> {
    type Value = K::Value;

    fn value(self) -> K::Value {
        self.meant.value()
    }
}
