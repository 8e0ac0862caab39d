//! The choice of a command's configuration, and the command's needs.

use std::path::PathBuf;

use super::ConfigLayer;

/// The choice of a configuration, and the strictness of loading it.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// A file on top of the user's and the project's.
    pub file: Option<PathBuf>,
    /// Whether an error in a server's entry is fatal; otherwise the server is skipped.
    pub strict: bool,
    /// The servers that the command needs.
    pub needs: Needs,
    /// The only layer whose servers are used, also those that another layer overrides; `None` for all layers. Settings
    /// always come from all layers.
    pub servers_of: Option<ServersOf>,
}

/// A layer of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServersOf {
    /// The user's configuration.
    User,
    /// The project's configuration.
    Project,
}

impl ServersOf {
    pub(crate) fn has(self, layer: &ConfigLayer) -> bool {
        match self {
            ServersOf::User => matches!(layer, ConfigLayer::User(_)),
            ServersOf::Project => matches!(layer, ConfigLayer::Project(_)),
        }
    }
}

/// The servers that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Needs {
    /// At least one that can be used; none is an error.
    #[default]
    Servers,
    /// It works without servers.
    Nothing,
    /// At least one that can be used, unless nothing is configured.
    ServersIfAny {
        /// Whether it has the demo server if nothing is configured.
        or_demo: bool,
    },
    /// Only the demo server, in place of the configured ones.
    Demo,
}
