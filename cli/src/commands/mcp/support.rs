//! What several of these commands do: open sessions, tell what is not as it was locked, print.

use std::sync::Arc;

use config::Config;
use gateway::config_secrets;
use gateway::exit_code;
use gateway::pins::{Difference, Pins};
use gateway::sessions::Sessions;
use gateway::tool_list::ToolList;
use serde_json::Value;
use terminal::Terminal;

use crate::terminal_host::TerminalHost;

/// Sessions that are held to the lock file.
pub(super) fn sessions(config: &Arc<Config>, pins: Pins, terminal: &Terminal) -> Sessions {
    let mut sessions =
        Sessions::new(config.clone(), config_secrets::masker(config), TerminalHost::at(terminal));
    sessions.hold_to(pins);
    sessions
}

/// Says how a server's tools differ from the locked ones.
pub(super) fn tell_difference(
    config: &Config,
    pins: &Pins,
    server: &str,
    tools: &ToolList,
    terminal: &Terminal,
) {
    let found = pins.differences(server, tools, |tool| config.admits(server, tool));
    found.iter().filter_map(Difference::note).for_each(|note| terminal.note(&note));
}

/// A value for programs, on one line.
pub(super) fn print_json(value: &Value, terminal: &Terminal) {
    terminal.print_json(&value.to_string());
}

/// Of some that were tried, whether any worked.
pub(super) fn code(any_ready: bool) -> u8 {
    if any_ready { exit_code::OK } else { exit_code::HOST }
}
