//! Logs in to servers in the browser, when the user or a server demands it.

use futures::future::BoxFuture;
use mcp::{Browser, Consent, ErrorKind, ServerConfig};
use terminal::{AskAgain, Notifier, TerminalPrompt};

use super::TerminalHost;
use crate::browser;
use crate::login_hook::LoginHook;
use crate::session_host::SessionHost as _;

/// Logs in to a server; the user authorizes in a browser.
///
/// # Errors
/// If the login fails.
pub async fn at(connection: &ServerConfig, notifier: &Notifier) -> Result<(), mcp::Error> {
    mcp::login(connection, None, Browser::Here, |consent| show(consent, notifier.clone())).await
}

/// Shows how to agree, and opens the address in this machine's browser.
async fn show(consent: Consent, notifier: Notifier) -> Option<String> {
    show_address(&consent, &notifier);
    let (Consent::Redirect { address, .. } | Consent::Code { address, .. }) = consent;
    if !browser::open(&address) {
        notifier.log(
            "no browser could be opened; open the address manually, on this machine, or log in with \
             `toolsmith mcp login NAME --no-browser`",
        );
    }
    None
}

/// Logs in to a server; the user authorizes in a browser on any machine, and types a code there or pastes the address
/// to which it was redirected here.
///
/// # Errors
/// If the login fails.
pub async fn from_anywhere(
    connection: &ServerConfig,
    prompt: &TerminalPrompt,
    notifier: &Notifier,
) -> Result<(), mcp::Error> {
    mcp::login(connection, None, Browser::Anywhere, |consent| async move {
        show_address(&consent, notifier);
        match consent {
            Consent::Redirect { redirect, .. } => pasted(&redirect, prompt).await,
            Consent::Code { .. } => None,
        }
    })
    .await
}

/// Shows the address to visit, and the code to enter there.
fn show_address(consent: &Consent, notifier: &Notifier) {
    match consent {
        Consent::Redirect { address, .. } => notifier.log(&format!("to log in, visit\n  {address}")),
        Consent::Code { address, code, complete } => {
            let complete = complete.as_ref().map(|complete| format!("\nor visit\n  {complete}"));
            let (code, complete) = (printable::exact(code), complete.unwrap_or_default());
            notifier.log(&format!("to log in, visit\n  {address}\nand enter the code {code}{complete}"));
        }
    }
}

/// Asks for the address to which a browser on another machine was redirected. It shows an error there, because nothing
/// answers at that address.
async fn pasted(redirect: &str, prompt: &TerminalPrompt) -> Option<String> {
    let text = format!(
        "If your browser is on another machine, it ends at a page that can't be opened, with an address that begins \
         with\n  {redirect}\nCopy that address from the browser, and paste it here.\n"
    );
    let read = |typed: &str| {
        let typed = typed.trim();
        let rest = typed.strip_prefix(redirect).filter(|rest| rest.starts_with('?'));
        rest.map(|_| typed.to_owned()).ok_or_else(|| {
            AskAgain(format!("That is not the address after the login: it must begin with {redirect}?\n"))
        })
    };
    prompt.answer(&text, "> ", read).await
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
    let login = mcp::login(config, Some(challenge), Browser::Here, |consent| show(consent, notifier.clone()));
    match login.await {
        Ok(()) => true,
        Err(error) => {
            notifier.log(&error.to_string());
            false
        }
    }
}
