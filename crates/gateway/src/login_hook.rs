//! Logins that servers require: offered to the user through a hook.

use futures::future::BoxFuture;
use mcp::ServerConfig;

/// Offers logins to the user.
pub trait LoginHook: Send + Sync {
    /// If the error is that the server requires a login, offers it; returns whether the user has logged in.
    fn offer<'a>(&'a self, config: &'a ServerConfig, error: &'a mcp::Error) -> BoxFuture<'a, bool>;
}
