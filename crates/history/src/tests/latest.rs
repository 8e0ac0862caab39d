//! The latest calls, counted by server and tool.

use super::*;

#[tokio::test]
async fn the_latest_calls_are_counted_with_their_failures() {
    let fixture = Fixture::new();
    let done = Ok(&json!({ "content": [] }));
    for (id, last) in [("e1", Ok(&json!({ "content": [] }))), ("e2", Err(FailureKind::Timeout))] {
        let execution = fixture.begin(id, "1");
        call(&execution, 0, &json!({}), done);
        call(&execution, 1, &json!({}), last);
        execution.end(execution.ending(&outcome(Status::Ok)), "");
    }
    fixture.flush().await;
    let latest = |limit| fixture.reader().latest_calls(limit).unwrap();
    let all = latest(100);
    assert_eq!(all.counted, 4);
    let of_server = all.server("shop").unwrap();
    assert_eq!(all.tool("shop", "list_orders"), Some(of_server));
    assert_eq!((of_server.calls, of_server.failures, of_server.cached), (4, 1, 0));
    assert!(of_server.p50_ms.unwrap() <= of_server.p95_ms.unwrap(), "{of_server:?}");
    let last = of_server.last.as_ref().unwrap();
    assert_eq!((last.execution.as_str(), last.error.as_deref()), ("e2", Some("timeout")));
    let some = latest(3);
    assert_eq!((some.counted, some.server("shop").unwrap().calls), (3, 3));
    assert_eq!((all.server("other"), all.tool("shop", "other")), (None, None));
}
