//! Conversions of the most common errors to `anyhow`'s, with contexts.

use std::error::Error;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::task::JoinError;
use tokio::time::error::Elapsed;

use crate::{ToolError, ToolResult};

fn failed<T, E: Error + Send + Sync + 'static>(result: Result<T, E>) -> Result<T> {
    Ok(result?)
}

fn explained<T, E: Error + Send + Sync + 'static>(result: Result<T, E>, text: &'static str) -> Result<T> {
    result.with_context(|| text.to_owned()).context(text)
}

/// Never called: it only has to be compiled.
///
/// # Errors
/// Returns the errors of its parts.
pub fn errors(text: &'static str, error: ToolError, of_task: JoinError, of_timeout: Elapsed) -> Result<()> {
    failed(text.parse::<i32>())?;
    failed(text.parse::<usize>())?;
    explained(text.parse::<i64>(), text)?;
    explained(text.parse::<f64>(), text)?;
    explained(serde_json::from_str::<Value>(text), text)?;
    explained(Err::<ToolResult, ToolError>(error), text)?;
    failed(Err::<(), JoinError>(of_task))?;
    failed(Err::<(), Elapsed>(of_timeout))?;
    text.split_once(':').context(text)?;
    Err(anyhow::anyhow!("{text}").context(text).context(text.to_owned()))
}
