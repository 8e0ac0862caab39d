//! The properties of Crush.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Key, Profile, Value};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["crush"],
    client_info: "crush",
    files: &[Location::new(Base::Config, "crush", "crush.json").or("CRUSH_GLOBAL_CONFIG")],
    project: &["crush.json", ".crush.json"],
    section: &["mcp"],
    kind: Some("stdio"),
    // Limits the start, not calls.
    keys: &[Key::new("timeout", Value::Number(60), "a server that needs 10 s to start is not available")],
    calls: Calls {
        advice: "add mcp_{name}_execute_code to permissions.allowed_tools in crush.json",
        list: Some((
            Location::new(Base::Config, "crush", "crush.json").or("CRUSH_GLOBAL_CONFIG"),
            &["permissions", "allowed_tools"],
            &["mcp_{name}_execute_code"],
        )),
        ..ASKS
    },
    dialect: Dialect::Shell,
    ..JSON
};
