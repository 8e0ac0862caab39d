//! Checks that a spare session is what an execution would get if it opened a session itself.

use std::time::Duration;

use mcp::{ServerConfig, Session};
use tokio::time::timeout;

use super::credentials::CredentialsVersion;
use super::pool::Spare;
use crate::sessions::connection::{ListedTools, Opened};

/// Time limit for a spare session to show that it works. A server that takes longer is connected as usual.
const CHECK_LIMIT: Duration = Duration::from_secs(1);

/// The reason why a spare session can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    /// It could not be opened.
    #[error("{0}")]
    Unopened(String),
    /// Its server has ended it.
    #[error("it has ended")]
    Ended,
    /// It was opened with another login.
    #[error("the stored login has changed")]
    Login,
    /// It was opened with other secrets.
    #[error("the secrets in the keyring have changed")]
    Secrets,
    /// It does not show within [`CHECK_LIMIT`] that it works.
    #[error("no answer within {} s", CHECK_LIMIT.as_secs())]
    Late,
    /// A request of the check failed.
    #[error("{}", .0.kind)]
    Failed(#[from] mcp::Error),
}

/// The session of a spare with the known tools of its server, if it is open and only has to show that it still works.
pub(super) fn promising(spare: &Spare, config: &ServerConfig) -> Option<Opened> {
    let opened = spare.attempt.opened()?;
    let is_current = CredentialsVersion::of(config) == spare.credentials && !spare.host.is_outdated();
    let is_promising =
        is_current && is_known(opened, spare) && announces(&opened.session) && !opened.session.is_closed();
    is_promising.then(|| with_tools(opened.clone(), spare))
}

/// The session of a spare with the present tools of its server, as soon as it is open; or why it can't be used.
pub(super) async fn checked(spare: &Spare, config: &ServerConfig) -> Result<Opened, Unusable> {
    let was_open = spare.is_settled();
    let opened =
        spare.attempt.opening.clone().await.map_err(|error| Unusable::Unopened(error.report.message()))?;
    if opened.session.is_closed() {
        return Err(Unusable::Ended);
    }
    if CredentialsVersion::of(config) != spare.credentials {
        return Err(Unusable::Login);
    }
    let works = timeout(CHECK_LIMIT, works(&opened, spare, config, was_open));
    works.await.map_err(|_| Unusable::Late)??;
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
async fn works(
    opened: &Opened,
    spare: &Spare,
    config: &ServerConfig,
    was_open: bool,
) -> Result<(), Unusable> {
    let session = &opened.session;
    if !session.has_secrets_of(config).await? {
        return Err(Unusable::Secrets);
    }
    if spare.host.is_outdated() || !is_known(opened, spare) || was_open && !announces(session) {
        return listed_again(opened, spare).await;
    }
    if was_open {
        mcp::check_alive(session).await?;
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

async fn listed_again(opened: &Opened, spare: &Spare) -> Result<(), Unusable> {
    Ok(spare.host.list_again(opened).await?)
}
