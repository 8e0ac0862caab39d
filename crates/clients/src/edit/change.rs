//! The changes to the entry of a server.

use serde_json::Value as Json;

/// The configuration's key for servers.
pub(crate) const SERVERS: &str = "mcpServers";

/// The keys and values of an entry, in the order in which they are written.
pub type Entry = Vec<(String, Json)>;

/// The reason why a file can't be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    /// It is not JSON.
    #[error("{}", .0.kind())]
    Json(#[from] jsonc_parser::errors::ParseError),
    /// It is not YAML.
    #[error(transparent)]
    Yaml(#[from] yaml_edit::YamlError),
    /// It has another form than a configuration.
    #[error("it is not an object")]
    NotAnObject,
    /// Its servers have another form.
    #[error("its servers are not an object")]
    Servers,
    /// The server's entry has another form.
    #[error("the entry is not an object")]
    Entry,
    /// The server's entry has no keys to change.
    #[error("the entry has no keys with values")]
    EmptyEntry,
    /// The server has no entry.
    #[error("there is no such entry")]
    NoEntry,
    /// The editor has no form for the new entry.
    #[error("the entry can't be written")]
    Unwritable,
}

/// A change to a server's entry.
#[derive(Debug, Clone)]
pub enum Change {
    /// Replaces the entry, or adds it.
    Set(Entry),
    /// Removes the entry.
    Remove,
    /// Enables or disables the server.
    Enabled(bool),
    /// Sets one key of the entry.
    Key(String, Json),
}
