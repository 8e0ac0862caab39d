//! The login that a server wants, as sessions know it: somebody may offer it to a person, and errors say what to type.

use futures::future::BoxFuture;
use mcp::{ErrorKind, ServerConfig};

/// Offers logins to a person.
pub trait LoginHook: Send + Sync {
    /// Offers the login that a server wants, where the error is that it wants one; says whether somebody has logged in.
    fn offer<'a>(&'a self, config: &'a ServerConfig, error: &'a mcp::Error) -> BoxFuture<'a, bool>;
}

/// An error, with what to type where a login helps.
pub fn explained(error: &mcp::Error) -> String {
    match &*error.kind {
        ErrorKind::Unauthorized { .. } => {
            format!("{error}\nhelp: log in with `toolsmith mcp login {}`", error.server)
        }
        _ => error.to_string(),
    }
}
