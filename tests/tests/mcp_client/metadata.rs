//! The `_meta` of calls.

use mcp::{CallOptions, RESERVED_META, Session};
use serde_json::{Map, Value, json};

use crate::{arguments, fixture::Fixture};

/// The `_meta` that the server received.
async fn seen(session: &Session, meta: &Value) -> Map<String, Value> {
    let meta = meta.as_object().unwrap().clone();
    let call = arguments(&json!({ "message": "metadata" }));
    let result = session.call_with("echo", call, CallOptions::with_meta(meta)).await.unwrap();
    let result: Value = serde_json::from_str(result.raw().get()).unwrap();
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn metadata_of_a_call_arrives_with_the_progress_token() {
    let fixture = Fixture::new("metadata");
    let session = fixture.connect().await;
    let own = seen(&session, &json!({})).await;
    assert_eq!(own.keys().collect::<Vec<_>>(), ["progressToken"]);
    let meta = json!({
        "traceparent": TRACEPARENT, "tracestate": "a=1,b=2", "example.com/nested": { "n": [1, null, "ü"] }
    });
    let mut arrived = seen(&session, &meta).await;
    assert!(arrived.remove("progressToken").is_some());
    assert_eq!(Value::Object(arrived), meta);
    fixture.close(session).await;
}

#[tokio::test]
async fn the_sessions_own_metadata_cannot_be_replaced_in_either_era() {
    for mode in ["metadata", "stateless"] {
        let fixture = Fixture::new(mode);
        let session = fixture.connect().await;
        let own = seen(&session, &json!({})).await;
        let mut meta = json!({ "traceparent": TRACEPARENT });
        RESERVED_META.iter().for_each(|name| meta[*name] = json!("forged"));
        let mut arrived = seen(&session, &meta).await;
        assert_eq!(arrived.remove("traceparent"), Some(json!(TRACEPARENT)), "{mode}");
        assert_ne!(arrived["progressToken"], "forged", "{mode}");
        let without_token = |mut meta: Map<String, Value>| meta.remove("progressToken").map(|_| meta);
        assert_eq!(without_token(arrived), without_token(own), "{mode}");
        fixture.close(session).await;
    }
}
