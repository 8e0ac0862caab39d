//! `toolsmith serve --http` and clients of older revisions, and invalid messages.

use end_to_end::serving::{DEMO, HANDSHAKE, Serve, execute, outcome_of};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Clients of that time treat an event without data as a broken message.
#[test]
fn older_clients_get_no_empty_events() {
    let server = Serve::http(DEMO).start();
    for (version, expected) in [("2025-03-26", 0), ("2025-06-18", 0), (HANDSHAKE, 1), ("2099-01-01", 1)] {
        let (client, _, at_handshake) = server.client().begin_session(version, &json!({}));
        assert_eq!(at_handshake, expected, "{version}");
        let mut listing = client.begin("tools/list", &json!({}));
        listing.end();
        assert_eq!(listing.empty_events, expected, "{version}");
        // The session's stream starts at once, empty or with such an event.
        let mut listening = client.listen();
        client.delete();
        while listening.next().is_some() {}
        assert_eq!(listening.empty_events, expected, "{version}");
    }
}

#[test]
fn invalid_messages_are_rejected_according_to_json_rpc() {
    let server = Serve::http(DEMO).start();
    let client = server.client().shake_hands();
    for (nonsense, id, code) in [
        ("", Value::Null, -32_700),
        ("nonsense", Value::Null, -32_700),
        (&"[".repeat(100_000), Value::Null, -32_700),
        ("[]", Value::Null, -32_600),
        (r#"{"jsonrpc":"2.0"}"#, Value::Null, -32_600),
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!("a"), -32_600),
        (r#"{"id":7,"method":"tools/list"}"#, json!(7), -32_600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud83d"}}"#, json!(7), -32_600),
    ] {
        let answer = client.post(nonsense.to_owned());
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{nonsense:.20}: {answer:?}");
        assert_eq!(answer.headers["content-type"], "application/json", "{nonsense:.20}");
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&id, &json!(code)),
            "{nonsense:.20}: {answer}"
        );
    }
    assert_eq!(client.post(b"{\"a\":\"\xff\"}".to_vec()).status, StatusCode::BAD_REQUEST);
    let answer = client.ask("tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
}
