//! Replaces the propagation in builds without export: contexts are forwarded unchanged.

use tracing::Span;

use crate::context::TraceContext;

/// Does nothing: spans have no parents here.
pub(crate) fn set_parent(_: &Span, _: &TraceContext) {}

/// Forwards the context unchanged: a span that is not collected can't be a parent.
pub(crate) fn context_of(_: &Span, received: Option<&TraceContext>) -> Option<TraceContext> {
    received.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExecutionSpan, Incoming, Network};

    #[test]
    fn a_context_is_forwarded_unchanged() {
        let meta =
            serde_json::json!({ "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" });
        let context = TraceContext::parse(meta.as_object().unwrap()).unwrap();
        let incoming = |context| Incoming {
            network: Network::Pipe,
            request: "1",
            session: None,
            protocol_version: None,
            address: None,
            context,
        };
        let meta_of = |context| {
            let execution = ExecutionSpan::begin("execute_code", "e-1", &incoming(context));
            execution.call("demo", "add", Network::Pipe, None).meta
        };
        assert_eq!(serde_json::Value::Object(meta_of(Some(&context))), meta);
        assert!(meta_of(None).is_empty());
    }
}
