//! The common context of an execution's records and spans.

use std::sync::Arc;

use telemetry::{ExecutionSpan, Network};

use super::requester::Requester;
use crate::sinks::Sinks;

/// The context for the records and spans of an execution, or of a direct call.
pub(crate) struct RequestContext {
    pub(super) sinks: Sinks,
    pub(super) requester: Requester,
    /// The id of the execution.
    pub(crate) id: String,
    pub(super) span: ExecutionSpan,
}

impl RequestContext {
    /// Starts the span of a request that calls `tool` of this server.
    pub(crate) fn new(sinks: Sinks, requester: Requester, id: String, tool: &str) -> Arc<Self> {
        let span = ExecutionSpan::begin(tool, &id, &requester.incoming());
        Arc::new(RequestContext { sinks, requester, id, span })
    }

    /// For `Instrument::instrument`.
    pub(crate) fn span(&self) -> tracing::Span {
        self.span.span().clone()
    }

    /// The network of a server's connection.
    pub(super) fn network(&self, server: &str) -> Network {
        match self.sinks.settings.config.server(server).map(|server| &server.connection.transport) {
            Some(mcp::Transport::Stdio(_) | mcp::Transport::InProcess(_)) | None => Network::Pipe,
            Some(mcp::Transport::Http(_) | mcp::Transport::Sse(_) | mcp::Transport::OpenApi(_)) => {
                Network::Http
            }
        }
    }
}
