//! Prints a line when a server fails or requires a login during a conversation.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp::ConnectionState;
use server::catalog_watcher::CatalogWatcher;
use server::snapshot::Settings;
use terminal::Terminal;
use terminal::table::short;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::chat_session::ChatSession;
use super::reported_errors::ReportedErrors;
use super::style::{Style, TextStyle};

/// Maximum length of an error, in characters.
const ERROR_LENGTH: usize = 400;

/// Starts the task, which runs until it is aborted.
pub(super) fn start(chat: &ChatSession) -> JoinHandle<()> {
    let (terminal, style) = (chat.terminal.clone(), chat.style);
    let (live, settings) = (chat.live.clone(), chat.settings.clone());
    tokio::spawn(watch(live, settings, chat.servers.reported.clone(), terminal, style))
}

async fn watch(
    live: Arc<CatalogWatcher>,
    settings: watch::Receiver<Arc<Settings>>,
    reported: ReportedErrors,
    terminal: Arc<Terminal>,
    style: Style,
) {
    let mut changes = live.upstreams.changes();
    let mut known: BTreeMap<String, ConnectionState> = BTreeMap::new();
    loop {
        let now = settings.borrow().clone();
        for server in &now.config.servers {
            let name = &server.connection.name;
            let Some(status) = live.upstreams.status(name) else {
                known.remove(name);
                continue;
            };
            if status.state == ConnectionState::Connecting
                && status.last_error.is_none()
                && known.get(name) == Some(&ConnectionState::Ready)
            {
                // The reason of the failure follows in the next change.
                continue;
            }
            let before = known.insert(name.clone(), status.state);
            let why = || {
                let error = status.last_error.as_deref().unwrap_or_default();
                short(&now.masker.mask(error), ERROR_LENGTH)
            };
            if let Some((look, text)) = message(name, before, status.state, why)
                && !terminal.is_quiet()
                && !reported.has(name, status.last_error.as_deref())
            {
                terminal.show(&style.paint(look, &text));
            }
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// The message about a server whose state has changed, if the user can act on it.
fn message(
    name: &str,
    before: Option<ConnectionState>,
    now: ConnectionState,
    why: impl FnOnce() -> String,
) -> Option<(TextStyle, String)> {
    match (before, now) {
        (Some(ConnectionState::Ready), ConnectionState::Connecting) => {
            Some((TextStyle::Yellow, format!("the server {name} failed and is retried: {}", why())))
        }
        (before, ConnectionState::Error) if before != Some(ConnectionState::Error) => Some((
            TextStyle::Red,
            format!("the server {name} failed: {}; to retry now: /mcp reconnect {name}", why()),
        )),
        (before, ConnectionState::AuthRequired) if before != Some(ConnectionState::AuthRequired) => {
            Some((TextStyle::Yellow, format!("the server {name} requires a login: /mcp auth {name}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_and_logins_are_reported() {
        let message =
            |before, now| message("shop", before, now, || "it died".to_owned()).map(|(_, text)| text);
        assert_eq!(message(None, ConnectionState::Connecting), None);
        assert_eq!(message(Some(ConnectionState::Connecting), ConnectionState::Ready), None);
        assert_eq!(message(Some(ConnectionState::Error), ConnectionState::Error), None);
        // It failed before it could be watched.
        assert!(message(None, ConnectionState::Error).unwrap().contains("it died"));
        let retried = message(Some(ConnectionState::Ready), ConnectionState::Connecting).unwrap();
        assert_eq!(retried, "the server shop failed and is retried: it died");
        let failed = message(Some(ConnectionState::Connecting), ConnectionState::Error).unwrap();
        assert!(failed.ends_with("/mcp reconnect shop"), "{failed}");
        assert!(message(None, ConnectionState::AuthRequired).unwrap().ends_with("/mcp auth shop"));
    }
}
