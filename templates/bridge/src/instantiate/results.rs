//! Results: how they are unwrapped, serialized and dropped.

use std::collections::BTreeMap;
use std::future::ready;

use anyhow::Context as _;
use indexmap::IndexMap;
use serde_json::Value;

use crate::convert::{Extra, FromJson, Reader, ToJson};
use crate::tail::{FinishAnyhow, FinishFault, FinishValue, PeelValue};
use crate::{Args, Content, ToolError, ToolResult, encode, encoding, finish};

/// The most common types in snippets; their drop, clone and serialisation code is instantiated.
pub struct Common {
    args: Args,
    result: Result<ToolResult, ToolError>,
    content: Vec<Content>,
    values: Vec<Value>,
    names: Vec<String>,
    counts: BTreeMap<String, usize>,
    objects: BTreeMap<String, Value>,
    groups: BTreeMap<String, Vec<String>>,
    pairs: Vec<(String, usize)>,
}

/// The conversions of most bindings; also never called.
pub fn conversions(value: &Value, reader: &mut Reader) -> Value {
    fn both<T: FromJson + ToJson>(value: &Value, reader: &mut Reader) -> Value {
        Option::<T>::from_json(value.clone(), reader).to_json()
    }
    Value::Array(vec![
        both::<bool>(value, reader),
        both::<i64>(value, reader),
        both::<f64>(value, reader),
        both::<String>(value, reader),
        both::<Value>(value, reader),
        both::<Vec<String>>(value, reader),
        both::<Extra>(value, reader),
        both::<IndexMap<String, String>>(value, reader),
        both::<IndexMap<String, f64>>(value, reader),
    ])
}

/// A value after a step that may fail, as `?` in a snippet with such a result.
fn after<S, E, T>(step: Result<S, E>, value: T) -> anyhow::Result<T>
where
    anyhow::Error: From<E>,
{
    step?;
    Ok(value)
}

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of its parts.
pub fn results(common: Common, error: ToolError) -> anyhow::Result<String> {
    macro_rules! tails {
        ($($value:expr),* $(,)?) => {
            $(
                drop(encoding(Box::pin(ready(anyhow::Result::Ok($value)))));
                drop(after(common.result.clone(), $value));
                drop(after(Option::<()>::None.context("none"), $value));
                drop(encode(finish!($value)));
                drop(encode(finish!(anyhow::Result::Ok($value))));
                drop(encode(finish!(Result::<_, ToolError>::Ok($value))));
            )*
        };
    }
    tails!(
        (),
        true,
        0_i32,
        0_i64,
        0_u64,
        0_usize,
        0.0_f64,
        String::new(),
        Value::Null,
        common.values.clone(),
        common.names.clone(),
        common.counts.clone(),
        common.objects.clone(),
        common.groups.clone(),
        common.pairs.clone(),
        common.result.clone()?,
    );
    let result = common.result?;
    let value: Value = result.json()?;
    drop((common.args, common.content));
    if value.is_null() {
        return Err(error.into());
    }
    Ok(format!("{value} {}", common.names.join(", ")))
}
