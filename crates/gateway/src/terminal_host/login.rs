//! Logs in to servers in the browser, when the user or a server demands it.

use futures::future::BoxFuture;
use mcp::{ErrorKind, ServerConfig};
use terminal::Notifier;

use super::TerminalHost;
use crate::browser;
use crate::login_hook::LoginHook;
use crate::session_host::SessionHost as _;

/// Logs in to a server; the user authorizes in a browser.
///
/// # Errors
/// If the login fails.
pub async fn at(connection: &ServerConfig, notifier: &Notifier) -> Result<(), mcp::Error> {
    mcp::login(connection, None, |address| show(address, true, notifier.clone())).await
}

/// Shows the address to visit, and opens it if `in_browser` is set.
pub async fn show(address: String, in_browser: bool, notifier: Notifier) {
    notifier.log(&format!("to log in, visit\n  {address}"));
    if in_browser && !browser::open(&address) {
        notifier.log("no browser could be opened; open the address manually, on this machine");
    }
}

impl LoginHook for TerminalHost {
    fn offer<'a>(&'a self, config: &'a ServerConfig, error: &'a mcp::Error) -> BoxFuture<'a, bool> {
        Box::pin(offered(config, error, self))
    }
}

/// Offers the login that a server requires, if there is a user to ask. Returns whether the user has logged in.
async fn offered(config: &ServerConfig, error: &mcp::Error, host: &TerminalHost) -> bool {
    let ErrorKind::Unauthorized { challenge, .. } = &*error.kind else { return false };
    let question = format!("toolsmith: the server {} requires a login. Open it in the browser?", config.name);
    if !host.confirm(&question).await {
        return false;
    }
    let notifier = host.notifier();
    let _waiting = host.wait_for_user();
    match mcp::login(config, Some(challenge), |address| show(address, true, notifier.clone())).await {
        Ok(()) => true,
        Err(error) => {
            notifier.log(&error.to_string());
            false
        }
    }
}
