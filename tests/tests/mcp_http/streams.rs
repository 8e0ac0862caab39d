//! Sessions and streams: expiry, resumption, storms, misplaced responses.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, Host, ListKind, Notice, Session};

use crate::fixture::{Fixture, assert_says, call, watched};

#[tokio::test]
async fn an_expired_session_is_restarted_and_the_rejected_call_sent_again() {
    let fixture = Fixture::new("session-expires", "");
    let session = fixture.connect().await;
    session.list_tools().await.unwrap();
    assert_eq!(call(&session, "once").await.unwrap(), "once");
    assert_eq!(call(&session, "more").await.unwrap(), "more");
    assert_eq!(fixture.seen_of("initialize").await.len(), 2);
    // The rejected call, its repetition, and the next call.
    assert_eq!(fixture.seen_of("tools/call").await.len(), 3);
    watched(session.close()).await;
}

#[tokio::test]
async fn a_task_is_polled_on_after_its_session_and_its_server_were_lost() {
    let fixture = Fixture::new("task", "");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "once").await.unwrap(), "done");
    assert_eq!(fixture.seen_of("initialize").await.len(), 2);
    assert_eq!(fixture.seen_of("tools/call").await.len(), 1);
    assert!(fixture.seen_of("tasks/get").await.len() > 3);
    assert_eq!(fixture.seen_of("tasks/cancel").await.len(), 0);
    watched(session.close()).await;
}

#[tokio::test]
async fn a_session_lost_with_http_400_is_restarted() {
    for mode in ["session-expires-by-400", "session-expires-in-plain-words"] {
        let fixture = Fixture::new(mode, "");
        let session = fixture.connect().await;
        assert_eq!(call(&session, "once").await.unwrap(), "once", "{mode}");
        assert_eq!(fixture.seen_of("initialize").await.len(), 2, "{mode}");
        assert_eq!(fixture.seen_of("tools/call").await.len(), 2, "{mode}");
        watched(session.close()).await;
    }
}

#[tokio::test]
async fn http_400_in_the_new_session_too_is_reported_in_the_servers_words() {
    let fixture = Fixture::new("session-expires-by-400-forever", "");
    let session = fixture.connect().await;
    let error = call(&session, "ever?").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the answer of tool `echo` failed with error -32000: Bad Request: No valid session ID provided
    ");
    assert_eq!(fixture.seen_of("initialize").await.len(), 2);
    assert_eq!(fixture.seen_of("tools/call").await.len(), 2);
    watched(session.close()).await;
}

#[tokio::test]
async fn a_ping_restarts_a_lost_session() {
    let fixture = Fixture::new("session-expires-by-400", "");
    let session = fixture.connect().await;
    session.ping().await.unwrap();
    assert_eq!(fixture.seen_of("initialize").await.len(), 2);
    watched(session.close()).await;
}

#[tokio::test]
async fn sessions_that_always_expire_are_an_error() {
    let fixture = Fixture::new("session-expires-forever", "");
    let session = fixture.connect().await;
    let error = call(&session, "ever?").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the session has expired, and so has the new one (waiting for the answer of tool `echo`)
    ");
    assert!(fixture.seen_of("tools/call").await.len() <= 3);
    watched(session.close()).await;
}

#[tokio::test]
async fn a_stream_that_ends_early_is_resumed_after_its_last_event() {
    let fixture = Fixture::new("resumes", "");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "later").await.unwrap(), "resumed");
    watched(session.close()).await;
    let last =
        fixture.seen_of("GET").await.iter().any(|get| {
            get["headers"]["last-event-id"].as_str().is_some_and(|last| last.starts_with("call-"))
        });
    assert!(last, "{:?}", fixture.seen_of("GET").await);
    assert_eq!(fixture.seen_of("tools/call").await.len(), 1);
}

#[tokio::test]
async fn calls_work_regardless_of_the_listening_stream() {
    let modes = [
        "closes",
        "hangs",
        "fails",
        "not-found",
        "forbids",
        "html",
        "redirects-away",
        "huge-event",
        "floods",
        "comments",
        "drips-head",
        "stream-garbage",
    ];
    let sessions = modes.into_iter().map(|mode| async move {
        let fixture = Fixture::new(mode, "get").impatient();
        let session = fixture.connect().await;
        fixture.until_seen("GET").await;
        assert_eq!(call(&session, mode).await.unwrap(), mode);
        watched(session.close()).await;
        assert!(!fixture.reached_elsewhere().await, "{mode}");
    });
    futures::future::join_all(sessions).await;
}

