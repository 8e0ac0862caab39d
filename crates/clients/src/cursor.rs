//! The properties of Cursor.

use super::location::{Base, Location};
use super::profile::{JSON, Profile};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["cursor"],
    client_info: "cursor-vscode",
    files: &[Location::new(Base::Home, ".cursor", "mcp.json")],
    project: &[".cursor/mcp.json"],
    is_desktop: true,
    ..JSON
};
