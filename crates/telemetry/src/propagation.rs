//! Converts a client's context to a span's parent, and a span to the context for servers.

use std::collections::HashMap;

use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::context::TraceContext;

/// Makes the span a child of the client's.
pub(crate) fn set_parent(span: &Span, context: &TraceContext) {
    let Some(parent) = &context.traceparent else { return };
    let mut carrier = HashMap::from([("traceparent".to_owned(), parent.clone())]);
    carrier.extend(context.tracestate.clone().map(|state| ("tracestate".to_owned(), state)));
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    // Without a collector there is no parent to set.
    let _ = span.set_parent(parent);
}

/// The span as a parent of others; the received context if the span is not collected.
pub(crate) fn context_of(span: &Span, received: Option<&TraceContext>) -> Option<TraceContext> {
    let context = span.context();
    if !context.span().span_context().is_valid() {
        return received.cloned();
    }
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&context, &mut carrier);
    Some(TraceContext {
        traceparent: carrier.remove("traceparent"),
        tracestate: carrier.remove("tracestate").filter(|state: &String| !state.is_empty()),
        baggage: received.and_then(|received| received.baggage.clone()),
    })
}
