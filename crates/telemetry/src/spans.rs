//! The spans, with the names of OpenTelemetry's semantic conventions for MCP and GenAI (both in development, so the
//! names are used only in this file). The project's own names start with `toolsmith.`.

use std::net::SocketAddr;

use serde_json::{Map, Value};
use tracing::Span;
use tracing::field::Empty;

use crate::context::TraceContext;
use crate::propagation;

/// The target of all spans.
pub(crate) const TARGET: &str = "toolsmith::telemetry";

/// Maximum length of a name or number from outside, in characters.
const NAME: usize = 256;

/// The transport of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Standard input and output.
    Pipe,
    /// HTTP.
    Http,
    /// No network: both ends are in this process.
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

/// The attributes of a client's request for a span.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// The transport.
    pub network: Network,
    /// The JSON-RPC id of the request, as text.
    pub request: &'a str,
    /// The MCP session.
    pub session: Option<&'a str>,
    /// The version of the protocol.
    pub protocol_version: Option<&'a str>,
    /// The remote address, over HTTP.
    pub address: Option<SocketAddr>,
    /// The trace context of the request.
    pub context: Option<&'a TraceContext>,
}

/// One execution or direct call, from the client's request to its answer.
#[derive(Debug, Clone)]
pub struct ExecutionSpan {
    span: Span,
    context: Option<TraceContext>,
}

impl ExecutionSpan {
    /// Starts the span of a request that calls `tool` (of this server), as a child of the client's span if the request
    /// has one.
    pub fn begin(tool: &str, execution: &str, incoming: &Incoming<'_>) -> Self {
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

    /// The id of the trace that it belongs to: the client's, or that of the exported span; `None` without a trace.
    pub fn trace_id(&self) -> Option<String> {
        propagation::context_of(&self.span, self.context.as_ref())?.trace_id().map(str::to_owned)
    }

    /// For `Instrument::instrument`, so that inner spans and events belong to it.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Starts the span of a call that the execution makes.
    pub fn call(&self, server: &str, tool: &str, network: Network, version: Option<&str>) -> CallSpan {
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
            // Recorded by the session when it sends the request.
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

    /// Records the outcome's status, and the kind of failure if it failed. The span itself ends when all its clones are
    /// dropped.
    pub fn end(&self, status: &str, error: Option<&str>, calls: u64) {
        self.span.record("toolsmith.status", status);
        self.span.record("toolsmith.calls", calls);
        fail(&self.span, error);
    }
}

/// One call of a server's tool.
#[derive(Debug)]
pub struct CallSpan {
    /// Within it the session records the id of its request.
    pub span: Span,
    /// The `_meta` of the call: this span as the parent if spans are exported, otherwise the client's context.
    pub meta: Map<String, Value>,
}

impl CallSpan {
    /// Records an answer with its size in bytes of JSON, and whether the tool reported an error.
    pub fn answered(span: &Span, is_error: bool, bytes: usize) {
        span.record("toolsmith.bytes", bytes);
        fail(span, is_error.then_some("tool_error"));
    }

    /// Records a failure without an answer: its kind (`timeout`, …), or the code of the server's JSON-RPC error.
    pub fn failed(span: &Span, kind: &str, code: Option<i64>) {
        match code {
            Some(code) => {
                span.record("rpc.response.status_code", code.to_string());
                fail(span, Some(&code.to_string()));
            }
            None => fail(span, Some(kind)),
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
