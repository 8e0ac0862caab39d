//! The spans, with the names of OpenTelemetry's semantic conventions for MCP and GenAI (both in development: the names
//! stand here alone). What is the project's own begins with `toolsmith.`.

use std::net::SocketAddr;

use serde_json::{Map, Value};
use tracing::Span;
use tracing::field::Empty;

use super::context::TraceContext;
use super::propagation;

/// The target of all spans.
pub(super) const TARGET: &str = "toolsmith::telemetry";

/// Characters of a name or number that others chose.
const NAME: usize = 256;

/// What a connection goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Standard input and output.
    Pipe,
    /// HTTP.
    Http,
    /// None: both ends are in this process.
    InProcess,
}

impl Network {
    fn record(self, span: &Span) {
        match self {
            Network::Pipe => span.record("network.transport", "pipe"),
            Network::Http => span.record("network.transport", "tcp").record("network.protocol.name", "http"),
            // Not one of the conventions' well-known values, which all name a network.
            Network::InProcess => span.record("network.transport", "inproc"),
        };
    }
}

/// A client's request, as far as a span tells of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) network: Network,
    /// The JSON-RPC number of the request, as text.
    pub(crate) request: &'a str,
    pub(crate) session: Option<&'a str>,
    pub(crate) protocol_version: Option<&'a str>,
    /// The other end, over HTTP.
    pub(crate) address: Option<SocketAddr>,
    /// What the request belongs to.
    pub(crate) context: Option<&'a TraceContext>,
}

/// One execution, or one direct call, from the client's request to its answer.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionSpan {
    span: Span,
    context: Option<TraceContext>,
}

impl ExecutionSpan {
    /// Begins the span of a request that calls `tool` (of this server), under the client's span if it tells of one.
    pub(crate) fn begin(tool: &str, execution: &str, incoming: &Incoming<'_>) -> Self {
        let tool = short(tool);
        let span = tracing::info_span!(
            target: TARGET,
            parent: None,
            "execution",
            otel.name = format!("tools/call {tool}"),
            otel.kind = "server",
            otel.status_code = Empty,
            mcp.method.name = "tools/call",
            mcp.session.id = Empty,
            mcp.protocol.version = Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = tool,
            jsonrpc.request.id = short(incoming.request),
            network.transport = Empty,
            network.protocol.name = Empty,
            client.address = Empty,
            client.port = Empty,
            "error.type" = Empty,
            toolsmith.execution.id = execution,
            toolsmith.status = Empty,
            toolsmith.calls = Empty,
        );
        incoming.network.record(&span);
        incoming.session.map(|session| span.record("mcp.session.id", short(session)));
        incoming.protocol_version.map(|version| span.record("mcp.protocol.version", short(version)));
        if let Some(address) = incoming.address {
            span.record("client.address", address.ip().to_string());
            span.record("client.port", i64::from(address.port()));
        }
        if let Some(context) = incoming.context {
            propagation::set_parent(&span, context);
        }
        ExecutionSpan { span, context: incoming.context.cloned() }
    }

    /// For `Instrument::instrument`, so that what happens within belongs to it.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Begins the span of a call that the execution makes.
    pub(crate) fn call(&self, server: &str, tool: &str, network: Network, version: Option<&str>) -> CallSpan {
        let tool = short(tool);
        let span = tracing::info_span!(
            target: TARGET,
            parent: &self.span,
            "call",
            otel.name = format!("tools/call {tool}"),
            otel.kind = "client",
            otel.status_code = Empty,
            mcp.method.name = "tools/call",
            mcp.protocol.version = Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = tool,
            // By the session, when it sends the request.
            jsonrpc.request.id = Empty,
            network.transport = Empty,
            network.protocol.name = Empty,
            "error.type" = Empty,
            rpc.response.status_code = Empty,
            toolsmith.server = short(server),
            toolsmith.bytes = Empty,
        );
        network.record(&span);
        version.map(|version| span.record("mcp.protocol.version", short(version)));
        let meta = propagation::context_of(&span, self.context.as_ref());
        CallSpan { span, meta: meta.map(|context| context.to_meta()).unwrap_or_default() }
    }

    /// How it ended: the outcome's status, and what kind of failure it was, if it was one. The span itself ends when all
    /// its clones are dropped.
    pub(crate) fn end(&self, status: &str, error: Option<&str>, calls: u64) {
        self.span.record("toolsmith.status", status);
        self.span.record("toolsmith.calls", calls);
        fail(&self.span, error);
    }
}

/// One call of a server's tool.
#[derive(Debug)]
pub(crate) struct CallSpan {
    span: Span,
    meta: Map<String, Value>,
}

impl CallSpan {
    /// What goes with the call (`_meta`): this span as the parent where spans are exported, else what the client sent.
    pub(crate) fn meta(&self) -> Map<String, Value> {
        self.meta.clone()
    }

    /// For `Instrument::instrument`: within it the session records the number of its request.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// An answer came, of so many bytes of JSON; whether the tool says that it failed.
    pub(crate) fn answered(self, is_error: bool, bytes: usize) {
        self.span.record("toolsmith.bytes", bytes);
        fail(&self.span, is_error.then_some("tool_error"));
    }

    /// No answer came: the kind of failure (`timeout`, …), or the code of the server's JSON-RPC error.
    pub(crate) fn failed(self, kind: &str, code: Option<i64>) {
        match code {
            Some(code) => {
                self.span.record("rpc.response.status_code", code.to_string());
                fail(&self.span, Some(&code.to_string()));
            }
            None => fail(&self.span, Some(kind)),
        }
    }
}

fn fail(span: &Span, error: Option<&str>) {
    if let Some(error) = error {
        span.record("error.type", error).record("otel.status_code", "ERROR");
    }
}

fn short(text: &str) -> &str {
    text.char_indices().nth(NAME).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
