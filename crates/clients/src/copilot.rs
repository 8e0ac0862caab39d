//! The properties of GitHub Copilot CLI.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Key, Profile, Value, milliseconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["copilot"],
    client_info: "copilot-cli",
    files: &[Location::new(Base::Home, ".copilot", "mcp-config.json").or("COPILOT_HOME")],
    project: &[".github/mcp.json"],
    kind: Some("local"),
    keys: &[
        Key { shows: true, ..Key::new("tools", Value::All, "it enables no tool") },
        milliseconds("timeout", "calls end after 3 minutes"),
    ],
    calls: Calls {
        default: "asks before a call, and `copilot -p` denies it",
        advice: "pass --allow-tool {name}",
        ..ASKS
    },
    dialect: Dialect::Shell,
    ..JSON
};
