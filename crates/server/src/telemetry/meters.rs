//! The metrics that are exported with the spans: durations, under the names of OpenTelemetry's conventions for MCP.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter, MeterProvider};
use parking_lot::RwLock;

/// The name of the meter.
const METER: &str = "toolsmith";

/// The buckets of durations in seconds that the conventions name.
const BUCKETS: [f64; 13] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];

/// The instruments of the export, if there is one.
static INSTALLED: RwLock<Option<Instruments>> = RwLock::new(None);

/// The measuring instruments.
pub(super) struct Instruments {
    /// Requests of clients, from their arrival to their answer.
    server: Histogram<f64>,
    /// Calls of servers' tools.
    client: Histogram<f64>,
}

impl Instruments {
    pub(super) fn of(provider: &impl MeterProvider) -> Self {
        let meter = provider.meter(METER);
        let server = duration(&meter, "mcp.server.operation.duration", "Duration of a client's request");
        let client = duration(&meter, "mcp.client.operation.duration", "Duration of a call of a server");
        Instruments { server, client }
    }

    pub(super) fn execution(&self, status: &str, error: Option<&str>, duration: Duration) {
        let own = KeyValue::new("toolsmith.status", status.to_owned());
        self.server.record(duration.as_secs_f64(), &attributes(own, error));
    }

    pub(super) fn call(&self, server: &str, error: Option<&str>, duration: Duration) {
        let own = KeyValue::new("toolsmith.server", server.to_owned());
        self.client.record(duration.as_secs_f64(), &attributes(own, error));
    }
}

fn duration(meter: &Meter, name: &'static str, description: &'static str) -> Histogram<f64> {
    let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
    histogram.with_boundaries(BUCKETS.to_vec()).build()
}

/// Names of tools are left out: servers choose them, so their number is not bounded.
fn attributes(own: KeyValue, error: Option<&str>) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("mcp.method.name", "tools/call"),
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        own,
    ];
    attributes.extend(error.map(|error| KeyValue::new("error.type", error.to_owned())));
    attributes
}

/// Measures from now on, for the export of this process.
pub(super) fn install(instruments: Instruments) {
    *INSTALLED.write() = Some(instruments);
}

fn installed(record: impl FnOnce(&Instruments)) {
    INSTALLED.read().as_ref().map(record);
}

/// Records an execution that has ended, with its status and the kind of its error.
pub(crate) fn execution(status: &str, error: Option<&str>, duration: Duration) {
    installed(|instruments| instruments.execution(status, error, duration));
}

/// Records a call that has ended, with the server's name and the kind of its error.
pub(crate) fn call(server: &str, error: Option<&str>, duration: Duration) {
    installed(|instruments| instruments.call(server, error, duration));
}
