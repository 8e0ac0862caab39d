//! The layers of a configuration.

use std::path::{Path, PathBuf};

/// The source of a part of a configuration. Later variants override earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigLayer {
    /// The built-in demo server: no file has it.
    Demo,
    /// The user's own file.
    User(PathBuf),
    /// The project's file, if it is trusted.
    Project(PathBuf),
    /// The file that `--config` or `TOOLSMITH_CONFIG` names.
    Named(PathBuf),
    /// The variable `TOOLSMITH_MCP_SERVERS`.
    Environment,
}

impl ConfigLayer {
    /// The layer's file, if it has one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            ConfigLayer::User(file) | ConfigLayer::Project(file) | ConfigLayer::Named(file) => Some(file),
            ConfigLayer::Demo | ConfigLayer::Environment => None,
        }
    }

    /// A one-word name for tables.
    pub fn name(&self) -> &'static str {
        match self {
            ConfigLayer::Demo => "demo",
            ConfigLayer::User(_) => "user",
            ConfigLayer::Project(_) => "project",
            ConfigLayer::Named(_) => "config",
            ConfigLayer::Environment => "environment",
        }
    }

    /// The name, with the file if there is one.
    pub fn source(&self) -> String {
        match self.file() {
            Some(file) => format!("{} {}", self.name(), file.display()),
            None => self.name().to_owned(),
        }
    }
}
