//! The properties of Gemini CLI.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Profile, Value, milliseconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["gemini"],
    client_info: "gemini-cli-mcp-client",
    files: &[Location::new(Base::Home, "", ".gemini/settings.json").or("GEMINI_CLI_HOME")],
    project: &[".gemini/settings.json"],
    keys: &[milliseconds("timeout", "calls end after 10 minutes")],
    calls: Calls {
        default: "asks before each tool call, and leaves tools out if it can't ask (`gemini -p`)",
        key: Some(("trust", Value::Bool(true))),
        ..ASKS
    },
    dialect: Dialect::Shell,
    lists_servers: true,
    ..JSON
};
