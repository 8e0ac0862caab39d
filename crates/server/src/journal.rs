//! The journals of clients' requests: the sinks that record an execution or a direct call in the audit log, the metrics,
//! the spans of a trace and the log.

mod audit;
mod context;
mod in_force;
mod log;
mod metrics;
mod requester;
mod seen;
mod spans;

use std::sync::Arc;

use gateway::permission::FlowGate;
use runner::{Journal, Sink};

pub(crate) use context::RequestContext;
pub(crate) use in_force::InForce;
pub(crate) use requester::{ClientInfo, Requester};
pub(crate) use seen::Seen;

use self::audit::{AuditSink, Names};
use log::LogSink;
use metrics::MetricsSink;
use spans::SpanSink;

/// The sinks of an execution or of a request that is recorded like one.
pub(crate) fn sinks_of(context: &Arc<RequestContext>) -> Vec<Arc<dyn Sink>> {
    sinks(context, Names::Execution)
}

/// The journal of a direct call with these flows. Its records name the requester.
pub(crate) fn of_direct_call(context: &Arc<RequestContext>, flows: Arc<FlowGate>) -> Journal {
    let mut sinks = sinks(context, Names::Call);
    // The last: nothing else happens between its decision and the call.
    sinks.push(flows);
    Journal::new(sinks)
}

fn sinks(context: &Arc<RequestContext>, names: Names) -> Vec<Arc<dyn Sink>> {
    vec![
        Arc::new(AuditSink::new(context.clone(), names)),
        Arc::new(SpanSink(context.clone())),
        Arc::new(MetricsSink(context.clone())),
        Arc::new(LogSink(context.clone())),
    ]
}

#[cfg(test)]
mod tests;
