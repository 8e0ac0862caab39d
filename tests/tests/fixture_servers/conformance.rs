//! `conformance-server` over standard input and output; the official suite tests it over HTTP.

use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::talk::ServerProcess;

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance-server");

/// The parameters of a stateless request from a client with these capabilities.
fn stateless(mut params: Value, capabilities: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    params
}

#[test]
fn in_a_session_a_question_is_a_request_during_the_call() {
    let mut talk = ServerProcess::shake_hands(PROGRAM, &[]);
    let call =
        talk.ask("tools/call", &json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } }));
    let question = talk.next();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who?");
    let answer = json!({ "action": "accept", "content": { "username": "ann", "email": "ann@example.com" } });
    talk.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    let answer = talk.next();
    assert_eq!(answer["id"], call);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_snapshot!(normal(&text), @r#"
    User response: action=accept, content={"username":"ann","email":"ann@example.com"}
    "#);
}

#[test]
fn in_a_session_logs_and_progress_come_before_the_answer() {
    let mut talk = ServerProcess::shake_hands(PROGRAM, &[]);
    talk.request("logging/setLevel", &json!({ "level": "debug" }));
    for (tool, method) in [
        ("test_tool_with_logging", "notifications/message"),
        ("test_tool_with_progress", "notifications/progress"),
    ] {
        let call = talk.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "mine" } }),
        );
        let messages: Vec<_> = (0..3).map(|_| talk.next()).collect();
        assert!(messages.iter().all(|message| message["method"] == method), "{messages:?}");
        assert_eq!(talk.next()["id"], call);
    }
    talk.request("logging/setLevel", &json!({ "level": "error" }));
    talk.call("test_tool_with_logging", &json!({}));
}

#[test]
fn in_a_session_cancelled_calls_are_counted_and_changes_notified() {
    let mut talk = ServerProcess::shake_hands(PROGRAM, &[]);
    talk.request("resources/subscribe", &json!({ "uri": "test://cancelled-calls" }));
    let params = json!({ "name": "test_wait", "arguments": {}, "_meta": { "progressToken": 1 } });
    let call = talk.ask("tools/call", &params);
    assert_eq!(talk.next()["method"], "notifications/progress");
    let params = json!({ "requestId": call, "reason": "enough" });
    talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    let messages = talk.next();
    assert_eq!(messages["method"], "notifications/resources/updated", "{messages}");
    let read = talk.request("resources/read", &json!({ "uri": "test://cancelled-calls" }));
    assert_eq!(read["result"]["contents"][0]["text"], "1");
    let call = talk.ask("tools/call", &json!({ "name": "test_trigger_tool_change", "arguments": {} }));
    let (first, second) = (talk.next(), talk.next());
    assert!([&first, &second].iter().any(|message| message["id"] == call), "{first} {second}");
    assert!(
        [&first, &second].iter().any(|message| message["method"] == "notifications/tools/list_changed"),
        "{first} {second}"
    );
    let listed = talk.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let extra = tools.iter().find(|tool| tool["name"] == "test_extra_tool").unwrap();
    assert_eq!(extra["description"], "Changed 1 times.");
}

#[test]
fn without_a_session_a_question_is_a_result_and_the_retry_has_the_answer() {
    let mut talk = ServerProcess::start(PROGRAM, &[]);
    let able = json!({ "elicitation": {} });
    let params = json!({ "name": "test_input_required_result_multi_round", "arguments": {} });
    let first = talk.request("tools/call", &stateless(params.clone(), &able));
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let mut retry = params.clone();
    retry["inputResponses"] = json!({ "step1": { "action": "accept", "content": { "name": "Ann" } } });
    retry["requestState"] = first["result"]["requestState"].clone();
    let second = talk.request("tools/call", &stateless(retry.clone(), &able));
    assert!(second["result"]["inputRequests"]["step2"].is_object(), "{second}");
    let mut changed = retry.clone();
    changed["requestState"] = json!(format!("{}x", first["result"]["requestState"].as_str().unwrap()));
    assert_eq!(talk.request("tools/call", &stateless(changed, &able))["error"]["code"], -32602);
    retry["inputResponses"] = json!({ "step2": { "action": "accept", "content": { "color": "blue" } } });
    retry["requestState"] = second["result"]["requestState"].clone();
    let last = talk.request("tools/call", &stateless(retry, &able));
    let text = last["result"]["content"][0]["text"].as_str().unwrap();
    assert_snapshot!(normal(&text), @r#"
    {"step1":{"action":"accept","content":{"name":"Ann"}},"step2":{"action":"accept","content":{"color":"blue"}}}
    "#);
}

#[test]
fn the_handshake_can_be_rejected() {
    let mut talk = ServerProcess::start(PROGRAM, &["--stateless"]);
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    assert_eq!(talk.request("initialize", &params)["error"]["code"], -32022);
    let mut talk = ServerProcess::start(PROGRAM, &["--stateless"]);
    let found = talk.request("server/discover", &stateless(json!({}), &json!({})));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
}

#[test]
fn without_a_session_only_supported_questions_are_asked() {
    let mut talk = ServerProcess::start(PROGRAM, &[]);
    let params = stateless(json!({ "name": "test_missing_capability", "arguments": {} }), &json!({}));
    let refused = talk.request("tools/call", &params);
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert!(refused["error"]["data"]["requiredCapabilities"]["sampling"].is_object(), "{refused}");
    let params = json!({ "name": "test_input_required_result_capabilities", "arguments": {} });
    let response = talk.request("tools/call", &stateless(params, &json!({ "sampling": {} })));
    let requests = response["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["model"]);
}

#[test]
fn without_a_session_changes_are_sent_to_subscribers() {
    let mut talk = ServerProcess::start(PROGRAM, &[]);
    let params = json!({ "notifications": { "promptsListChanged": true } });
    talk.ask("subscriptions/listen", &stateless(params, &json!({})));
    assert_eq!(talk.next()["method"], "notifications/subscriptions/acknowledged");
    let trigger = |tool: &str| stateless(json!({ "name": tool, "arguments": {} }), &json!({}));
    talk.request("tools/call", &trigger("test_trigger_tool_change"));
    talk.ask("tools/call", &trigger("test_trigger_prompt_change"));
    let messages = [talk.next(), talk.next()];
    assert!(
        messages.iter().any(|message| message["method"] == "notifications/prompts/list_changed"),
        "{messages:?}"
    );
}
