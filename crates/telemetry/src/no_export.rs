//! Replaces the export in builds without it.

use config::Telemetry;
use report::{Kind, Report};
use tracing_subscriber::{Layer, Registry};

/// Returns the reason why a configured export can't be used in this build.
pub fn unsupported() -> Option<Report> {
    let message = "telemetry is configured, but this build of toolsmith can't export it";
    let hint = "build it with `--features otel`, or remove telemetry from the configuration";
    Some(Report::new(Kind::Telemetry, message).hint(hint))
}

/// An export of spans, which this build does not have.
#[derive(Debug)]
pub enum Exporter {}

impl Exporter {
    /// Starts the export.
    ///
    /// # Errors
    /// Always, because this build has no export.
    pub fn begin(_: &Telemetry) -> Result<Option<Self>, Report> {
        unsupported().map_or(Ok(None), Err)
    }

    /// The layer that collects the spans.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        match *self {}
    }

    /// Sends the remaining spans.
    pub async fn end(self) {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_export_is_an_error_in_a_build_without_it() {
        let failure = Exporter::begin(&Telemetry::default()).unwrap_err();
        assert!(failure.hints.concat().contains("--features otel"), "{failure:?}");
    }
}
