//! A connected client and the state of a server, for tests.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::path::Path;
use std::sync::Arc;

use rmcp::model::NumberOrString;
use rmcp::service::{RequestContext, RunningService, serve_directly};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use terminal::Terminal;
use tokio::io::DuplexStream;
use tokio::sync::watch;

use super::session::{ClientSession, ClientTransport};
use super::snapshot::Settings;
use super::state::ServerState;

/// A server that answers with the library's defaults.
struct DefaultServer;

impl ServerHandler for DefaultServer {}

/// A client at the other end of a pipe. It sends only the requests that a test makes up.
pub(crate) struct PipeClient {
    serving: RunningService<RoleServer, DefaultServer>,
    _end: DuplexStream,
}

impl PipeClient {
    pub(crate) fn connect() -> Self {
        let (near, far) = tokio::io::duplex(1 << 10);
        PipeClient { serving: serve_directly(DefaultServer, tokio::io::split(near), None), _end: far }
    }

    /// A request under MCP 2026-07-28, which has no sessions.
    pub(crate) fn request(&self, number: i64) -> RequestContext<RoleServer> {
        self.request_of("test client", number)
    }

    /// Such a request of the client with this name.
    pub(crate) fn request_of(&self, name: &str, number: i64) -> RequestContext<RoleServer> {
        let mut context = RequestContext::new(NumberOrString::Number(number), self.serving.peer().clone());
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1.2" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        context.meta.0.0 = serde_json::from_value::<Map<String, Value>>(meta).unwrap();
        context
    }
}

/// The state of a server with these settings, and its cache in `folder`.
pub(crate) fn state(settings: Arc<Settings>, folder: &Path) -> Arc<ServerState> {
    let cache = runner::Cache::open(&folder.join("cache"), runner::DEFAULT_SIZE).unwrap();
    let terminal = Arc::new(Terminal::new(true, false));
    ServerState::with_cache((cache, None), watch::channel(settings).1, Vec::new(), terminal).unwrap()
}

/// A client over HTTP with this id, without a session.
pub(crate) fn session(state: &Arc<ServerState>, id: &str) -> Arc<ClientSession> {
    ClientSession::new(id.to_owned(), ClientTransport::Http, state.clone())
}
