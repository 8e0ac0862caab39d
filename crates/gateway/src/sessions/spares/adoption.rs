//! Checks that a spare session is what an execution would get if it opened a session itself.

use std::time::Duration;

use mcp::{ServerConfig, Session};
use tokio::time::timeout;

use super::credentials::CredentialsVersion;
use super::pool::Spare;
use crate::sessions::connection::{ListedTools, Opened};

/// Time limit for a spare session to show that it works. A server that takes longer is connected as usual.
const CHECK_LIMIT: Duration = Duration::from_secs(1);

/// The session of a spare with the known tools of its server, if it is open and only has to show that it still works.
pub(super) fn promising(spare: &Spare, config: &ServerConfig) -> Option<Opened> {
    let opened = spare.attempt.opened()?;
    let is_current = CredentialsVersion::of(config) == spare.credentials && !spare.host.is_outdated();
    let is_promising =
        is_current && is_known(opened, spare) && announces(&opened.session) && !opened.session.is_closed();
    is_promising.then(|| with_tools(opened.clone(), spare))
}

/// The session of a spare with the present tools of its server, as soon as it is open; or why it can't be used.
pub(super) async fn checked(spare: &Spare, config: &ServerConfig) -> Result<Opened, String> {
    let was_open = spare.is_settled();
    let opened = spare.attempt.opening.clone().await.map_err(|error| error.report.message())?;
    if opened.session.is_closed() {
        return Err("it has ended".to_owned());
    }
    if CredentialsVersion::of(config) != spare.credentials {
        return Err("the stored login has changed".to_owned());
    }
    let late = |_| format!("no answer within {} s", CHECK_LIMIT.as_secs());
    timeout(CHECK_LIMIT, works(&opened, spare, config, was_open)).await.map_err(late)??;
    Ok(with_tools(opened, spare))
}

/// The session with the tools that were listed last.
fn with_tools(opened: Opened, spare: &Spare) -> Opened {
    match spare.host.listed_again() {
        Some(ListedTools { tools, warnings, page }) => {
            Opened { tools, warnings, is_whole: true, page, ..opened }
        }
        None => opened,
    }
}

/// Checks that a session has the present secrets and, if it `was_open` before, that it still works. Reads its list of
/// tools again if that may have changed, or could not be read before.
async fn works(opened: &Opened, spare: &Spare, config: &ServerConfig, was_open: bool) -> Result<(), String> {
    let session = &opened.session;
    match session.has_secrets_of(config).await {
        Ok(true) => {}
        Ok(false) => return Err("the secrets in the keyring have changed".to_owned()),
        Err(error) => return Err(error.kind.to_string()),
    }
    if spare.host.is_outdated() || !is_known(opened, spare) || was_open && !announces(session) {
        return listed_again(opened, spare).await;
    }
    if was_open {
        mcp::check_alive(session).await.map_err(|error| error.kind.to_string())?;
        // A change may have been announced before that answer.
        if spare.host.is_outdated() {
            return listed_again(opened, spare).await;
        }
    }
    Ok(())
}

/// Whether the server's tools were listed at least once.
fn is_known(opened: &Opened, spare: &Spare) -> bool {
    opened.is_whole || spare.host.listed_again().is_some()
}

/// Whether the server announces changes of its tools. Without a handshake, it would have to be asked for that.
fn announces(session: &Session) -> bool {
    !session.is_stateless() && session.declares_tool_changes()
}

async fn listed_again(opened: &Opened, spare: &Spare) -> Result<(), String> {
    spare.host.list_again(opened).await.map_err(|error| error.kind.to_string())
}
