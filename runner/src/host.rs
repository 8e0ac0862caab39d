//! What the runner needs of whoever holds the servers.

use bridge::wire::{CallFailure, FailureKind, Question};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::refused::CallsRefused;

/// Carries calls to servers; each execution has one of its own.
pub trait ToolHost: Send + Sync {
    /// Makes sure that this execution has a session with `server`. May be asked again for the same one.
    ///
    /// # Errors
    /// Why there is none, in words for a person or a model.
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Whether the program may call `tools`, each a server and a tool of it: all that it can. Asked once, when it is
    /// linked and its servers are open, before it runs; not for what is only compiled. May wait for a person: the
    /// execution's time stands still.
    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>>;

    /// Whether this call may leave; asked before each. `arguments` have their canonical form ([`strict_json`]), and are
    /// what [`ToolHost::call`] is given next. May wait for a person as [`ToolHost::permit`] does. Dropping
    /// the future withdraws the question.
    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>>;

    /// How many questions of servers are with a person right now, and each change of it: meanwhile the execution's time
    /// stands still.
    fn questions(&self) -> Option<watch::Receiver<usize>> {
        None
    }

    /// Calls a tool of an open server. Dropping the future cancels the call.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>>;

    /// Is told of each call that was refused: `count` adds it to counts such as those of the outcome. So it is known
    /// even where an execution is given up and has no outcome.
    fn refused(&self, _count: &dyn Fn(&mut CallsRefused)) {}

    /// Answers what the program asks about tools, and which resources there are, as each [`Question`] says. Needs no
    /// permission: nothing is called.
    fn look_up<'a>(&'a self, _question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        ready(Err(unavailable("tools can't be looked up here"))).boxed()
    }

    /// The server that has a resource, by its name in the configuration; `server` is the one that the program names.
    fn find_resource<'a>(
        &'a self,
        _uri: &'a str,
        _server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        ready(Err(unavailable("there are no resources here"))).boxed()
    }

    /// Whether a resource may be read: the program gets to see a server's data. May wait for a person as
    /// [`ToolHost::permit`] does. Dropping the future withdraws the question.
    fn permit_read<'a>(&'a self, _server: &'a str, _uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        ready(Err(unavailable("there are no resources here"))).boxed()
    }

    /// What a resource holds: MCP's `ReadResourceResult`, as the server sent it.
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

/// Why a program may not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// In words for a person or a model.
    pub message: String,
    /// What the outcome's error gives as evidence: an object.
    pub evidence: Value,
}

/// The answer of a tool.
#[derive(Debug)]
pub struct Answer {
    /// MCP's `CallToolResult`, as the server sent it.
    pub result: Box<RawValue>,
    /// Its `isError`.
    pub is_error: bool,
}
