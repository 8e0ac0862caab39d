//! The properties of Qwen Code.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Key, Profile, Value, milliseconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["qwen"],
    client_info: "qwen-cli-mcp-client",
    files: &[Location::new(Base::Home, ".qwen", "settings.json")],
    project: &[".qwen/settings.json"],
    keys: &[
        milliseconds("timeout", "calls end after 10 minutes"),
        Key {
            shows: true,
            ..Key::new(
                "alwaysLoadTools",
                Value::Bool(true),
                "its model sees 150 characters of each description until it searches",
            )
        },
    ],
    calls: Calls { default: "asks before each tool call", key: Some(("trust", Value::Bool(true))), ..ASKS },
    dialect: Dialect::Shell,
    lists_servers: true,
    ..JSON
};
