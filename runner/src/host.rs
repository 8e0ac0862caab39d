//! What the runner needs of whoever holds the servers.

use bridge::wire::CallFailure;
use futures::future::BoxFuture;
use serde_json::value::RawValue;

/// Carries calls to servers; each execution has one of its own.
pub trait ToolHost: Send + Sync {
    /// Makes sure that this execution has a session with `server`. May be asked again for the same one.
    ///
    /// # Errors
    /// Why there is none, in words for a person or a model.
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Calls a tool of an open server. Dropping the future cancels the call.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>>;
}

/// The answer of a tool.
#[derive(Debug)]
pub struct Answer {
    /// MCP's `CallToolResult`, as the server sent it.
    pub result: Box<RawValue>,
    /// Its `isError`.
    pub is_error: bool,
}
