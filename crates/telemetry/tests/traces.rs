//! Tests with spans that arrive at a collector.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use config::Telemetry;
use telemetry::{CallSpan, ExecutionSpan, Exporter, Incoming, Network, TraceContext};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tracing::Instrument as _;
use tracing_subscriber::layer::SubscriberExt as _;
use url::Url;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector, and the requests that it receives.
async fn collector(answer: StatusCode) -> (Telemetry, UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (sender, receiver) = unbounded_channel();
    let taking = move |headers: HeaderMap, body: Bytes| async move {
        sender.send((headers, body)).unwrap();
        answer
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).ok();
    let router = Router::new().route("/v1/traces", post(taking)).route("/v1/metrics", post(|| async {}));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let headers = [("x-key".to_owned(), "the-key".to_owned())].into();
    (Telemetry { endpoint, headers, service_name: Some("named-service".to_owned()) }, receiver)
}

fn incoming(context: Option<&TraceContext>) -> Incoming<'_> {
    Incoming {
        network: Network::Http,
        request: "17",
        session: Some("session-1"),
        protocol_version: Some("2025-11-25"),
        address: "127.0.0.1:4000".parse().ok(),
        context,
    }
}

fn client_context(flags: &str) -> TraceContext {
    let meta = serde_json::json!({
        "traceparent": format!("00-{TRACE}-{PARENT}-{flags}"), "tracestate": "a=1", "baggage": "user=me"
    });
    TraceContext::parse(meta.as_object().unwrap()).unwrap()
}

fn holds(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hexadecimal.bytes().map(|digit| (digit as char).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

#[tokio::test]
async fn spans_arrive_as_children_of_the_clients() {
    let (settings, mut arrivals) = collector(StatusCode::OK).await;
    let exporter = Exporter::begin(&settings).unwrap().unwrap();
    let subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(exporter.layer()));
    let context = client_context("01");
    let execution = ExecutionSpan::begin("execute_code", "e-1", &incoming(Some(&context)));
    let call = execution.call("demo", "list_orders", Network::Pipe, Some("2026-07-28"));
    let sent = async {
        tracing::Span::current().record("jsonrpc.request.id", "request-5");
    };
    sent.instrument(call.span.clone()).await;
    // Spans with another target are not exported.
    tracing::info_span!(target: "rmcp", "foreign-span").in_scope(|| {});
    CallSpan::failed(&call.span, "rpc", Some(-32602));
    let meta = call.meta;
    drop(call.span);
    execution.end("runtime_error", Some("error"), 1);
    drop((execution, subscriber));
    exporter.end().await;

    let (headers, body) = arrivals.recv().await.unwrap();
    assert_eq!(headers["content-type"], "application/x-protobuf");
    assert_eq!(headers["x-key"], "the-key");
    for text in [
        "named-service",
        "tools/call execute_code",
        "tools/call list_orders",
        "mcp.method.name",
        "gen_ai.tool.name",
        "gen_ai.operation.name",
        "execute_tool",
        "mcp.session.id",
        "session-1",
        "mcp.protocol.version",
        "2026-07-28",
        "network.transport",
        "pipe",
        "tcp",
        "jsonrpc.request.id",
        "17",
        "request-5",
        "error.type",
        "-32602",
        "rpc.response.status_code",
        "toolsmith.execution.id",
        "toolsmith.server",
        "demo",
    ] {
        assert!(holds(&body, text.as_bytes()), "{text} in {}", String::from_utf8_lossy(&body));
    }
    assert!(!holds(&body, b"foreign-span"));
    assert!(!holds(&body, b"otel.name"), "names for the layer must not become attributes");
    assert!(holds(&body, &bytes_of(TRACE)) && holds(&body, &bytes_of(PARENT)), "the client's trace and span");
    // The call's own span is sent to the server, in the same trace.
    let passed_on = meta["traceparent"].as_str().unwrap();
    let span = passed_on.strip_prefix(&format!("00-{TRACE}-")).unwrap().strip_suffix("-01").unwrap();
    assert_ne!(span, PARENT);
    assert!(holds(&body, &bytes_of(span)), "the server's parent span must be exported");
    assert_eq!((&meta["tracestate"], &meta["baggage"]), (&"a=1".into(), &"user=me".into()));
}

#[tokio::test]
async fn unsampled_contexts_are_forwarded_and_not_exported() {
    let (settings, mut arrivals) = collector(StatusCode::OK).await;
    let exporter = Exporter::begin(&settings).unwrap().unwrap();
    let subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(exporter.layer()));
    let context = client_context("00");
    let execution = ExecutionSpan::begin("execute_code", "e-1", &incoming(Some(&context)));
    let meta = execution.call("demo", "add", Network::Pipe, None).meta;
    assert!(meta["traceparent"].as_str().unwrap().starts_with(&format!("00-{TRACE}-")), "{meta:?}");
    assert!(meta["traceparent"].as_str().unwrap().ends_with("-00"), "{meta:?}");
    drop((execution, subscriber));
    exporter.end().await;
    assert!(arrivals.try_recv().is_err());
}

#[tokio::test]
async fn a_context_is_forwarded_unchanged_without_a_collector() {
    let context = client_context("01");
    let execution = ExecutionSpan::begin("execute_code", "e-1", &incoming(Some(&context)));
    assert_eq!(execution.call("demo", "add", Network::Pipe, None).meta, context.to_meta());
}

#[tokio::test]
async fn a_failing_collector_has_no_effect() {
    let (refusing, mut arrivals) = collector(StatusCode::FORBIDDEN).await;
    let absent = Telemetry { endpoint: Url::parse("http://127.0.0.1:9").ok(), ..Telemetry::default() };
    for settings in [refusing, absent] {
        let exporter = Exporter::begin(&settings).unwrap().unwrap();
        let subscriber =
            tracing::subscriber::set_default(tracing_subscriber::registry().with(exporter.layer()));
        ExecutionSpan::begin("execute_code", "e-1", &incoming(None)).end("ok", None, 0);
        drop(subscriber);
        exporter.end().await;
    }
    assert!(arrivals.recv().await.is_some());
}

#[test]
fn invalid_settings_are_errors_without_secrets() {
    let with = |endpoint: &str, name: &str, value: &str| Telemetry {
        endpoint: Url::parse(endpoint).ok(),
        headers: [(name.to_owned(), value.to_owned())].into(),
        service_name: None,
    };
    for settings in [
        with("ftp://me:the-secret@host", "x", "the-secret"),
        with("http://host", "x y", "the-secret"),
        with("http://host", "x", "the-secret\n"),
    ] {
        let failure = Exporter::begin(&settings).unwrap_err();
        assert!(!failure.hints.is_empty() && !format!("{failure:?}").contains("the-secret"), "{failure:?}");
    }
}
