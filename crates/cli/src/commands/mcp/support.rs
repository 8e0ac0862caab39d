//! Helpers of the `mcp` commands: open sessions, cache lists of tools, find a server, note differences from the lock
//! file, print JSON.

use std::sync::Arc;

use clients::edit::Scope;
use config::{Config, Server};
use execution::setup;
use gateway::cache;
use gateway::catalog::{self, ServerIntroduction};
use gateway::config_secrets;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::{Difference, Pins};
use gateway::sessions::{Opened, Sessions};
use gateway::terminal_host::TerminalHost;
use gateway::tool_list::ToolList;
use gateway::unmatched;
use serde_json::{Value, json};
use terminal::{Masker, Terminal};

use crate::demo;

/// Creates sessions with the pins of the lock files.
pub(super) fn sessions(config: &Arc<Config>, pins: Pins, terminal: &Terminal) -> Sessions {
    let mut sessions =
        Sessions::new(config.clone(), config_secrets::masker(config), TerminalHost::at(terminal));
    sessions.hold_to(pins);
    sessions
}

/// Notes how a server's tools differ from the locked ones, and names in its entry that none of them has.
pub(super) fn note_difference(
    config: &Config,
    pins: &Pins,
    server: &str,
    tools: &ToolList,
    terminal: &Terminal,
) {
    let found = pins.differences(server, tools, |tool| config.admits(server, tool));
    let differences = found.iter().filter_map(Difference::note);
    let warnings = differences.chain(unmatched::of_server(config, server, tools));
    warnings.for_each(|warning| terminal.note(&format!("warning: {warning}")));
}

/// Caches the tools of a server, as every listing does: completions and later runs use them. Without a cache they ask
/// again.
pub(super) fn remember(config: &Config, name: &str, opened: &Opened, masker: &Masker) {
    if let (Some(server), Ok(cache), true) =
        (config.server(name), cache::open(&config.cache), opened.is_whole)
    {
        let introduction = ServerIntroduction::of(&opened.session, masker);
        let _ = catalog::remember_introduction(&cache, server, &introduction);
        let _ = catalog::remember(&cache, server, &opened.tools);
    }
}

/// A usable server of a configuration that was read for `scope`.
pub(super) fn server_of<'a>(
    config: &'a Config,
    name: &str,
    scope: Option<Scope>,
) -> Result<&'a Server, Failure> {
    match scope.filter(|_| !config.has_entry(name)) {
        None if name == demo::NAME && !config.servers.is_empty() => {
            setup::server(config, name).map_err(|failure| failure.hint(demo::INSTEAD))
        }
        None => setup::server(config, name),
        Some(scope) => Err(not_in(scope, name)),
    }
}

/// The error for a server that the chosen scope does not have.
fn not_in(scope: Scope, name: &str) -> Failure {
    let scope = match scope {
        Scope::User => "your own configuration",
        Scope::Project => "the project's configuration",
    };
    Failure::command_line(format!("{scope} has no server {name:?}"))
        .hint("leave out --scope to use the server of any layer")
}

/// Prints a value as one line of JSON.
pub(super) fn print_json(value: &Value, terminal: &Terminal) {
    terminal.print_json(&value.to_string());
}

/// The exit code, depending on whether any server works.
pub(super) fn code(any_ready: bool) -> u8 {
    if any_ready { exit_code::OK } else { exit_code::HOST }
}

/// The state of a server's sandbox as JSON, for a session in `tier`; null for a server that is not a local program.
pub(super) fn sandbox_state(server: &Server, tier: Option<&str>) -> Value {
    match server.connection.transport {
        mcp::Transport::Stdio(_) => json!({ "confined": server.sandbox.is_some(), "tier": tier }),
        _ => Value::Null,
    }
}

/// Such a state in a few words.
pub(super) fn sandbox_in_words(state: &Value) -> String {
    let words = match (state["confined"].as_bool(), state["tier"].as_str()) {
        (None, _) => "-",
        (Some(false), _) => "not confined",
        (Some(true), tier) => tier.unwrap_or("confined"),
    };
    words.to_owned()
}
