//! The properties of Zed.

use super::dialect::Dialect;
use super::location::{Base, Location};
use super::profile::{JSON, Profile, seconds};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["zed", "zeditor"],
    client_info: "Zed",
    files: &[Location::new(Base::Config, "zed", "settings.json")],
    project: &[".zed/settings.json"],
    section: &["context_servers"],
    keys: &[seconds("timeout", "calls end after a minute")],
    is_desktop: true,
    dialect: Dialect::Literal,
    ..JSON
};
