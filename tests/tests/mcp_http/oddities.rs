//! Odd but unambiguous HTTP responses, and overloaded servers.

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, Session};

use crate::fixture::{Fixture, call, watched};

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
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: it compresses its responses (`gzip`) although the request has `Accept-Encoding: identity`
    ");
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
        ("busy-for-ever", "list", "tools/list", 3),
        ("busy-for-an-hour", "list", "tools/list", 1),
        ("busy-for-ever", "call", "tools/call", 1),
        ("busy-twice-503", "call", "tools/call", 1),
    ];
    let mut shown = Vec::new();
    for (mode, phase, method, count) in cases {
        let fixture = Fixture::new(mode, phase);
        let error = fixture.error().await;
        assert!(matches!(*error.kind, ErrorKind::Http { .. }), "{mode} at {phase}: {error}");
        shown.push(normal(&error));
        assert_eq!(fixture.seen_of(method).await.len(), count, "{mode} at {phase}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    MCP server `faulty`: it answered with HTTP 429: too many requests; it limits the rate of requests, try again later (waiting for the answer to `tools/list`)
    MCP server `faulty`: it answered with HTTP 503: asleep (waiting for the answer to `tools/list`)
    MCP server `faulty`: it answered with HTTP 429: too many requests; it limits the rate of requests, try again later (waiting for the answer of tool `echo`)
    MCP server `faulty`: it answered with HTTP 503: warming up (waiting for the answer of tool `echo`)
    ");
}
