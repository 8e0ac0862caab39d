//! Logging in at servers and out again: by command, or where one is met that wants it.

use futures::future::BoxFuture;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::login_hook::LoginHook;
use gateway::session_host::SessionHost as _;
use mcp::{ErrorKind, ServerConfig};
use server::setup::{self, load_for_person, server};
use terminal::{Notifier, Terminal};

use crate::arguments::{LoginArguments, NameArguments};
use crate::browser;
use crate::terminal_host::TerminalHost;

/// `mcp login` and returns the exit code.
pub(crate) async fn login(arguments: &LoginArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = load_for_person(&arguments.place.options(), &terminal)?;
    let connection = &server(&config, &arguments.name)?.connection;
    let done =
        mcp::login(connection, None, |address| show(address, !arguments.no_browser, terminal.notifier()))
            .await;
    if done.is_ok() {
        terminal.note(&format!("logged in at {}", arguments.name));
    }
    terminal.flush().await.map_err(Failure::host)?;
    done.map(|()| exit_code::OK).map_err(Failure::host)
}

/// `mcp logout` and returns the exit code.
pub(crate) async fn logout(arguments: &NameArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let config = setup::load(&arguments.place.options())?;
    let was_there =
        mcp::logout(&server(&config, &arguments.name)?.connection).await.map_err(Failure::host)?;
    let name = &arguments.name;
    terminal.note(&if was_there {
        format!("the tokens of {name} are forgotten")
    } else {
        format!("there are no tokens of {name}")
    });
    terminal.flush().await.map_err(Failure::host)?;
    Ok(exit_code::OK)
}

/// Logs in at a server, with a person at the terminal who agrees in a browser.
///
/// # Errors
/// Why nobody is logged in.
pub(crate) async fn at(connection: &ServerConfig, notifier: &Notifier) -> Result<(), mcp::Error> {
    mcp::login(connection, None, |address| show(address, true, notifier.clone())).await
}

/// Shows the address that a person is to visit, and opens it where that is wanted.
async fn show(address: String, in_browser: bool, notifier: Notifier) {
    notifier.tell(&format!("to log in, visit\n  {address}"));
    if in_browser && !browser::open(&address) {
        notifier.tell("no browser could be opened; open the address manually, on this machine");
    }
}

impl LoginHook for TerminalHost {
    fn offer<'a>(&'a self, config: &'a ServerConfig, error: &'a mcp::Error) -> BoxFuture<'a, bool> {
        Box::pin(offered(config, error, self))
    }
}

/// Offers the login that a server wants, where there is a person; says whether somebody has logged in.
async fn offered(config: &ServerConfig, error: &mcp::Error, host: &TerminalHost) -> bool {
    let ErrorKind::Unauthorized { challenge, .. } = &*error.kind else { return false };
    let question = format!("toolsmith: the server {} wants a login. Open it in the browser?", config.name);
    if !host.confirm(&question).await {
        return false;
    }
    let notifier = host.notifier();
    let _waiting = host.wait_for_person();
    match mcp::login(config, Some(challenge), |address| show(address, true, notifier.clone())).await {
        Ok(()) => true,
        Err(error) => {
            notifier.tell(&error.to_string());
            false
        }
    }
}
