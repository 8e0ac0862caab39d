//! Logs in to servers and out again, by command or when a server requires a login.

use execution::setup::{configure, server};
use futures::future::BoxFuture;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::login_hook::LoginHook;
use gateway::session_host::SessionHost as _;
use mcp::{ErrorKind, ServerConfig};
use terminal::{Notifier, Terminal};

use crate::arguments::{LoginArguments, NameArguments};
use crate::browser;
use crate::terminal_host::TerminalHost;

/// Runs `mcp login` and returns the exit code.
pub(crate) async fn login(arguments: &LoginArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = configure(&arguments.place.options())?;
    let connection = &server(&config, &arguments.name)?.connection;
    let done =
        mcp::login(connection, None, |address| show(address, !arguments.no_browser, terminal.notifier()))
            .await;
    if done.is_ok() {
        terminal.note(&format!("logged in to {}", arguments.name));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(done.map(|()| exit_code::OK)?)
}

/// Runs `mcp logout` and returns the exit code.
pub(crate) async fn logout(arguments: &NameArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = configure(&arguments.place.options())?;
    let had_tokens = mcp::logout(&server(&config, &arguments.name)?.connection).await?;
    let name = &arguments.name;
    terminal.note(&if had_tokens {
        format!("deleted the tokens of {name}")
    } else {
        format!("there are no tokens for {name}")
    });
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Logs in to a server; the user authorizes in a browser.
///
/// # Errors
/// If the login fails.
pub(crate) async fn at(connection: &ServerConfig, notifier: &Notifier) -> Result<(), mcp::Error> {
    mcp::login(connection, None, |address| show(address, true, notifier.clone())).await
}

/// Shows the address to visit, and opens it if `in_browser` is set.
async fn show(address: String, in_browser: bool, notifier: Notifier) {
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
