use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::Metrics;

fn text(metrics: &Metrics) -> String {
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    text
}

#[test]
fn calls_are_counted_by_server_and_outcome() {
    let metrics = Metrics::default();
    for (server, outcome) in [("a", "ok"), ("a", "ok"), ("a", "tool_error"), ("b", "cached")] {
        metrics.call(server, outcome, Duration::from_millis(3));
    }
    let text = text(&metrics);
    for line in [
        r#"tool_calls_total{server="a",outcome="ok"} 2"#,
        r#"tool_calls_total{server="a",outcome="tool_error"} 1"#,
        r#"tool_calls_total{server="b",outcome="cached"} 1"#,
        r#"tool_call_duration_seconds_count{server="a"} 3"#,
        r#"tool_call_duration_seconds_bucket{le="0.0025",server="a"} 0"#,
        r#"tool_call_duration_seconds_bucket{le="0.005",server="a"} 3"#,
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // A cached answer was not sent to the server.
    assert!(!text.contains(r#"duration_seconds_count{server="b"}"#), "{text}");
}

#[test]
fn executions_are_counted_by_status() {
    let metrics = Metrics::default();
    ["ok", "timeout", "ok"].iter().for_each(|status| metrics.execution(status));
    let text = text(&metrics);
    assert!(text.contains(r#"executions_total{status="ok"} 2"#), "{text}");
    assert!(text.contains(r#"executions_total{status="timeout"} 1"#), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}
