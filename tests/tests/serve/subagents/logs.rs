//! Log messages to the client during a task.

use end_to_end::scripted::{NAME, model};
use end_to_end::serving::{DEMO, Server};
use serde_json::{Value, json};

use super::serving;

/// Calls the tool; returns the answer and all messages before it.
fn messages_of(server: &mut Server, meta: &Value) -> (Value, Vec<Value>) {
    let call = json!({ "name": NAME, "arguments": { "prompt": "go" }, "_meta": meta });
    server.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call }));
    let mut messages_of = Vec::new();
    loop {
        let message = server.receive("a message", |_| true);
        if message["id"] == 9 {
            return (message, messages_of);
        }
        messages_of.push(message);
    }
}

fn logged(messages_of: &[Value]) -> Vec<&Value> {
    messages_of
        .iter()
        .filter(|message| message["method"] == "notifications/message")
        .map(|log| &log["params"])
        .collect()
}

fn script() -> Value {
    json!([
        { "when": { "no_result": true }, "answers": [{
            "text": "let me see", "calls": [{ "name": "echo", "arguments": { "message": "hi" } }],
        }] },
        { "answers": [{ "text": "done" }] },
    ])
}

#[test]
fn events_are_logged_at_the_requested_level() {
    let model = model(&script());
    let mut server = serving(&model, "", &format!("{DEMO}codeMode: {{ enabled: false }}\n"));
    server.ask(1, "logging/setLevel", &json!({ "level": "debug" }));
    let meta = json!({ "io.toolsmith/parentRun": "parent-1", "progressToken": "p" });
    let (answer, all) = messages_of(&mut server, &meta);
    let logged = logged(&all);
    let run = &answer["result"]["_meta"]["io.toolsmith/run"]["id"];
    let own =
        logged.iter().all(|log| log["logger"] == format!("subagent.{NAME}") && log["data"]["runId"] == *run);
    assert!(own, "{logged:#?}");
    let events: Vec<&str> = logged.iter().filter_map(|log| log["data"]["event"].as_str()).collect();
    let expected = [
        "start",
        "message_saved",
        "response",
        "message_saved",
        "tool_call",
        "tool_result",
        "message_saved",
        "response",
        "message_saved",
        "end",
    ];
    assert_eq!(events, expected, "{logged:#?}");
    let payload = |event: &str| {
        let log = logged.iter().find(|log| log["data"]["event"] == event).unwrap();
        &log["data"]["payload"]
    };
    assert_eq!(
        (&payload("start")["prompt"], &payload("start")["parentRun"]),
        (&json!("go"), &json!("parent-1"))
    );
    assert_eq!(payload("tool_call")["arguments"], json!({ "message": "hi" }));
    assert_eq!(
        (&payload("tool_result")["text"], &payload("tool_result")["isError"]),
        (&json!("hi"), &json!(false))
    );
    assert_eq!((&payload("end")["status"], &payload("end")["turns"]), (&json!("ok"), &json!(2)));
    let progress: Vec<f64> = all
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .filter_map(|message| message["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [1.0, 2.0, 3.0]);
}

#[test]
fn at_level_error_only_errors_are_logged() {
    let model = model(&json!([
        { "when": { "turn": 0 }, "answers": [{ "text": "fine" }, { "status": 400, "message": "no" }] },
    ]));
    let mut server = serving(&model, "", "");
    server.ask(1, "logging/setLevel", &json!({ "level": "error" }));
    let (_, all) = messages_of(&mut server, &json!({}));
    assert!(all.is_empty(), "{all:#?}");
    let (answer, all) = messages_of(&mut server, &json!({}));
    let logged = logged(&all);
    assert_eq!((answer["result"]["isError"].as_bool(), logged.len()), (Some(true), 1), "{logged:#?}");
    assert_eq!((&logged[0]["level"], &logged[0]["data"]["event"]), (&json!("error"), &json!("end")));
}
