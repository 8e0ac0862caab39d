//! The settings of the OTLP export.

use std::collections::BTreeMap;

use url::Url;

/// The paths of OTLP over HTTP (OpenTelemetry Protocol 1.x, OTLP/HTTP Request).
const TRACES: &str = "v1/traces";
const METRICS: &str = "v1/metrics";

/// Where spans and metrics are exported. Missing settings are taken from OpenTelemetry's variables: `OTEL_EXPORTER_OTLP_ENDPOINT`
/// and `…_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER`. `OTEL_SDK_DISABLED=true` disables it. The variables alone do not enable it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// The collector's address; `/v1/traces` is appended if missing.
    pub endpoint: Option<Url>,
    /// Headers of each export. The values are secrets.
    pub headers: BTreeMap<String, String>,
    /// `service.name` (default: the variable's value, or `toolsmith`).
    pub service_name: Option<String>,
}

impl Telemetry {
    /// The address for traces, if configured.
    pub fn traces(&self) -> Option<Url> {
        let mut url = self.endpoint.clone()?;
        let path = url.path().trim_end_matches('/').to_owned();
        if !path.ends_with(TRACES) {
            url.set_path(&format!("{path}/{TRACES}"));
        }
        Some(url)
    }

    /// The address for metrics, if configured: beside that for traces.
    pub fn metrics(&self) -> Option<Url> {
        let mut url = self.traces()?;
        let path = url.path().strip_suffix(TRACES)?.to_owned();
        url.set_path(&format!("{path}{METRICS}"));
        Some(url)
    }
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Telemetry { endpoint, headers, service_name } = self;
        let endpoint = endpoint.as_ref().map(|url| url.origin().ascii_serialization());
        let names: Vec<&String> = headers.keys().collect();
        write!(formatter, "Telemetry({endpoint:?}, headers {names:?}, {service_name:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_to_the_path_of_the_protocol() {
        for (endpoint, traces) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("https://host/otlp/", "https://host/otlp/v1/traces"),
            ("https://host/v1/traces", "https://host/v1/traces"),
            ("https://host/otlp?key=1", "https://host/otlp/v1/traces?key=1"),
        ] {
            let telemetry = Telemetry { endpoint: Url::parse(endpoint).ok(), ..Telemetry::default() };
            assert_eq!(telemetry.traces().unwrap().as_str(), traces);
            let metrics = traces.replace("v1/traces", "v1/metrics");
            assert_eq!(telemetry.metrics().unwrap().as_str(), metrics);
        }
        assert_eq!(Telemetry::default().traces(), None);
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let telemetry = Telemetry {
            endpoint: Url::parse("https://me:password@host/?key=secret").ok(),
            headers: [("authorization".to_owned(), "Bearer token".to_owned())].into(),
            service_name: None,
        };
        let output = format!("{telemetry:?}");
        assert!(output.contains("https://host") && output.contains("authorization"), "{output}");
        assert!(["password", "secret", "token"].iter().all(|secret| !output.contains(secret)), "{output}");
    }
}
