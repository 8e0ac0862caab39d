//! Servers that come and go while somebody talks with a model are told as lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp::State;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::style::{Look, Style};
use crate::mcp_commands::short;
use crate::serve::live::Live;
use crate::serve::snapshot::Settings;
use crate::terminal::Terminal;

/// Most characters of an error.
const WORDS: usize = 400;

/// Begins to tell, until it is aborted.
pub(super) fn start(desk: &Desk) -> JoinHandle<()> {
    let (terminal, style) = (desk.terminal.clone(), desk.style);
    tokio::spawn(watch(desk.live.clone(), desk.settings.clone(), terminal, style))
}

async fn watch(
    live: Arc<Live>,
    settings: watch::Receiver<Arc<Settings>>,
    terminal: Arc<Terminal>,
    style: Style,
) {
    let mut changes = live.upstreams.changes();
    let mut known: BTreeMap<String, State> = BTreeMap::new();
    loop {
        let now = settings.borrow().clone();
        for server in &now.config.servers {
            let name = &server.connection.name;
            let Some(status) = live.upstreams.status(name) else {
                known.remove(name);
                continue;
            };
            if status.state == State::Connecting
                && status.last_error.is_none()
                && known.get(name) == Some(&State::Ready)
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
    before: Option<State>,
    now: State,
    why: impl FnOnce() -> String,
) -> Option<(Look, String)> {
    match (before, now) {
        (Some(State::Ready), State::Connecting) => {
            Some((Look::Yellow, format!("the server {name} is gone, and is tried again: {}", why())))
        }
        (Some(before), State::Error) if before != State::Error => {
            Some((Look::Red, format!("the server {name} is given up: {}; /mcp reconnect {name}", why())))
        }
        (before, State::AuthRequired) if before != Some(State::AuthRequired) => {
            Some((Look::Yellow, format!("the server {name} wants a login: /mcp auth {name}")))
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
        assert_eq!(told(None, State::Connecting), None);
        assert_eq!(told(Some(State::Connecting), State::Ready), None);
        assert_eq!(told(Some(State::Error), State::Error), None);
        let gone = told(Some(State::Ready), State::Connecting).unwrap();
        assert_eq!(gone, "the server shop is gone, and is tried again: it died");
        let given_up = told(Some(State::Connecting), State::Error).unwrap();
        assert!(given_up.ends_with("/mcp reconnect shop"), "{given_up}");
        assert!(told(None, State::AuthRequired).unwrap().ends_with("/mcp auth shop"));
    }
}
