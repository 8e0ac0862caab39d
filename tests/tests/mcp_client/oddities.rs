//! Malformed answers: accepted if unambiguous, and an error at once if not JSON.

use std::sync::Arc;

use end_to_end::page::normal;
use insta::assert_snapshot;
use mcp::{ErrorKind, Host, Notice, Session};
use parking_lot::Mutex;

use crate::{call, call_text, fixture::Fixture};

#[tokio::test]
async fn undeclared_tools_are_listed() {
    let fixture = Fixture::new("undeclared-tools");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!((listing.tools.len(), listing.warnings.len()), (1, 1), "{listing:?}");
    assert_snapshot!(normal(&listing.warnings[0]), @"the server does not declare the `tools` capability");
    fixture.close(session).await;
}

#[tokio::test]
async fn a_cursor_that_is_not_a_string_ends_the_list() {
    let fixture = Fixture::new("numeric-cursor");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!((listing.tools.len(), listing.warnings.len()), (1, 1), "{listing:?}");
    assert_snapshot!(normal(&listing.warnings[0]), @r"
    `nextCursor` of the server's tool list is not a string on page 1; the pages up to there are kept
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn an_error_with_a_null_result_is_an_error() {
    let fixture = Fixture::new("null-with-error");
    let session = fixture.connect().await;
    let error = call(&session, "").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Rpc { code: -32000, .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the answer of tool `echo` failed with error -32000: the backend is gone
    ");
    fixture.close(session).await;
}

/// Records log messages.
#[derive(Default)]
struct Listener(Mutex<Vec<String>>);

impl Host for Listener {
    fn notice(&self, _server: &str, notice: &Notice) {
        if let Notice::Log { data, .. } = notice {
            self.0.lock().push(data.to_string());
        }
    }
}

#[tokio::test]
async fn messages_in_a_batch_are_processed_individually() {
    let fixture = Fixture::new("batches");
    let listener = Arc::new(Listener::default());
    let session = Session::connect_with(&fixture.config, listener.clone()).await.unwrap();
    for message in ["one", "two"] {
        assert_eq!(call_text(&session, message).await, message);
    }
    fixture.close(session).await;
    assert_eq!(*listener.0.lock(), ["\"in a batch\"", "\"in a batch\""]);
}

#[tokio::test]
async fn an_answer_with_numbers_that_json_does_not_have_fails_its_call_at_once() {
    let fixture = Fixture::new("not-a-number");
    let session = fixture.connect().await;
    let error = call(&session, "").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: its answer contains NaN or Infinity, which JSON does not allow
    ");
    assert!(!session.is_closed());
    fixture.close(session).await;
}
