//! The properties of VS Code.

use super::location::{Base, Location};
use super::profile::{JSON, Profile};

pub(crate) static PROFILE: Profile = Profile {
    programs: &["code"],
    client_info: "Visual Studio Code",
    files: &[Location::new(Base::Applications, "Code/User", "mcp.json")],
    folder: Some(Location::new(Base::Applications, "Code", "")),
    project: &[".vscode/mcp.json"],
    section: &["servers"],
    kind: Some("stdio"),
    is_desktop: true,
    ..JSON
};
