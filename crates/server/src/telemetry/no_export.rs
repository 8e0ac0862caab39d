//! Replaces the export in builds without it.

use config::Telemetry;
use gateway::failure::Failure;
use report::Kind;
use tracing_subscriber::{Layer, Registry};

/// Returns the reason why a configured export can't be used in this build.
pub(crate) fn unsupported() -> Option<Failure> {
    let message = "telemetry is configured, but this build of toolsmith can't export it";
    let hint = "build it with `--features otel`, or remove telemetry from the configuration";
    Some(Failure::new(Kind::Telemetry, message).hint(hint))
}

/// An export of spans, which this build does not have.
#[derive(Debug)]
pub(crate) enum Exporter {}

impl Exporter {
    /// Starts the export.
    ///
    /// # Errors
    /// Always, because this build has no export.
    pub(crate) fn begin(_: &Telemetry) -> Result<Option<Self>, Failure> {
        unsupported().map_or(Ok(None), Err)
    }

    /// The layer that collects the spans.
    pub(crate) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        match *self {}
    }

    /// Sends the remaining spans.
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
        assert!(failure.report.hints.concat().contains("--features otel"), "{failure:?}");
    }
}
