//! Messages of servers that break the protocol.

use serde_json::json;

use super::*;
use crate::wire::{Outcome, unaddressed::DOUBT};

fn router() -> ResponseRouter {
    let health = Arc::new(Health::new(|_| {}, |_| {}));
    ResponseRouter::new(health, Trace::new("s", false), MemoryBudget::new(tokio::sync::watch::Sender::new(0)))
}

fn request(router: &ResponseRouter, method: &str) {
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" },
    } });
    router.track(&serde_json::from_value(request).unwrap());
}

const INITIALIZED: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;

#[test]
fn a_handshake_with_duplicate_members_ends_the_connection() {
    let answer = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
    let sound = router();
    request(&sound, "initialize");
    assert!(matches!(sound.accept(answer(INITIALIZED)), Ok(Some(JsonRpcMessage::Response(_)))));
    let other = router();
    request(&other, "initialize");
    let twice = INITIALIZED.replace("\"name\":\"a\"", r#""name":"a","n\u0061me":"b""#);
    let Err(Fault::Protocol(reason)) = other.accept(answer(&twice)) else { panic!("it was accepted") };
    assert!(reason.contains("\"name\" appears twice"), "{reason}");
}

/// Sends a raw request, which waits for its response.
fn call(router: &ResponseRouter, id: i64) -> Arc<RawRequest> {
    let raw = Arc::new(RawRequest::new(Vec::new()));
    let mut request = rmcp::model::CustomRequest::new("tools/call", None);
    request.extensions.insert(Arc::clone(&raw));
    let request = ClientRequest::CustomRequest(request);
    router.track(&JsonRpcMessage::request(request, RequestId::Number(id)));
    raw
}

/// The message of the error that a request got as its response.
fn error_of(request: &RawRequest) -> Option<String> {
    match request.take_outcome() {
        Some(Outcome::Answer(Answer::Error(error), _)) => Some(error.message),
        _ => None,
    }
}

fn notify(router: &ResponseRouter) {
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    router.track(&serde_json::from_value(initialized).unwrap());
}

const DOWN: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"database is down"}}"#;

#[test]
fn an_error_without_an_id_is_the_response_to_what_waits() {
    for text in [DOWN, &DOWN.replace("null", "\"server-error\""), &DOWN.replace("\"id\":null,", "")] {
        let router = router();
        let only = call(&router, 7);
        assert!(matches!(router.accept(text), Ok(None)));
        assert_eq!(error_of(&only).as_deref(), Some("database is down"), "{text}");
    }
    let router = router();
    let (first, second, abandoned) = (call(&router, 7), call(&router, 8), call(&router, 9));
    drop(abandoned);
    assert!(matches!(router.accept(DOWN), Ok(None)));
    let expected = "database is down (sent without an id while 2 requests were waiting)";
    for request in [first, second] {
        assert_eq!(error_of(&request).as_deref(), Some(expected));
    }
    // Nothing waits any more.
    assert!(matches!(router.accept(DOWN), Ok(None)));
}

#[test]
fn an_error_with_the_id_of_a_servers_request_is_the_response_to_nothing() {
    for id in ["\"flood\"", "\"\"", "1.5", "[7]"] {
        let router = router();
        let waiting = call(&router, 7);
        assert!(matches!(router.accept(DOWN.replace("null", id)), Ok(None)), "{id}");
        assert!(waiting.has_no_outcome(), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_may_answer_a_notification_fails_only_a_request_without_response() {
    let router = router();
    notify(&router);
    let (answered, silent) = (call(&router, 7), call(&router, 8));
    router.accept(DOWN).unwrap();
    assert!(answered.has_no_outcome() && silent.has_no_outcome());
    router.accept(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).unwrap();
    tokio::time::timeout(2 * DOUBT, silent.settled()).await.unwrap();
    assert!(error_of(&silent).unwrap().starts_with("database is down"));
    drop(silent);
    assert!(matches!(answered.take_outcome(), Some(Outcome::Answer(Answer::Result(_), _))));
    // The response to a later request shows that the notification was read.
    let next = call(&router, 9);
    router.accept(DOWN).unwrap();
    assert_eq!(error_of(&next).as_deref(), Some("database is down"));
}

#[test]
fn a_reply_to_one_request_needs_no_id() {
    let router = router();
    let (first, second) = (call(&router, 7), call(&router, 8));
    router.accept_reply(DOWN, Some(&RequestId::Number(8))).unwrap();
    assert_eq!(error_of(&second).as_deref(), Some("database is down"));
    let result = r#"{"jsonrpc":"2.0","id":null,"result":{"a":1}}"#;
    assert!(router.accept_reply(result, Some(&RequestId::Number(7))).unwrap().is_some());
    assert!(matches!(first.take_outcome(), Some(Outcome::Answer(Answer::Result(_), _))));
}

#[test]
fn ids_may_have_a_fraction_and_messages_a_byte_order_mark() {
    for text in [r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#, "\u{feff}{\"id\":\"7\",\"result\":{}}"] {
        let router = router();
        let request = call(&router, 7);
        assert!(router.accept(text).unwrap().is_some(), "{text}");
        assert!(!request.has_no_outcome());
    }
}

#[test]
fn messages_with_duplicate_members_are_ignored() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1,"data":2}}"#,
        r#"{"jsonrpc":"2.0","method":"ping","id":1,"id":2}"#,
        r#"{"jsonrpc":"2.0","method":"ping","meth\u006fd":"roots/list","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"a","message":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
    ] {
        let router = router();
        assert!(matches!(router.accept(text), Ok(None)), "{text}");
        assert_eq!(router.health().stray().0, 1, "{text}");
    }
}
