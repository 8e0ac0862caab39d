//! Servers that come and go while somebody talks with a model are told as lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp::ConnectionState;
use server::catalog_watcher::CatalogWatcher;
use server::snapshot::Settings;
use terminal::Terminal;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::chat_session::ChatSession;
use super::style::{Style, TextStyle};
use crate::commands::mcp::short;

/// Most characters of an error.
const WORDS: usize = 400;

/// Begins to tell, until it is aborted.
pub(super) fn start(chat: &ChatSession) -> JoinHandle<()> {
    let (terminal, style) = (chat.terminal.clone(), chat.style);
    tokio::spawn(watch(chat.live.clone(), chat.settings.clone(), terminal, style))
}

async fn watch(
    live: Arc<CatalogWatcher>,
    settings: watch::Receiver<Arc<Settings>>,
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
                // Why it is gone is known in a moment.
                continue;
            }
            let before = known.insert(name.clone(), status.state);
            let why = || {
                let error = status.last_error.as_deref().unwrap_or_default();
                short(&now.masker.mask(error), WORDS)
            };
            if let Some((look, text)) = told(name, before, status.state, why)
                && !terminal.is_quiet()
            {
                terminal.show(&style.paint(look, &text));
            }
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// What is told of a server whose state has changed.
fn told(
    name: &str,
    before: Option<ConnectionState>,
    now: ConnectionState,
    why: impl FnOnce() -> String,
) -> Option<(TextStyle, String)> {
    match (before, now) {
        (Some(ConnectionState::Ready), ConnectionState::Connecting) => {
            Some((TextStyle::Yellow, format!("the server {name} is gone, and is tried again: {}", why())))
        }
        (Some(before), ConnectionState::Error) if before != ConnectionState::Error => {
            Some((TextStyle::Red, format!("the server {name} is given up: {}; /mcp reconnect {name}", why())))
        }
        (before, ConnectionState::AuthRequired) if before != Some(ConnectionState::AuthRequired) => {
            Some((TextStyle::Yellow, format!("the server {name} wants a login: /mcp auth {name}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_can_do_something_about_is_told() {
        let told = |before, now| told("shop", before, now, || "it died".to_owned()).map(|(_, text)| text);
        assert_eq!(told(None, ConnectionState::Connecting), None);
        assert_eq!(told(Some(ConnectionState::Connecting), ConnectionState::Ready), None);
        assert_eq!(told(Some(ConnectionState::Error), ConnectionState::Error), None);
        let gone = told(Some(ConnectionState::Ready), ConnectionState::Connecting).unwrap();
        assert_eq!(gone, "the server shop is gone, and is tried again: it died");
        let given_up = told(Some(ConnectionState::Connecting), ConnectionState::Error).unwrap();
        assert!(given_up.ends_with("/mcp reconnect shop"), "{given_up}");
        assert!(told(None, ConnectionState::AuthRequired).unwrap().ends_with("/mcp auth shop"));
    }
}
