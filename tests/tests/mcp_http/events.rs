//! The HTTP+SSE transport: its stream, and its address for POST requests.

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, Phase};

use crate::fixture::{Fixture, SECRET, assert_says, call, watched};

#[tokio::test]
async fn a_correct_server_is_connected_listed_and_called() {
    let fixture = Fixture::new("sse-sound", "");
    let session = fixture.connect().await;
    assert_eq!(session.server_info(), Some(("http-fault-server", "1.0.0")));
    assert_eq!(session.list_tools().await.unwrap().tools.len(), 1);
    let calls = (0..100).map(|number| {
        let session = &session;
        async move { call(session, &number.to_string()).await.unwrap() == number.to_string() }
    });
    assert!(futures::future::join_all(calls).await.into_iter().all(|own| own));
    watched(session.close()).await;
    for request in fixture.seen().await {
        assert_eq!(request["headers"][SECRET.0.to_lowercase()], SECRET.1, "{request}");
    }
}

#[tokio::test]
async fn a_stream_that_fails_to_start_is_reported() {
    let cases = [
        ("sse-hangs", &["took longer than 10 s"][..]),
        ("sse-no-endpoint", &["took longer than 10 s"]),
        ("sse-silent-initialize", &["took longer than 10 s"]),
        ("sse-fails", &["HTTP 500", "no streams today"]),
        ("sse-html", &["`text/html`", "check that `url`"]),
        ("sse-ends", &["no event `endpoint`", "`type: http`"]),
        ("sse-many-events", &["no event `endpoint`", "`type: http`"]),
        ("sse-huge-endpoint", &["more than 16777216 bytes"]),
    ];
    let errors = cases.into_iter().map(|(mode, phrases)| async move {
        (Fixture::new(mode, "").impatient().try_connect().await.unwrap_err(), phrases)
    });
    for (error, phrases) in futures::future::join_all(errors).await {
        assert_says(&error, phrases);
    }
}

#[tokio::test]
async fn nothing_is_sent_to_another_origin() {
    for mode in ["sse-elsewhere", "sse-redirects-away"] {
        let fixture = Fixture::new(mode, "");
        let error = fixture.try_connect().await.unwrap_err();
        assert_says(&error, &[&fixture.elsewhere, "not"]);
        assert!(!fixture.reached_elsewhere().await, "{mode}");
    }
    // The first address is used.
    let fixture = Fixture::new("sse-two-endpoints", "");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "here").await.unwrap(), "here");
    watched(session.close()).await;
    assert!(!fixture.reached_elsewhere().await);
}

#[tokio::test]
async fn a_call_without_an_answer_fails_in_time() {
    for mode in ["sse-silent-call", "sse-post-hangs"] {
        let error = Fixture::new(mode, "").impatient().error().await;
        assert!(
            matches!(&*error.kind, ErrorKind::Timeout { phase: Phase::Call(tool), .. } if tool == "echo"),
            "{mode}: {error}"
        );
    }
    let error = Fixture::new("sse-post-fails", "").error().await;
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: it answered with HTTP 500: the database is gone (waiting for the answer of tool `echo`)
    ");
    let error = Fixture::new("sse-dies", "").error().await;
    assert!(matches!(*error.kind, ErrorKind::Closed { .. }), "{error}");
    let error = Fixture::new("sse-huge", "").error().await;
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: its event stream broke: body error: it sent a message of more than 16777216 bytes, so the connection is closed; request less data at a time
    ");
}

#[tokio::test]
async fn other_events_on_the_stream_are_ignored() {
    for mode in ["sse-garbage", "sse-repeats"] {
        let fixture = Fixture::new(mode, "");
        let session = fixture.connect().await;
        for message in ["one", "two"] {
            assert_eq!(call(&session, message).await.unwrap(), message, "{mode}");
        }
        watched(session.close()).await;
    }
}

#[tokio::test]
async fn a_server_whose_transport_is_not_named_is_reached_by_either() {
    for (mode, suggests_events) in [
        ("sse-sound", false),
        // It opens its stream for any method, and never answers `initialize` there.
        ("sse-streams-posts", false),
        ("sse-sound", true),
        ("sound", false),
        ("sound", true),
    ] {
        let fixture = Fixture::new(mode, "").assumed(suggests_events);
        let session = fixture.connect().await;
        assert_eq!(call(&session, "here").await.unwrap(), "here", "{mode}");
        watched(session.close()).await;
    }
}

#[tokio::test]
async fn a_server_that_no_transport_reaches_is_reported_with_both_errors() {
    for (mode, suggests_events, phrases) in [
        (
            "sse-fails",
            false,
            ["with streamable HTTP: it answered with HTTP 404", "events: it answered with HTTP 500"],
        ),
        (
            "sse-html",
            true,
            ["with streamable HTTP: it answered with HTTP 404", "events: it answered with the content type"],
        ),
    ] {
        let error = Fixture::new(mode, "").assumed(suggests_events).try_connect().await.unwrap_err();
        assert_says(&error, &phrases);
    }
    // A transport that is named is the only one.
    let mut fixture = Fixture::new("sse-sound", "");
    let mcp::Transport::Sse(remote) = fixture.config.transport else { panic!("it has another transport") };
    fixture.config.transport = mcp::Transport::Http(remote);
    assert_snapshot!(normal(&fixture.try_connect().await.unwrap_err()), @r"
    MCP server `faulty`: cannot connect: it answered with HTTP 404: no such stream; check that `url` is the server's MCP endpoint, and that `type` is its transport
    ");
    assert!(fixture.seen_of("GET").await.is_empty());
}

#[tokio::test]
async fn an_error_without_an_id_is_the_error_of_the_call() {
    let mut shown = Vec::new();
    for (mode, phase) in [("sse-null-id", ""), ("null-id", "call"), ("null-id-event", "call")] {
        let error = Fixture::new(mode, phase).error().await;
        assert!(matches!(*error.kind, ErrorKind::Rpc { code: -32603, .. }), "{mode}: {error}");
        shown.push(normal(&error));
    }
    assert_snapshot!(shown.join("\n"), @r"
    MCP server `faulty`: the answer of tool `echo` failed with error -32603: database is down
    MCP server `faulty`: the answer of tool `echo` failed with error -32603: database is down
    MCP server `faulty`: the answer of tool `echo` failed with error -32603: database is down
    ");
}
