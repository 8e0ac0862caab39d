//! Ranges, what collecting names, and calls that are made at the same time.

use std::future::ready;

use serde_json::Value;

use crate::{ToolError, ToolResult, concurrently};

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of its parts.
pub async fn iterators(result: Result<ToolResult, ToolError>, value: &Value) -> anyhow::Result<String> {
    let mut count = 0_usize;
    macro_rules! ranges {
        ($($number:ty),+) => {
            $(for number in 0..<$number>::MAX {
                count += usize::from(number > 1);
            })+
        };
    }
    ranges!(i32, i64, u32, u64, usize);
    let results = concurrently(1, 0..1_i32, |_| ready(result.clone())).await?;
    let names = concurrently(1, 0..1_i32, |_| ready(result.clone().map(|result| result.text()))).await?;
    let values = concurrently(1, 0..1_i32, |_| ready(anyhow::Ok(value.clone()))).await?;
    // The standard library names this format in the code of `collect`.
    let hint = (count, Some(results.len() + names.len() + values.len()));
    Ok(format!("{hint:?}"))
}
