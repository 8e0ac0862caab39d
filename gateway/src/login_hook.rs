//! Logins that servers require: offered to the user through a hook, and explained in errors.

use futures::future::BoxFuture;
use mcp::{ErrorKind, ServerConfig};

/// Offers logins to the user.
pub trait LoginHook: Send + Sync {
    /// If the error is that the server requires a login, offers it; returns whether the user has logged in.
    fn offer<'a>(&'a self, config: &'a ServerConfig, error: &'a mcp::Error) -> BoxFuture<'a, bool>;
}

/// An error message, with the login command if a login helps.
pub fn explained(error: &mcp::Error) -> String {
    match &*error.kind {
        ErrorKind::Unauthorized { .. } => {
            format!("{error}\nhelp: log in with `toolsmith mcp login {}`", error.server)
        }
        _ => error.to_string(),
    }
}
