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
    /// When the demo server is used.
    pub demo: Demo,
    /// The only layer whose servers are used, also those that another layer overrides; `None` for all layers. Settings
    /// always come from all layers.
    pub servers_of: Option<ServersOf>,
    /// The treatment of an untrusted project file.
    pub untrusted: Untrusted,
}

impl LoadOptions {
    /// The same options, with the demo server if nothing is configured.
    #[must_use]
    pub fn or_demo(self) -> Self {
        let demo = if self.demo == Demo::Never { Demo::IfUnconfigured } else { self.demo };
        LoadOptions { demo, ..self }
    }

    /// The same options, without the project's file if it is not trusted.
    #[must_use]
    pub fn without_untrusted(self) -> Self {
        LoadOptions { untrusted: Untrusted::LeftOut, ..self }
    }
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
    ServersIfAny,
}

/// When the demo server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Demo {
    /// Never.
    #[default]
    Never,
    /// If nothing is configured.
    IfUnconfigured,
    /// Always, in place of the configured servers.
    Only,
}

/// The treatment of an untrusted project file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Untrusted {
    /// It is an error.
    #[default]
    Refused,
    /// It is read anyway, only to be shown.
    Shown,
    /// It is skipped and reported in [`Config::untrusted`](super::Config::untrusted). Then the configuration may have no
    /// server.
    LeftOut,
}
