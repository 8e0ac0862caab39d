//! In place of the export, in builds without it.

use config::Telemetry;
use gateway::failure::Failure;
use tracing_subscriber::{Layer, Registry};

/// An export of spans, which this build does not have.
#[derive(Debug)]
pub(crate) enum Exporter {}

impl Exporter {
    /// Begins to export.
    ///
    /// # Errors
    /// Always: this build can't.
    pub(crate) fn begin(_: &Telemetry) -> Result<Option<Self>, Failure> {
        Err(Failure::configuration(
            "telemetry is configured, and this build of toolsmith can't export it\nhelp: build it with `--features otel`, or leave telemetry out of the configuration",
        ))
    }

    /// What collects the spans.
    pub(crate) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        match *self {}
    }

    /// Sends what is left.
    pub(crate) async fn end(self) {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_export_is_an_error_in_a_build_without_it() {
        let failure = Exporter::begin(&Telemetry::default()).unwrap_err();
        assert!(failure.message.contains("--features otel"), "{failure:?}");
    }
}
