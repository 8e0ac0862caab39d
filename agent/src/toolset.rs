//! Tools as the loop sees them: listed before each request, called by name.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::message::{ToolCall, ToolResult};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name: letters, digits, `_` and `-`, at most 64, as providers want it.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub input_schema: Value,
}

/// The tools of a run. Dropping the future of a call cancels it.
pub trait Toolset: Send + Sync {
    /// The tools as they are now.
    ///
    /// # Errors
    /// Why there is no list.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<ToolDefinition>, String>>;

    /// Calls a tool. Whatever goes wrong is a result that the model reads.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;
}
