//! Answers scrapes of the metrics.

mod gauges;
mod process;

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::state::ServerState;

/// The path of the metrics.
pub(crate) const PATH: &str = "/metrics";

/// The prefix of all names.
const PREFIX: &str = "toolsmith";

/// OpenMetrics 1.0, which Prometheus has read since version 2.5.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The current values, as the answer to a scrape.
pub(crate) fn answer(state: &Arc<ServerState>) -> Response {
    let mut registry = Registry::default();
    gauges::register_process(&mut registry);
    let own = registry.sub_registry_with_prefix(PREFIX);
    state.metrics.register(own);
    gauges::register_server(own, state);
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}
