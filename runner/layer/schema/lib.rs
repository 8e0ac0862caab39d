//! The JSON Schemas of a saved program's arguments and result, which the program returns instead of running.
//!
//! Ordinary snippets are not compiled against this crate. Types are inferred from the entry function, which is not
//! called.

pub use schemars;
pub use schemars::JsonSchema;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schemas of a program with arguments and a result.
pub fn of<A, T, E, Work>(_: impl FnOnce(A) -> Work) -> Value
where
    A: JsonSchema,
    T: JsonSchema,
    Work: Future<Output = Result<T, E>>,
{
    json!({ "arguments": read::<A>(), "result": written::<T>() })
}

/// The schema of a program's arguments, if its result has none.
pub fn of_arguments<A: JsonSchema, Work>(_: impl FnOnce(A) -> Work) -> Value {
    json!({ "arguments": read::<A>() })
}

/// The schema of the result of a program without arguments.
pub fn of_result<T, E, Work>(_: impl FnOnce() -> Work) -> Value
where
    T: JsonSchema,
    Work: Future<Output = Result<T, E>>,
{
    json!({ "arguments": nothing(), "result": written::<T>() })
}

/// For a program without arguments whose result has no schema.
pub fn of_nothing<Work>(_: impl FnOnce() -> Work) -> Value {
    json!({ "arguments": nothing() })
}

fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>().to_value()
}

fn written<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}
