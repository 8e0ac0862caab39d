//! The properties of Claude Code.

use super::location::{Base, Location};
use super::profile::{ASKS, Calls, JSON, Key, Profile, Value};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["claude"],
    is_versioned: true,
    client_info: "claude-code",
    files: &[Location::new(Base::Home, "", ".claude.json").or("CLAUDE_CONFIG_DIR")],
    folder: Some(Location::new(Base::Home, ".claude", "")),
    project: &[".mcp.json"],
    kind: Some("stdio"),
    keys: &[Key {
        shows: true,
        ..Key::new("alwaysLoad", Value::Bool(true), "its model sees only the tools' names until it searches")
    }],
    calls: Calls {
        default: "asks before a call, and `claude -p` denies it",
        advice: "add mcp__{name} to permissions.allow in ~/.claude/settings.json, or pass --allowedTools \
                 mcp__{name}",
        list: Some((
            Location::new(Base::Home, ".claude", "settings.json").or("CLAUDE_CONFIG_DIR"),
            &["permissions", "allow"],
            &["mcp__{name}", "mcp__{name}__*", "mcp__{name}__execute_code"],
        )),
        ..ASKS
    },
    projects: Some("Claude Code"),
    ..JSON
};
