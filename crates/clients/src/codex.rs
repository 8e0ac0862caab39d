//! The properties of Codex.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::namespaces::NAMESPACES;
use super::profile::{ASKS, Calls, JSON, Key, Profile, Syntax, Value, seconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["codex"],
    is_versioned: true,
    client_info: "codex-mcp-client",
    files: &[Location::new(Base::Home, ".codex", "config.toml").or("CODEX_HOME")],
    project: &[".codex/config.toml"],
    syntax: Syntax::Toml,
    section: &["mcp_servers"],
    keys: &[
        seconds("tool_timeout_sec", "calls end after 5 minutes, also while they report progress"),
        Key::new("supports_parallel_tool_calls", Value::Bool(true), "calls run one after the other"),
    ],
    namespaces: Some(Key {
        since: Some([0, 142, 0]),
        shows: true,
        ..Key::new(
            NAMESPACES,
            Value::Name,
            "most of its models see only the beginning of the instructions, and not the tools",
        )
    }),
    required: Some("required"),
    calls: Calls {
        default: "asks before each tool call, and `codex exec` denies it",
        key: Some(("default_tools_approval_mode", Value::Text("approve"))),
        ..ASKS
    },
    dialect: Dialect::Literal,
    ..JSON
};
