//! Logs on standard error which MCP servers are available, and how many tools were found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gateway::tool_count::ToolCount;
use gateway::unavailable::STARTING;
use terminal::Notifier;

use crate::snapshot::Snapshot;
use crate::state::ServerState;

/// Logs changes until it is aborted.
pub async fn follow(state: Arc<ServerState>) {
    let mut offered = state.offered.subscribe();
    let notifier = state.terminal.notifier();
    let mut log = ServerLog::default();
    loop {
        let snapshot = offered.borrow_and_update().clone();
        if let Some(snapshot) = snapshot {
            log.update(&Found::of(&snapshot), &notifier);
        }
        if offered.changed().await.is_err() {
            return;
        }
    }
}

/// Describes the numbers of configured servers and of tools found; `None` without servers, and until each has answered
/// or failed.
pub fn counts(snapshot: &Snapshot) -> Option<String> {
    let found = Found::of(snapshot);
    (found.is_whole && !found.configured.is_empty()).then(|| found.summary())
}

/// The servers and tools at one moment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Found {
    /// The names of the servers that are enabled.
    configured: BTreeSet<String>,
    tools: usize,
    /// The reason of each unavailable server.
    unavailable: BTreeMap<String, String>,
    /// Whether every server has answered or failed.
    is_whole: bool,
}

impl Found {
    fn of(snapshot: &Snapshot) -> Self {
        let (config, pins) = (snapshot.config(), &snapshot.settings.known.pins);
        let counted =
            snapshot.lists.iter().map(|(server, list)| ToolCount::of(config, pins, server, list).admitted);
        let unavailable = snapshot.missing.servers().filter(|(_, reason)| *reason != STARTING);
        Found {
            configured: config.servers.iter().map(|server| server.connection.name.clone()).collect(),
            tools: counted.sum(),
            unavailable: unavailable.map(|(server, reason)| (server.to_owned(), reason.to_owned())).collect(),
            is_whole: snapshot.is_whole,
        }
    }

    fn summary(&self) -> String {
        let unavailable = match self.unavailable.len() {
            0 => String::new(),
            count => format!(", {count} unavailable"),
        };
        let (servers, tools) =
            (report::count(self.configured.len(), "server"), report::count(self.tools, "tool"));
        format!("{servers}, {tools}{unavailable}")
    }
}

/// The last entry of the log.
#[derive(Debug, Default)]
struct ServerLog {
    unavailable: BTreeMap<String, String>,
    summary: String,
}

impl ServerLog {
    fn update(&mut self, found: &Found, notifier: &Notifier) {
        for (server, reason) in &found.unavailable {
            if self.unavailable.get(server) != Some(reason) {
                let server = printable::name(server);
                notifier.warning(&format!("the server {server} is unavailable: {reason}"));
            }
        }
        let returned = self
            .unavailable
            .keys()
            .filter(|server| !found.unavailable.contains_key(*server) && found.configured.contains(*server));
        for server in returned {
            notifier.info(&format!("the server {} is available again", printable::name(server)));
        }
        self.unavailable.clone_from(&found.unavailable);
        // Without servers there is nothing to find; while servers start, the numbers are not final.
        if found.configured.is_empty() || !found.is_whole {
            return;
        }
        let summary = found.summary();
        if summary != self.summary {
            notifier.info(&summary);
            self.summary = summary;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_servers_tools_and_failures() {
        let configured = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let mut found =
            Found { configured: configured(&["a", "b", "c"]), tools: 41, is_whole: true, ..Found::default() };
        assert_eq!(found.summary(), "3 servers, 41 tools");
        found.unavailable.insert("bad".to_owned(), "it died".to_owned());
        assert_eq!(found.summary(), "3 servers, 41 tools, 1 unavailable");
        assert_eq!(
            Found { configured: configured(&["a"]), tools: 1, ..Found::default() }.summary(),
            "1 server, 1 tool"
        );
    }
}
