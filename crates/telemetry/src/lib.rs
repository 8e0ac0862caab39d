//! Traces: a span for each execution and each call, and the context that makes them parts of a client's trace; and the
//! durations of both as metrics.
//!
//! Spans are `tracing`'s, under the target [`spans::TARGET`], with the attribute names of OpenTelemetry's conventions
//! for MCP and GenAI. They cost almost nothing without a subscriber. Exporting them (OTLP over HTTP, protobuf) needs a
//! build with the feature `otel`; in others a configured export is an error.
//!
//! A client's context (`traceparent`, `tracestate`, `baggage` in `_meta`) is forwarded to servers: if spans are
//! exported, with the call's own span as the parent, otherwise unchanged. So a server's span becomes a child of the
//! client's.
//!
//! Spans never contain arguments, results or texts of users. The callers decide when a span starts and ends.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod context;
mod spans;

#[cfg(feature = "otel")]
mod export;
#[cfg(not(feature = "otel"))]
#[path = "no_export.rs"]
mod export;
#[cfg(feature = "otel")]
pub mod meters;
#[cfg(not(feature = "otel"))]
#[path = "no_meters.rs"]
pub mod meters;
#[cfg(feature = "otel")]
mod propagation;
#[cfg(not(feature = "otel"))]
#[path = "no_propagation.rs"]
mod propagation;

pub use {
    context::TraceContext,
    export::{Exporter, unsupported},
    spans::{CallSpan, ExecutionSpan, Incoming, Network},
};