#[tokio::test]
async fn a_call_waits_for_the_listening_stream() {
    let fixture = Fixture::new("late-stream", "");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "patient").await.unwrap(), "patient");
    watched(session.close()).await;
}

#[tokio::test]
async fn reopening_of_the_listening_stream_is_limited() {
    let fixture = Fixture::new("get-ends", "").impatient();
    let session = fixture.connect().await;
    let started = Instant::now();
    let error = call(&session, "anyone?").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{error}");
    let requested = fixture.seen_of("GET").await.len();
    let seconds = started.elapsed().as_secs();
    assert!(u64::try_from(requested).unwrap() <= 3 + seconds, "{requested} times in {seconds} s");
    watched(session.close()).await;
}

/// Counts notices of changed lists.
#[derive(Default)]
struct Listener(AtomicUsize);

impl Host for Listener {
    fn notice(&self, _server: &str, notice: &Notice) {
        if matches!(notice, Notice::ListChanged(ListKind::Tools)) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[tokio::test]
async fn a_storm_of_changed_lists_blocks_no_call() {
    let fixture = Fixture::new("storm", "");
    let listener = Arc::new(Listener::default());
    let session = watched(Session::connect_with(&fixture.config, listener.clone())).await.unwrap();
    while listener.0.load(Ordering::Relaxed) < 1_000 {
        assert_eq!(call(&session, "calm").await.unwrap(), "calm");
    }
    watched(session.close()).await;
}

#[tokio::test]
async fn the_first_response_counts_and_unknown_ids_are_ignored() {
    let fixture = Fixture::new("repeats", "call");
    let session = fixture.connect().await;
    for message in ["one", "two", "three"] {
        assert_eq!(call(&session, message).await.unwrap(), message);
    }
    watched(session.close()).await;
}

#[tokio::test]
async fn invalid_text_affects_only_itself() {
    let fixture = Fixture::new("broken-text", "call");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "caf").await.unwrap(), "caf\u{fffd}");
    watched(session.close()).await;
}

#[tokio::test]
async fn meaningless_event_lines_lose_no_response() {
    for phase in ["list", "call"] {
        let fixture = Fixture::new("odd-events", phase);
        let session = fixture.connect().await;
        assert_eq!(session.list_tools().await.unwrap().tools.len(), 1, "{phase}");
        assert_eq!(call(&session, phase).await.unwrap(), phase);
        watched(session.close()).await;
    }
}

#[tokio::test]
async fn lone_surrogates_are_replaced_in_results_and_errors() {
    let fixture = Fixture::new("half-characters", "call");
    let session = fixture.connect().await;
    assert_eq!(call(&session, "caf").await.unwrap(), "caf\u{fffd}");
    watched(session.close()).await;
    let error = Fixture::new("half-characters-in-error", "call").error().await;
    assert!(matches!(*error.kind, ErrorKind::Rpc { code: -32000, .. }), "{error}");
    assert_says(&error, &["cut \u{fffd}"]);
}

#[tokio::test]
async fn a_renamed_session_is_ignored() {
    let fixture = Fixture::new("changing-session", "");
    let session = fixture.connect().await;
    for message in ["one", "two", "three"] {
        assert_eq!(call(&session, message).await.unwrap(), message);
    }
    watched(session.close()).await;
    let calls = fixture.seen_of("tools/call").await;
    assert!(calls.iter().all(|call| call["headers"]["mcp-session-id"] == "session-0"), "{calls:?}");
}

#[tokio::test]
async fn a_future_version_is_rejected() {
    let error = Fixture::new("future-version", "").try_connect().await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: it answered `initialize` with protocol version `2099-01-01`; supported versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25
    ");
}

#[tokio::test]
async fn endless_lists_are_cut_off_with_a_warning() {
    for mode in ["endless-pages", "endless-new-pages"] {
        let fixture = Fixture::new(mode, "");
        let session = fixture.connect().await;
        let listing = watched(session.list_tools()).await.unwrap();
        assert_eq!(listing.tools.len(), 1, "{mode}");
        assert!(!listing.warnings.is_empty(), "{mode}");
        assert!(fixture.seen_of("tools/list").await.len() <= mcp::MAX_PAGES, "{mode}");
        watched(session.close()).await;
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let fixture = Fixture::new("hangs", "call").impatient();
    let session = fixture.connect().await;
    let error = call(&session, "anyone?").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{error}");
    fixture.until_seen("notifications/cancelled").await;
    let called = &fixture.seen_of("tools/call").await[0]["message"]["id"];
    let cancelled = &fixture.seen_of("notifications/cancelled").await[0]["message"]["params"]["requestId"];
    assert_eq!(called, cancelled);
    watched(session.close()).await;
}
