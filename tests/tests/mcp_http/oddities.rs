//! Answers over HTTP that are odd and clear, and servers that are too busy.

use mcp::{ErrorKind, Session};

use crate::fixture::{Fixture, assert_says, call, watched};

async fn lists_and_calls(fixture: &Fixture, mode: &str) -> Session {
    let session = fixture.connect().await;
    assert_eq!(session.list_tools().await.unwrap().tools.len(), 1, "{mode}");
    assert_eq!(call(&session, mode).await.unwrap(), mode);
    session
}

#[tokio::test]
async fn the_form_of_an_answer_does_not_matter_where_its_meaning_is_clear() {
    for mode in ["loud-type", "loud-event-type", "many-headers", "batch", "batch-event"] {
        for phase in ["list", "call"] {
            let fixture = Fixture::new(mode, phase);
            watched(lists_and_calls(&fixture, mode).await.close()).await;
        }
    }
}

#[tokio::test]
async fn compressed_answers_are_not_asked_for_and_refused() {
    let fixture = Fixture::new("compresses", "call");
    let error = fixture.error().await;
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_says(&error, &["compresses", "`gzip`", "identity"]);
    for request in fixture.seen() {
        assert_eq!(request["headers"]["accept-encoding"], "identity", "{request}");
    }
}

#[tokio::test]
async fn requests_that_change_nothing_wait_for_a_busy_server() {
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
        assert_eq!(fixture.seen_of(method).len(), 3, "{mode} at {phase}");
    }
}

#[tokio::test]
async fn a_busy_server_is_not_asked_without_end_and_calls_are_sent_once() {
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
        assert_eq!(fixture.seen_of(method).len(), count, "{mode} at {phase}");
    }
}
