//! A test with metrics that arrive at a collector: alone, because a process measures for its newest export.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use config::Telemetry;
use telemetry::{Exporter, meters};
use tokio::net::TcpListener;
use tokio::sync::mpsc::unbounded_channel;
use url::Url;

#[tokio::test(flavor = "multi_thread")]
async fn durations_arrive_as_metrics() {
    let (sender, mut received) = unbounded_channel();
    let taking = move |body: Bytes| async move { sender.send(body).unwrap() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).ok();
    let router = Router::new().route("/v1/traces", post(|| async {})).route("/v1/metrics", post(taking));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let exporter = Exporter::begin(&Telemetry { endpoint, ..Telemetry::default() }).unwrap().unwrap();
    meters::execution("timeout", Some("wall_clock"), Duration::from_millis(20));
    meters::call("demo", None, Duration::from_millis(3));
    exporter.end().await;
    let body = received.recv().await.unwrap();
    for part in [
        "mcp.server.operation.duration",
        "mcp.client.operation.duration",
        "toolsmith.status",
        "timeout",
        "error.type",
        "wall_clock",
        "toolsmith.server",
        "demo",
    ] {
        assert!(body.windows(part.len()).any(|window| window == part.as_bytes()), "{part}");
    }
}
