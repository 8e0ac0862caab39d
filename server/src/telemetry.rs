//! Traces: a span for each execution and each call, and the context that makes them parts of a client's trace.
//!
//! Spans are `tracing`'s, under the target [`spans::TARGET`], with the attribute names of OpenTelemetry's conventions for
//! MCP and GenAI. They cost next to nothing while nobody listens. Exporting them (OTLP over HTTP, protobuf) is in builds
//! with the feature `otel`; in others a configured export is an error, not silence.
//!
//! A client's context (`traceparent`, `tracestate`, `baggage` in `_meta`) goes on to the servers: where spans are exported
//! with the call's own span as the parent, else as it came, so that a server's span becomes a child of the client's.
//!
//! Arguments, results and texts of people are never part of a span. Leaves to others: when a span begins and ends.

mod context;
mod spans;

#[cfg(feature = "otel")]
mod export;
#[cfg(not(feature = "otel"))]
#[path = "telemetry/no_export.rs"]
mod export;
#[cfg(feature = "otel")]
mod propagation;
#[cfg(not(feature = "otel"))]
#[path = "telemetry/no_propagation.rs"]
mod propagation;

pub(crate) use {
    context::TraceContext,
    export::Exporter,
    spans::{CallSpan, ExecutionSpan, Incoming, Network},
};
