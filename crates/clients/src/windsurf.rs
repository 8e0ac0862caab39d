//! The properties of Windsurf.

use super::location::{Base, Location};
use super::profile::{JSON, Profile};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["windsurf"],
    client_info: "windsurf-client",
    files: &[Location::new(Base::Home, ".codeium/windsurf", "mcp_config.json")],
    is_desktop: true,
    ..JSON
};
