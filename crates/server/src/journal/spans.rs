//! Makes an execution and its calls spans of a trace.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use runner::{Begin, Refused, Sink};
use telemetry::CallSpan;

use super::context::RequestContext;

/// The sink of spans.
pub(super) struct SpanSink(pub(super) Arc<RequestContext>);

impl Sink for SpanSink {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        match begin {
            Begin::Call { call, outgoing, .. } => {
                let network = self.0.network(call.server);
                let CallSpan { span, meta } = self.0.span.call(call.server, call.tool, network, None);
                outgoing.span = span;
                outgoing.meta.extend(meta);
            }
            Begin::Answer(answered) => match answered.error() {
                Some(error) if answered.answered().is_none() => CallSpan::failed(answered.span, error, None),
                _ => CallSpan::answered(answered.span, !answered.is_ok(), answered.bytes()),
            },
            Begin::Outcome(ended) => self.0.span.end(ended.status, ended.error, ended.calls),
            _ => {}
        }
        ready(Ok(())).boxed()
    }
}
