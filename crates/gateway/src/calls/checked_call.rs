//! A call that passed its checks, as the cache and the statistics see it.

use config::Config;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::tool_list::ToolList;

/// A call that may be made.
pub struct CheckedCall<'a> {
    /// The configuration in force.
    pub config: &'a Config,
    /// The client on whose behalf the call is made: clients don't share results. Clients without a session are one.
    pub client: &'a str,
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The server's tools; without them, the result is not cached.
    pub offered: Option<&'a ToolList>,
    /// The arguments in canonical form.
    pub arguments: &'a RawValue,
    /// The number of servers' open questions: a result that depends on an answer is not cached.
    pub questions: watch::Receiver<usize>,
}
