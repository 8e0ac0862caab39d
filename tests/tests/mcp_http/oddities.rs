//! Odd but unambiguous HTTP responses, and overloaded servers.

use mcp::{ErrorKind, Session};

use crate::fixture::{Fixture, assert_says, call, watched};

async fn lists_and_calls(fixture: &Fixture, mode: &str) -> Session {
    let session = fixture.connect().await;
    assert_eq!(session.list_tools().await.unwrap().tools.len(), 1, "{mode}");
    assert_eq!(call(&session, mode).await.unwrap(), mode);
    session
}

#[tokio::test]
async fn odd_but_unambiguous_responses_are_accepted() {
    for mode in ["loud-type", "loud-event-type", "many-headers", "batch", "batch-event"] {
        for phase in ["list", "call"] {
            let fixture = Fixture::new(mode, phase);
            watched(lists_and_calls(&fixture, mode).await.close()).await;
        }
    }
}

#[tokio::test]
async fn compressed_responses_are_neither_requested_nor_accepted() {
    let fixture = Fixture::new("compresses", "call");
    let error = fixture.error().await;
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_says(&error, &["compresses", "`gzip`", "identity"]);
    for request in fixture.seen().await {
        assert_eq!(request["headers"]["accept-encoding"], "identity", "{request}");
    }
}

#[tokio::test]
async fn idempotent_requests_are_retried_on_a_busy_server() {
    for (mode, phase) in [
        ("busy-twice", "list"),
        ("busy-twice-503", "list"),
        ("busy-twice", "initialize"),
        ("busy-twice-503", "discover"),
    ] {
        let fixture = Fixture::new(mode, phase);
        watched(lists_and_calls(&fixture, mode).await.close()).await;
        let method = match phase {
            "list" => "tools/list",
            "discover" => "server/discover",
            other => other,
        };
        assert_eq!(fixture.seen_of(method).await.len(), 3, "{mode} at {phase}");
    }
}

#[tokio::test]
async fn retries_on_a_busy_server_are_limited_and_calls_are_sent_once() {
    let cases = [
        ("busy-for-ever", "list", "HTTP 429", "tools/list", 3),
        ("busy-for-an-hour", "list", "asleep", "tools/list", 1),
        ("busy-for-ever", "call", "HTTP 429", "tools/call", 1),
        ("busy-twice-503", "call", "warming up", "tools/call", 1),
    ];
    for (mode, phase, says, method, count) in cases {
        let fixture = Fixture::new(mode, phase);
        let error = fixture.error().await;
        assert!(matches!(*error.kind, ErrorKind::Http { .. }), "{mode} at {phase}: {error}");
        assert_says(&error, &[says]);
        assert_eq!(fixture.seen_of(method).await.len(), count, "{mode} at {phase}");
    }
}
