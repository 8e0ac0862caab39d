//! The runner's interface to the host that connects to the servers.

use std::collections::BTreeMap;
use std::time::Duration;

use bridge::wire::{CallFailure, FailureKind, Question};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// The reason why an execution has no session with a server. The text is for the user or a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The server can't be connected, and why.
    #[error("{0}")]
    Unavailable(String),
    /// The server offers other tools than those that the program was compiled against.
    #[error("the tools of {0} have changed since the program was compiled")]
    ToolsChanged(String),
    /// The journal refused the session, and why.
    #[error("{0}")]
    Refused(String),
}

/// Forwards calls to servers; each execution has its own.
pub trait ToolHost: Send + Sync {
    /// Ensures that this execution has a session with `server`. May be called again for the same server.
    ///
    /// # Errors
    /// If there is no session that the program can use.
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), SessionError>>;

    /// Whether the program may call `tools`, pairs of server and tool: all that it can call. Called once, when the
    /// program is linked and its servers are open, before it runs; not for a program that is only compiled. May wait
    /// for the user, while the execution's clock is stopped.
    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>>;

    /// Whether this call may be sent; called before each. `arguments` are in canonical form ([`strict_json`]), and are
    /// next passed to [`ToolHost::call`]. May wait for the user, like [`ToolHost::permit`]. Dropping the future
    /// withdraws the question.
    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>>;

    /// The current number of servers' questions to the user, with its changes: while there are any, the execution's
    /// clock is stopped.
    fn questions(&self) -> Option<watch::Receiver<usize>> {
        None
    }

    /// Calls a tool of an open server, with `meta` as members of MCP's `_meta`. Dropping the future cancels the call.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
        meta: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>>;

    /// Answers a program's question about tools or available resources, as each [`Question`] says. Needs no permission,
    /// because nothing is called.
    fn look_up<'a>(&'a self, _question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        ready(Err(unavailable("tools can't be looked up here"))).boxed()
    }

    /// The configured name of the server that has a resource; `server` is the one that the program names.
    fn find_resource<'a>(
        &'a self,
        _uri: &'a str,
        _server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        ready(Err(unavailable("there are no resources here"))).boxed()
    }

    /// Whether the program may read a resource, which exposes a server's data. May wait for the user, like
    /// [`ToolHost::permit`]. Dropping the future withdraws the question.
    fn permit_read<'a>(&'a self, _server: &'a str, _uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        ready(Err(unavailable("there are no resources here"))).boxed()
    }

    /// The contents of a resource: MCP's `ReadResourceResult`, as the server sent it.
    fn read_resource<'a>(
        &'a self,
        _server: &'a str,
        _uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        ready(Err(unavailable("there are no resources here"))).boxed()
    }
}

fn unavailable(message: &str) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: message.to_owned() }
}

/// The reason why a program may not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The reason, for the user or a model.
    pub message: String,
    /// The evidence in the outcome's error: an object.
    pub evidence: Value,
}

/// A tool's answer.
#[derive(Debug)]
pub struct Answer {
    /// MCP's `CallToolResult`.
    pub result: Box<RawValue>,
    /// Its `isError`.
    pub is_error: bool,
    /// The age of an answer from the cache; `None` if the call was made.
    pub cached: Option<Duration>,
}

/// The member of a result's `_meta` that lists how the server's answer differed from MCP's form.
pub const REPAIRED_META: &str = "io.toolsmith/repaired";

impl Answer {
    /// Lists the deviations of the server's answer from MCP's form; empty if there are none.
    #[must_use]
    pub fn repairs(&self) -> Vec<String> {
        #[derive(Deserialize)]
        struct Marked {
            #[serde(rename = "_meta")]
            meta: BTreeMap<String, Value>,
        }
        // Most results have no such member, and may be long.
        if !self.result.get().contains(REPAIRED_META) {
            return Vec::new();
        }
        let marked = serde_json::from_str(self.result.get()).ok();
        let listed = marked.and_then(|Marked { mut meta }| meta.remove(REPAIRED_META));
        listed.and_then(|listed| serde_json::from_value(listed).ok()).unwrap_or_default()
    }
}
