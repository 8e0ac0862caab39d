//! The changes to the entry of a server.

use serde_json::Value as Json;

/// The configuration's key for servers.
pub(super) const SERVERS: &str = "mcpServers";

/// The keys and values of an entry, in the order in which they are written.
pub(super) type Entry = Vec<(String, Json)>;

/// A change to a server's entry.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// Replaces the entry, or adds it.
    Set(Entry),
    /// Removes the entry.
    Remove,
    /// Enables or disables the server.
    Enabled(bool),
    /// Allows calls to all of its tools, with this key and value.
    Trusted(&'static str, Json),
}
