//! The export: OTLP over HTTP, in batches, from separate threads for spans and metrics.
//!
//! An unavailable collector only costs data; it is reported once, until it answers again.

mod client;

use std::collections::HashMap;
use std::time::Duration;

use config::Telemetry;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use report::{Kind, Report};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Layer, Registry};

use self::client::Client;
use crate::meters::{self, Instruments};
use crate::spans::TARGET;

/// Time limit for sending the last spans and metrics at the end of this process.
const END: Duration = Duration::from_secs(3);

/// The default name of the service.
const SERVICE: &str = "toolsmith";

/// Returns the reason why a configured export can't be used in this build: it can.
pub fn unsupported() -> Option<Report> {
    None
}

/// An export of spans and metrics.
#[derive(Debug)]
pub struct Exporter {
    provider: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Exporter {
    /// Starts the export of the spans that [`Exporter::layer`] collects. `None` if `OTEL_SDK_DISABLED` is `true`.
    ///
    /// # Errors
    /// If the address or a header is invalid, or no thread can be started.
    pub fn begin(settings: &Telemetry) -> Result<Option<Self>, Report> {
        if std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let failed = |reason: String| {
            Report::new(Kind::Telemetry, format!("telemetry can't be exported: {reason}"))
                .hint("`telemetry.endpoint` is the http(s) address of an OTLP collector")
        };
        let client = || Client::new().map_err(|error| failed(error.to_string()));
        let headers: HashMap<String, String> = settings.headers.clone().into_iter().collect();
        client::check(&headers).map_err(|error| failed(error.to_string()))?;
        if let Some(url) = settings.traces()
            && !matches!(url.scheme(), "http" | "https")
        {
            return Err(failed(format!("the scheme `{}` is not http or https", url.scheme())));
        }
        let mut spans = SpanExporter::builder()
            .with_http()
            .with_http_client(client()?)
            .with_protocol(Protocol::HttpBinary)
            .with_headers(headers.clone());
        let mut metrics = MetricExporter::builder()
            .with_http()
            .with_http_client(client()?)
            .with_protocol(Protocol::HttpBinary)
            .with_headers(headers);
        if let (Some(traces), Some(meters)) = (settings.traces(), settings.metrics()) {
            (spans, metrics) = (spans.with_endpoint(traces), metrics.with_endpoint(meters));
        }
        // The error may quote an address, which may contain a password.
        let invalid = || failed("the address is invalid".to_owned());
        let spans = spans.build().map_err(|_| invalid())?;
        let metrics = metrics.build().map_err(|_| invalid())?;
        let resource = resource(settings);
        let measured = SdkMeterProvider::builder()
            .with_resource(resource.clone())
            .with_periodic_exporter(metrics)
            .build();
        meters::install(Instruments::of(&measured));
        let provider =
            SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(spans).build();
        Ok(Some(Exporter { provider, meters: measured }))
    }

    /// The layer that collects the spans of this process, and only its own.
    pub fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_level(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        layer.with_filter(Targets::new().with_target(TARGET, Level::INFO)).boxed()
    }

    /// Sends the remaining spans and metrics, each within [`END`].
    pub async fn end(self) {
        let Exporter { provider, meters } = self;
        // Waits for the sending threads. Failures were reported when they occurred.
        let spans = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(END));
        let metrics = tokio::task::spawn_blocking(move || meters.shutdown_with_timeout(END));
        let _ = tokio::join!(spans, metrics);
    }
}

fn resource(settings: &Telemetry) -> Resource {
    let mut resource = Resource::builder()
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let is_named = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"].iter().any(|name| {
        std::env::var(name).is_ok_and(|value| *name == "OTEL_SERVICE_NAME" || value.contains("service.name="))
    });
    match &settings.service_name {
        Some(name) => resource = resource.with_service_name(name.clone()),
        None if !is_named => resource = resource.with_service_name(SERVICE),
        None => {}
    }
    resource.build()
}
