//! Helpers of the `mcp` commands: open sessions, note differences from the lock file, print JSON.

use std::sync::Arc;

use config::{Config, ConfigLayer};
use gateway::config_secrets;
use gateway::exit_code;
use gateway::pins::{Difference, Pins};
use gateway::sessions::Sessions;
use gateway::tool_list::ToolList;
use gateway::unmatched;
use serde_json::Value;
use terminal::Terminal;

use crate::arguments::Scope;
use crate::terminal_host::TerminalHost;

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
    differences.chain(unmatched::of_server(config, server, tools)).for_each(|note| terminal.note(&note));
}

/// Whether a server of this layer is shown: all are, unless the user chose a scope.
pub(super) fn is_in(scope: Option<Scope>, layer: &ConfigLayer) -> bool {
    match scope {
        None => true,
        Some(Scope::User) => matches!(layer, ConfigLayer::User(_)),
        Some(Scope::Project) => matches!(layer, ConfigLayer::Project(_)),
    }
}

/// Prints a value as one line of JSON.
pub(super) fn print_json(value: &Value, terminal: &Terminal) {
    terminal.print_json(&value.to_string());
}

/// The exit code, depending on whether any server works.
pub(super) fn code(any_ready: bool) -> u8 {
    if any_ready { exit_code::OK } else { exit_code::HOST }
}
