//! What is done to the entry of a server.

use serde_json::Value as Json;

/// The key of the servers.
pub(super) const SERVERS: &str = "mcpServers";

/// The keys and values of an entry, in the order in which they are written.
pub(super) type Entry = Vec<(String, Json)>;

/// What is done to a server's entry.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// It becomes this one.
    Set(Entry),
    /// It goes.
    Remove,
    /// It is switched on or off.
    Enabled(bool),
    /// All of its tools may be called: the key says so, with the value.
    Trusted(&'static str, Json),
}
