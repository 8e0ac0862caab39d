//! The properties of Claude Desktop.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{JSON, Profile};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["claude-desktop"],
    client_info: "claude-ai",
    files: &[Location::new(Base::Applications, "Claude", "claude_desktop_config.json")],
    is_desktop: true,
    dialect: Dialect::Literal,
    ..JSON
};
