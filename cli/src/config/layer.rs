//! The layers of a configuration.

use std::path::{Path, PathBuf};

/// Where a part of a configuration comes from. A later one outdoes the earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Nothing is configured: the built-in demo server.
    Demo,
    /// The user's own file.
    User(PathBuf),
    /// The project's file, once it is trusted.
    Project(PathBuf),
    /// The file that `--config` names.
    Named(PathBuf),
    /// The variable `TOOLSMITH_MCP_SERVERS`.
    Environment,
}

impl Layer {
    /// The file, where it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Layer::User(file) | Layer::Project(file) | Layer::Named(file) => Some(file),
            Layer::Demo | Layer::Environment => None,
        }
    }

    /// One word for tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Layer::Demo => "demo",
            Layer::User(_) => "user",
            Layer::Project(_) => "project",
            Layer::Named(_) => "config",
            Layer::Environment => "environment",
        }
    }
}
