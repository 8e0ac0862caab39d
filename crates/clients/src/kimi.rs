//! The properties of Kimi Code CLI.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Profile, milliseconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["kimi"],
    client_info: "kimi-code",
    files: &[
        Location::new(Base::Home, ".kimi-code", "mcp.json").or("KIMI_CODE_HOME"),
        Location::new(Base::Home, ".kimi", "mcp.json"),
    ],
    project: &[".kimi-code/mcp.json"],
    keys: &[milliseconds("toolTimeoutMs", "calls end after a minute")],
    calls: Calls {
        advice: "add a [[permission.rules]] with decision = \"allow\" and pattern = \"mcp__{name}__*\" to its \
                 config.toml",
        ..ASKS
    },
    dialect: Dialect::Literal,
    ..JSON
};
