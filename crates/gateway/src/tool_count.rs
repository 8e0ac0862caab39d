//! The number of a server's admitted tools.

use std::fmt;

use config::Config;

use crate::pins::Pins;
use crate::tool_list::ToolList;

/// The number of a server's tools that the configuration and the lock files admit for models. As text: `13`, or `8 of
/// 13`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCount {
    /// The admitted tools.
    pub admitted: usize,
    /// All tools that the server lists.
    pub listed: usize,
}

impl ToolCount {
    /// Counts the tools in a server's list.
    pub fn of(config: &Config, pins: &Pins, server: &str, list: &ToolList) -> Self {
        let held = pins.held(server, list);
        let names = list.names();
        let is_admitted =
            |name: &&str| config.admits(server, name) && !held.contains(*name) && !list.is_for_apps(name);
        let admitted = names.clone().filter(is_admitted);
        ToolCount { admitted: admitted.count(), listed: names.len() }
    }

    /// With the noun: `13 tools`, `8 of 13 tools`, `1 tool`.
    #[must_use]
    pub fn tools(self) -> String {
        match self {
            ToolCount { admitted, listed } if admitted == listed => report::count(listed, "tool"),
            ToolCount { admitted, listed } => format!("{admitted} of {}", report::count(listed, "tool")),
        }
    }
}

impl fmt::Display for ToolCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ToolCount { admitted, listed } if admitted == listed => write!(formatter, "{listed}"),
            ToolCount { admitted, listed } => write!(formatter, "{admitted} of {listed}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tools_are_named_only_if_some_are_left_out() {
        let text = |admitted, listed| ToolCount { admitted, listed }.to_string();
        assert_eq!([text(13, 13), text(8, 13), text(0, 0)], ["13", "8 of 13", "0"]);
    }
}
