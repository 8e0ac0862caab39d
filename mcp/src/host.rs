//! What a server may ask of this side, and tell it: answered by whoever uses the sessions.

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

/// Whoever uses a session: asked what the server asks of a client, and told what it tells. Each capability is declared
/// to the server only where the host says that it has it.
pub trait Host: Send + Sync + 'static {
    /// Whether [`Host::elicit`] asks a person by a form.
    fn elicits(&self) -> bool {
        false
    }

    /// Whether [`Host::elicit`] can send a person to an address as well (`mode: url`).
    fn elicits_by_url(&self) -> bool {
        false
    }

    /// Whether [`Host::sample`] has a model.
    fn samples(&self) -> bool {
        false
    }

    /// Asks a person: MCP's `elicitation/create`, with its parameters as they came. The answer is an `ElicitResult`:
    /// `action`, and `content` for `accept`.
    ///
    /// # Errors
    /// Why nobody can be asked; the server is told.
    fn elicit<'a>(&'a self, server: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        let _ = (server, parameters);
        std::future::ready(Ok(serde_json::json!({ "action": "decline" }))).boxed()
    }

    /// Asks a model: MCP's `sampling/createMessage`, with its parameters as they came. The answer is a
    /// `CreateMessageResult`.
    ///
    /// # Errors
    /// Why the model can't be asked; the server is told.
    fn sample<'a>(&'a self, server: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        let _ = (server, parameters);
        std::future::ready(Err("sampling is not allowed here".to_owned())).boxed()
    }

    /// Told something by a server. Must not block.
    fn notice(&self, server: &str, notice: &Notice) {
        let _ = (server, notice);
    }
}

/// What a server tells, beside its answers. All of it is its claim: untrusted text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A line on a local server's standard error, bounded and without control characters.
    Stderr(String),
    /// The first output that is no message of the protocol, bounded and without control characters.
    Stray(String),
    /// A log message (`notifications/message`): its level, its logger, and what it says.
    Log {
        /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.
        level: String,
        /// What logs, if the server says so.
        logger: Option<String>,
        /// The message; any JSON.
        data: Value,
    },
    /// How far a call is (`notifications/progress`).
    Progress {
        /// How much is done.
        done: f64,
        /// How much there is in all, where that is known.
        total: Option<f64>,
        /// What is done right now.
        message: Option<String>,
    },
    /// A list is no longer what it was.
    ListChanged(ListKind),
    /// A resource is no longer what it was.
    ResourceUpdated(String),
}

/// Which list has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `resources/list`, or its templates.
    Resources,
    /// `prompts/list`.
    Prompts,
}

/// A host that has no person and no model, and forgets what it is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {}
