//! The tools' interface for the loop: listed before each request, called by name.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::message::{ToolCall, ToolResult};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name: letters, digits, `_` and `-`, at most 64, as providers require.
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub input_schema: Value,
}

/// A failure to list tools: the error of the component that provides them.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ToolsError(pub Box<dyn std::error::Error + Send + Sync>);

/// The tools of a run. Dropping the future of a call cancels it.
pub trait Toolset: Send + Sync {
    /// The current tools.
    ///
    /// # Errors
    /// If they can't be listed.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<ToolDefinition>, ToolsError>>;

    /// Calls a tool. Every failure becomes a result for the model.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult>;
}
